"""The bridge: lines to and from a bot, what is wrong with them, and how its process ends."""

import json
import queue
import sys
from typing import ClassVar

import pytest

from cardarena import _json_lines
from cardarena.__main__ import main
from cardarena._bot_process import MAX_LINE_BYTES, BotProcess, why_no_script
from cardarena._bridge import Bridge
from cardarena._errors import Misconfigured
from cardarena._json_lines import NotAnAnswer, answer_of
from cardarena._session import Session
from cardarena.v1.game_pb2 import FAULT_KIND_TIMEOUT
from cardarena.v1.play_pb2 import Hello
from tests.sdk.messages import (
    answers_in,
    ask,
    ask_closed,
    asks,
    match_end,
    match_start,
    taken,
    welcome,
)

# fmt: off
NO_ANSWERS = [
    # line                                       what is said of it                             why
    ("hello",                                    "wrote 'hello', which is no JSON object",      "a print for debugging"),
    ("[7, 0]",                                   "which is no JSON object",                     "a list"),
    ('{"ask_id": 7, "index": 0',                 "which is no JSON object",                     "cut off"),
    ("[" * 5000,                                 "which is no JSON object",                     "nested more deeply than Python reads"),
    ("\udcff",                                   "which is no JSON object",                     "not UTF-8"),
    ('{"index": 0}',                             "it has no ask_id",                            "nobody knows which ask"),
    ('{"ask_id": 7, "move_index": 0}',           "which has no index or move; no field is named 'move_index'", "a field that there is not"),
    ('{"ask_id": 7, "index": -1}',               "out of range: -1",                            "an index below 0"),
    ('{"ask_id": 7, "index": "first"}',          "Failed to parse index field",                 "a word for an index"),
    ('{"ask_id": 7, "index": 0, "failed": true}','multiple "choice" oneof fields',              "two choices"),
]
# fmt: on


@pytest.mark.parametrize(("line", "said", "why"), NO_ANSWERS, ids=[row[-1] for row in NO_ANSWERS])
def test_a_line_is_no_answer(line, said, why):
    with pytest.raises(NotAnAnswer) as raised:
        answer_of(line.encode("utf-8", "surrogateescape") + b"\n")
    assert said in str(raised.value)
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize("ask_id", ["7", 7], ids=["as it was given", "as a number"])
def test_a_line_is_the_json_form_of_an_answer(ask_id):
    move = {"abstrac": {"verb": "ABSTRAC_VERB_TAKE", "count": 2}}
    answer = answer_of(json.dumps({"ask_id": ask_id, "move": move, "note": "n"}).encode())
    assert (answer.ask_id, answer.move.abstrac.count, answer.note) == (7, 2, "n")


# fmt: off
ANSWERS = [
    # line                                                     index, note     why
    (b'\xef\xbb\xbf{"ask_id": 7, "index": 2}',                (2, ""),        "a byte order mark, which mono and PowerShell write first"),
    (b'{"ask_id": 7, "index": 2, "eval": 1.5, "pv": ["a"]}',   (2, ""),        "keys of the bot's own"),
    (b'{"ask_id": 7, "index": 2, "note": "half \\ud83d"}',     (2, "half ?"),  "half an emoji in the note"),
    (b'{"askId": 7, "index": 2, "note": "whole \\ud83d\\ude00"}', (2, "whole \U0001f600"), "a whole one"),
]
# fmt: on


@pytest.mark.parametrize(("line", "read", "why"), ANSWERS, ids=[row[-1] for row in ANSWERS])
def test_what_comes_with_an_answer_does_not_cost_the_move(line, read, why):
    answer = answer_of(line)
    assert (answer.ask_id, answer.index, answer.note) == (7, *read)


class Process:
    """A bot's process in memory: the test writes for it."""

    all: ClassVar = []
    refusals = 0

    def __init__(self, command, on_line, on_end):
        if Process.refusals:
            Process.refusals -= 1
            raise FileNotFoundError(2, "No such file or directory")
        self.lines, self.finished, self.wrote = [], False, False
        self._on_line, self._on_end = on_line, on_end
        self.all.append(self)

    def send(self, line):
        assert line.endswith(b"\n")
        ((name, message),) = json.loads(line).items()
        self.lines.append((name, message))

    def writes(self, line):
        self.wrote = True
        self._on_line(self, line.encode() + b"\n")

    def ends(self, how="ended with exit code 1"):
        self._on_end(self, how)

    def finish(self):
        self.finished = True

    def close(self):
        self.ends("ended with exit code 0")

    @property
    def names(self):
        return [name for name, _ in self.lines]


class Played:
    """A session with a bot behind the bridge. What happens is messages of the arena, and calls."""

    def __init__(self, *happens, per_match=False, refusals=0):
        Process.all, Process.refusals = [], refusals
        self.session = Session(Hello(token="me"), auto=True, now_s=lambda: 0.0)
        self.session.opened()
        self.happens = [welcome(), *happens]
        self.said, self.answers, self.problem, self.closed = [], [], "", False
        bridge = Bridge(["bot"], per_match=per_match, say=self.said.append, start=Process)
        try:
            with bridge as play:
                play(self)
        except Misconfigured as error:
            self.problem = str(error)
        self.processes = Process.all

    def take(self):
        while self.happens and not self.closed:
            what = self.happens.pop(0)
            if callable(what):
                what(Process.all)
                continue
            received = self.session.receive(what.SerializeToString())
            self._sent(received.send)
            work = self.session.take()
            if work:
                return work
        return None

    def show(self, ask):
        return self.session.show(ask)

    def answer(self, answers):
        self._sent(self.session.frames(self.session.answer(answers)))

    def close(self):
        self.closed = True

    def _sent(self, frames):
        for message in answers_in(frames):
            self.answers += [
                (each.ask_id, getattr(each, each.WhichOneof("choice") or "ask_id"), each.note)
                for each in message
            ]


def writes(line, process=0):
    return lambda processes: processes[process].writes(
        json.dumps(line) if isinstance(line, dict) else line
    )


def ends(process=0):
    return lambda processes: processes[process].ends()


BEGUN = (match_start(1), asks(ask(7)))
TWO = (match_start(1), match_start(2), asks(ask(7), ask(8, 2)))
ANSWER = {"ask_id": "7", "index": 2}


def test_a_match_is_told_in_lines_and_its_ask_is_answered():
    played = Played(*BEGUN, writes(ANSWER | {"note": "why"}), match_end(1))
    assert played.answers == [(7, 2, "why")]
    assert played.processes[0].names == ["match_start", "ask", "match_end"]
    assert played.processes[0].finished
    assert not played.said


def test_all_matches_are_told_to_one_process():
    played = Played(*TWO, writes({"ask_id": "8", "index": 1}), writes(ANSWER))
    assert len(played.processes) == 1
    assert played.answers == [(8, 1, ""), (7, 2, "")]


def test_each_match_has_a_process_of_its_own_until_it_ends():
    finished = []
    played = Played(
        *TWO,
        writes({"ask_id": "8", "index": 1}, process=1),
        writes(ANSWER),
        match_end(1),
        lambda processes: finished.extend(each.finished for each in processes),
        per_match=True,
    )
    assert played.answers == [(8, 1, ""), (7, 2, "")]
    assert finished == [True, False]
    assert [process.names for process in played.processes] == [
        ["match_start", "ask", "match_end"],
        ["match_start", "ask"],
    ]


def test_an_ask_has_the_events_of_the_asks_that_the_bot_was_not_given():
    forced = ask(7, moves=1, events=[taken("As")])
    forced.event_texts.append("took As")
    later = ask(8, decision=2, events=[taken("Kd")])
    later.event_texts.append("took Kd")
    played = Played(match_start(1), asks(forced), asks(later), match_end(1, taken("2c")))
    (_, told), (_, end) = played.processes[0].lines[1:]
    assert [event["cards"] for event in told["abstrac"]["events"]] == [["As"], ["Kd"]]
    assert told["event_texts"] == ["took As", "took Kd"]
    assert [event["abstrac"]["cards"] for event in end["trailing_events"]] == [["2c"]]
    assert played.answers == [(7, 0, "")], "the bridge answers where there is no choice"


def test_an_end_has_the_events_of_an_ask_that_the_bot_was_not_given():
    forced = ask(7, moves=1, events=[taken("As")])
    played = Played(match_start(1), asks(forced), match_end(1, taken("2c")))
    (_, end) = played.processes[0].lines[-1]
    assert [event["abstrac"]["cards"] for event in end["trailing_events"]] == [["As"], ["2c"]]


def test_a_line_to_the_bot_has_every_field_that_is_not_optional():
    played = Played(*BEGUN)
    (_, start), (_, told) = played.processes[0].lines
    assert (start["seat"], start["deal_context"]) == (0, "")
    assert (told["ask_id"], told["seat"], told["played_for"]) == ("7", 0, [])


def test_the_bot_hears_that_an_ask_it_thinks_about_is_closed_and_its_late_answer_is_not_sent():
    closed = ask_closed(7, FAULT_KIND_TIMEOUT, "no answer in time")
    played = Played(*BEGUN, closed, writes(ANSWER))
    name, told = played.processes[0].lines[-1]
    assert (name, told["ask_id"], told["fault"]) == ("ask_closed", "7", "FAULT_KIND_TIMEOUT")
    assert played.answers == []
    assert played.said == [
        "the bot has written nothing yet: it must answer each ask with a line, and flush its output"
    ]


def test_a_bot_that_has_written_before_is_not_told_to_flush():
    closed = ask_closed(8, FAULT_KIND_TIMEOUT, "no answer in time")
    played = Played(*BEGUN, writes(ANSWER), asks(ask(8, decision=2)), closed)
    assert played.processes[0].names[-1] == "ask_closed"
    assert played.said == []


# fmt: off
MISTAKES = [
    # what happens                                       sent                          said                                       why
    ((*BEGUN, writes("hello")),                          [(7, True)],                  "wrote 'hello', which is no JSON object",  "of one ask, it is the answer to that"),
    ((*TWO, writes("hello")),                            [],                           "; 2 asks wait for an answer",             "of two asks, to neither"),
    ((match_start(1), writes("hello")),                  [],                           "wrote 'hello'",                           "nothing was asked"),
    ((*BEGUN, writes("hello"), writes(ANSWER)),          [(7, True)],                  "has answered already; no ask is open",    "the answer comes after it"),
    ((*BEGUN, writes({"ask_id": 9, "index": 0})),        [],                           "ask 9, which it was not asked; these wait for an answer: 7", "a wrong id"),
    ((*BEGUN, writes(ANSWER), writes(ANSWER)),           [(7, 2)],                     "has answered already",                    "it answers twice"),
    ((*BEGUN, writes(ANSWER | {"index": 99})),           [(7, 99)],                    "",                                        "a move that is not offered is the arena's to judge"),
    ((*BEGUN, writes({"ask_id": 7})),                    [(7, 7)],                     "",                                        "so is an answer without a choice"),
    ((*BEGUN, writes("")),                               [],                           "",                                        "an empty line is nothing"),
    ((*BEGUN, writes({"ask_id": 7, "failed": True, "note": "no plan"})), [(7, True)],  "the bot failed: no plan: an error at ask 7 of match 1, so the fallback is played", "it says that it failed"),
]
# fmt: on


@pytest.mark.parametrize(
    ("happens", "sent", "said", "why"), MISTAKES, ids=[row[-1] for row in MISTAKES]
)
def test_a_mistake_of_the_bot(happens, sent, said, why):
    played = Played(*happens)
    assert [answer[:2] for answer in played.answers] == sent
    assert said in "\n".join(played.said)
    assert bool(said) == bool(played.said)
    notes = [note for _, failed, note in played.answers if failed is True]
    assert all(note.startswith("error: the bot ") for note in notes)
    assert not played.problem


def test_a_process_of_one_match_answers_for_no_other():
    played = Played(*TWO, writes({"ask_id": "8", "index": 1}), per_match=True)
    assert played.answers == []
    assert "ask 8" in played.said[0]


def test_where_the_process_of_all_matches_ends_the_bridge_hangs_up():
    played = Played(*TWO, ends(), match_end(1))
    assert played.closed
    assert played.problem == "the bot ended with exit code 1 while it was at the arena"
    assert played.answers == [], "the arena counts it as gone"


def test_where_the_process_of_a_match_ends_that_match_is_played_by_fallback_and_others_go_on():
    again = asks(ask(9, decision=2))
    played = Played(*TWO, ends(), again, writes({"ask_id": 8, "index": 0}, 1), per_match=True)
    note = "error: the bot ended with exit code 1 before its match"
    assert played.answers == [(7, True, note), (9, True, note), (8, 0, "")]
    assert not played.closed


def test_where_the_process_of_a_match_does_not_start_that_match_is_played_by_fallback():
    played = Played(*TWO, writes({"ask_id": 8, "index": 0}), per_match=True, refusals=1)
    sentence = "the bot's program 'bot' cannot be started: No such file or directory"
    assert played.answers == [(7, True, f"error: {sentence}"), (8, 0, "")]
    assert played.said[0] == f"{sentence}: an error at the start of match 1"


def test_where_the_process_of_all_matches_does_not_start_nothing_is_played():
    assert "cannot be started" in Played(*BEGUN, refusals=1).problem


# fmt: off
SCRIPTS = [
    # content                       why it does not start                                                           why
    (b"#!/bin/sh\r\necho\r\n",     "its first line ends with a carriage return, as on Windows: save it with Unix line ends", "line ends of Windows"),
    (b"#!/opt/none/lua -x\n",       "its first line names /opt/none/lua, which does not exist",                    "an interpreter that is missing"),
    (b"#! /bin/sh\necho\r\n",      "",                                                                            "line ends of Windows in other lines are its own affair"),
    (b"\x7fELF",                    "",                                                                            "a program"),
]
# fmt: on


@pytest.mark.parametrize("per_match", [False, True], ids=["one process", "one for each match"])
@pytest.mark.parametrize(("content", "says", "why"), SCRIPTS, ids=[row[-1] for row in SCRIPTS])
def test_a_script_that_cannot_start_is_told_before_the_bot_says_hello(
    content, says, why, per_match, tmp_path
):
    script = tmp_path / "bot.sh"
    script.write_bytes(content)
    assert why_no_script(str(script)) == says
    bridge = Bridge([str(script)], per_match=per_match, say=print, start=Process)
    if says:
        with pytest.raises(Misconfigured, match="cannot be started: its first line"), bridge:
            pass


def test_the_process_of_all_matches_is_started_before_the_bot_says_hello():
    Process.all, Process.refusals = [], 0
    with Bridge(["bot"], per_match=False, say=print, start=Process) as play:
        (process,) = Process.all
        process.ends()
        with pytest.raises(Misconfigured, match="ended with exit code 1"):
            play(None)


# Real processes.


class Child:
    """A program of Python behind a `BotProcess`."""

    def __init__(self, code):
        self.lines, self.ended = queue.SimpleQueue(), queue.SimpleQueue()
        self.process = BotProcess(
            [sys.executable, "-c", f"import os, sys, time\n{code}"],
            lambda _, line: self.lines.put(line),
            lambda _, how: self.ended.put(how),
        )

    def line(self):
        return self.lines.get(timeout=30)

    def how(self):
        return self.ended.get(timeout=30)


def test_a_process_gets_lines_and_its_lines_are_read():
    child = Child("for line in sys.stdin: print(line[::-1].strip(), flush=True)")
    child.process.send(b"abc\n")
    assert child.line() == b"cba\n"
    child.process.close()
    assert child.how() == "ended with exit code 0", "its input has ended, so it exits by itself"


def test_a_process_gets_nothing_of_how_the_arena_is_reached(monkeypatch):
    monkeypatch.setenv("CARDARENA_TOKEN", "secret")
    child = Child("print([name for name in os.environ if 'CARDARENA' in name], flush=True)")
    assert child.line() == b"[]\n"
    child.process.close()


# fmt: off
ENDS = [
    # what it does                                   how it ended                         why
    ("sys.exit(3)",                                  "ended with exit code 3",            "it exits"),
    ("os.kill(os.getpid(), 9)",                      "was ended by signal 9",             "it is killed"),
    ("os.close(1); time.sleep(60)",                  "closed its standard output",        "it cannot answer any more"),
]
# fmt: on


@pytest.mark.parametrize(("code", "how", "why"), ENDS, ids=[row[-1] for row in ENDS])
def test_it_is_told_how_a_process_ended(code, how, why, monkeypatch):
    monkeypatch.setattr("cardarena._bot_process.EXIT_S", 0.5)
    child = Child(code)
    assert child.how() == how
    child.process.close()


def test_a_process_that_does_not_exit_is_killed(monkeypatch):
    monkeypatch.setattr("cardarena._bot_process.EXIT_S", 0.1)
    child = Child("print('up', flush=True); time.sleep(60)")
    child.line()
    child.process.close()
    assert child.how() == "was ended by signal 9"


def test_what_a_process_does_not_read_delays_nobody():
    child = Child("print('up', flush=True); time.sleep(60)")
    child.line()
    child.process.send(b"x" * (1 << 20))
    child.process.send(b"\n")
    child.process._process.kill()
    child.process.close()


def test_a_line_without_end_is_read_in_pieces():
    child = Child(f"sys.stdout.write('x' * {MAX_LINE_BYTES + 1})")
    assert [len(child.line()), len(child.line())] == [MAX_LINE_BYTES, 1]
    child.process.close()


# The command.

# fmt: off
REFUSED = [
    # arguments                                    said                                              why
    (["bridge", "--", "./no-such-bot"],            "the bot's program './no-such-bot' does not exist", "no program"),
    (["bridge", "--game", "chess", "--", "true"],  "knows no game 'chess'",                          "no game"),
    (["bridge", "--max-matches", "-1", "--", "true"], "'-1' is no number from 1 to 64",               "fewer matches than none"),
    (["bridge"],                                   "COMMAND",                                        "no command"),
]
# fmt: on


@pytest.mark.parametrize(("argv", "said", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_the_command_refuses(argv, said, why, capsys):
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_the_module_says_what_lines_there_are():
    for name in ("match_start", "ask", "ask_closed", "match_end"):
        assert f"`{name}`" in _json_lines.__doc__
