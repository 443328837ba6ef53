"""Seats that language models play: replies, failures and clocks, prompts, the endpoint, and whole matches."""

import errno
import json
import math
import re
import socket
import stat
import threading
from unittest.mock import Mock

import pytest

import cardarena
from arena.games.catalogue import GAMES
from bench.model_tokens import ScriptedModel, bot_of, budgets
from cardarena import _choice, llm, local
from cardarena.__main__ import main as command
from cardarena._errors import Misconfigured
from cardarena._raised import Raised
from cardarena.llm import Endpoint, Failure, Kind, Prompt, Reply, _answer
from tests.doubles.fake_model import completion, fake_model
from tests.rows import EACH_GAME, slow_unless

MOVES = ["take 1", "take 2", "play Ks"]


# fmt: off
REPLIES = [
    # reply                                             what is chosen  why
    (Reply("MOVE: 1"),                                  1,              "the line alone"),
    (Reply("The king wins.\nMOVE: 2"),                  2,              "after a thought"),
    (Reply("MOVE: 0 is bad.\nMOVE: 2"),                 2,              "the last line of several"),
    (Reply("**MOVE: 1**"),                              1,              "in bold"),
    (Reply("**Move:** `1`"),                            1,              "half in bold, in another case"),
    (Reply("MOVE: 1 (take 2)"),                         1,              "with its words behind"),
    (Reply("MOVE: 1: take 2"),                          1,              "copied with its words"),
    (Reply(" 1.\n"),                                    1,              "a number alone"),
    (Reply("MOVE: Take  2"),                            1,              "the notation instead of the number"),
    (Reply("MOVE: play Kh"),                            "play Kh",      "a move that is not offered, where others are legal"),
    (Reply("MOVE: 3"),                                  Kind.ILLEGAL,   "a number past the last move"),
    (Reply("MOVE: fly"),                                Kind.ILLEGAL,   "no notation of any move"),
    (Reply("I take 2 cards."),                          Kind.UNREADABLE,"a number in a sentence"),
    (Reply(""),                                         Kind.UNREADABLE,"nothing"),
    (Reply("MOVE:"),                                    Kind.UNREADABLE,"a line without a move"),
    (Reply("I would take", finish="length"),            Kind.CUT,       "cut off before the move"),
    (Reply("MOVE: 1", finish="length"),                 1,              "cut off after the move"),
    (Reply("", finish="content_filter"),                Kind.REFUSED,   "stopped by a filter"),
    (Reply("MOVE: 1", refusal="I do not gamble."),      Kind.REFUSED,   "refused, whatever else it says"),
]
PROMPTS = [
    # text                                              the error                       why
    ("$rules\n$moves $answer",                          "one line `---`",               "one part"),
    ("$rules\n---\n$moves\n---\n$answer",               "one line `---`",               "three parts"),
    ("$rules\n---\n$hand $moves $answer",               "$hand, which is none of",      "an unknown placeholder"),
    ("It costs $5\n---\n$moves $answer",                "write `$$`",                   "a dollar"),
    ("$moves\n---\n$answer",                            "no $moves after",              "moves in the first part alone"),
    ("$rules\n---\n$moves",                             "no $answer after",             "nothing of how to answer"),
]
ENDPOINTS = [
    # url                           key    why
    ("localhost:11434/v1",          "",    "no scheme"),
    ("file:///etc/passwd",          "",    "a file"),
    ("http://models.example/v1",    "key", "a key in plain text to another machine"),
]
BROKEN = [
    # reply                                             passes, failure         why
    ((b'{"error": {"message": "a\\nb"}}', 500, {}),     True,  "answered 500: a b",      "an error of the server"),
    ((b"slow down", 429, {"Retry-After": "7"}),         True,  "answered 429: slow",     "too many requests"),
    ((b'{"error": "bad key"}', 401, {}),                False, "answered 401: bad key",  "a wrong key"),
    ((b"", 302, {"Location": "http://127.0.0.1:9/"}),   False, "answered 302",           "a redirect, which would carry the key away"),
    (b"<html>",                                         True,  "no completion: '<html>", "a page"),
    (b'{"choices": []}',                                True,  "no completion",          "no choice"),
    (b'{"choices": [{"message": {"content": 5}}]}',     True,  "no completion",          "a number for a text"),
]
# fmt: on


@pytest.mark.parametrize(("reply", "expected", "why"), REPLIES, ids=[row[-1] for row in REPLIES])
def test_a_reply_names_a_move_or_says_what_it_is_instead(reply, expected, why):
    def other(text):
        return text if text.startswith("play") else None

    if isinstance(expected, Kind):
        with pytest.raises(Failure) as raised:
            _answer.chosen(reply, MOVES, other)
        assert raised.value.kind is expected
    else:
        assert _answer.chosen(reply, MOVES, other) == expected


@pytest.mark.parametrize(("text", "error", "why"), PROMPTS, ids=[row[-1] for row in PROMPTS])
def test_a_file_is_no_prompt(text, error, why, tmp_path):
    file = tmp_path / "prompt.md"
    file.write_text(text)
    with pytest.raises(Misconfigured, match=rf"prompt\.md.*{error.replace('$', '[$]')}"):
        Prompt.read(file)


def test_a_prompt_that_is_not_there_is_named(tmp_path):
    with pytest.raises(Misconfigured, match="cannot be read: No such file"):
        Prompt.read(tmp_path / "prompt.md")


@pytest.mark.parametrize(("url", "key", "why"), ENDPOINTS, ids=[row[-1] for row in ENDPOINTS])
def test_an_endpoint_is_refused_before_anything_is_sent(url, key, why):
    with pytest.raises(Misconfigured):
        Endpoint(url, "model", key)


def test_many_moves_are_listed_in_part_with_their_own_numbers():
    lines = _answer.listed([f"take {count}" for count in range(200)]).splitlines()
    assert lines[:2] == ["0: take 0", "4: take 4"]
    assert lines[-1] == "(50 of 200 moves are listed; numbers up to 199 are moves)"


# The endpoint, over a real socket.


def test_a_request_is_a_chat_completion_and_a_reply_has_its_usage_and_reasoning():
    def reply(_):
        usage = {"prompt_tokens": 100, "completion_tokens": 7}
        return json.dumps(completion("<think>hm</think>MOVE: 1") | {"usage": usage}).encode()

    with fake_model(reply) as model:
        endpoint = Endpoint(f"{model.url}/", "large", "secret", 99, {"temperature": 0})
        got = endpoint.complete([{"role": "user", "content": "hi"}], 10.0)
    assert got == Reply("MOVE: 1", "hm", "stop", "", 100, 7)
    assert model.requests == [
        {
            "model": "large",
            "messages": [{"role": "user", "content": "hi"}],
            "max_tokens": 99,
            "temperature": 0,
        }
    ]
    assert model.headers[0]["Authorization"] == "Bearer secret"
    assert "secret" not in repr(endpoint)


@pytest.mark.parametrize(
    ("reply", "passes", "error", "why"), BROKEN, ids=[row[-1] for row in BROKEN]
)
def test_what_is_no_completion_is_a_failure_of_transport(reply, passes, error, why):
    with fake_model(lambda _: reply) as model, pytest.raises(Failure) as raised:
        Endpoint(model.url, "large").complete([], 10.0)
    assert raised.value.kind is Kind.TRANSPORT
    assert raised.value.passes is passes
    assert error in str(raised.value)
    assert raised.value.wait_s == (7.0 if "429" in error else 0.0)
    assert len(model.requests) == 1


def test_another_server_at_the_port_is_no_endpoint():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"\0\0\x12\4\0\0\0\0\0")  # as a gRPC server greets
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(Failure, match="does not answer by HTTP") as raised:
            Endpoint(f"http://127.0.0.1:{server.getsockname()[1]}/v1", "large").complete([], 10.0)
    assert not raised.value.passes


def test_an_endpoint_that_is_not_there_is_a_failure_of_transport():
    with fake_model(lambda _: "") as model:
        pass
    with pytest.raises(Failure, match="cannot be reached") as raised:
        Endpoint(model.url, "large").complete([], 10.0)
    assert raised.value.passes


def test_without_a_network_the_cure_is_named_and_nothing_is_repeated(monkeypatch):
    monkeypatch.setattr("socket.socket", Mock(side_effect=OSError(errno.EAFNOSUPPORT, "no family")))
    with pytest.raises(Failure, match="run it with --sandbox off") as raised:
        Endpoint("http://127.0.0.1:9/v1", "large").complete([], 10.0)
    assert not raised.value.passes


def test_a_request_that_hangs_is_given_up_after_its_time():
    with fake_model(lambda _: model.released.wait() and "") as model:
        with pytest.raises(Failure) as raised:
            Endpoint(model.url, "large").complete([], 0.1)
        model.released.set()
    assert raised.value.kind is Kind.HUNG


# Decisions, with a scripted endpoint and a clock that only replies move.


class Script:
    """An endpoint that gives scripted replies; each takes some seconds of the ask's clock."""

    model, max_output_tokens = "scripted", 100

    def __init__(self, *replies, takes_s=1.0):
        self.replies, self.takes_s = [*replies], takes_s
        self.now_s, self.longest_s, self.chats, self.slept_s = 0.0, [], [], []

    def complete(self, messages, longest_s):
        self.longest_s.append(round(longest_s, 3))
        self.chats.append([dict(message) for message in messages])
        reply = self.replies.pop(0)
        if isinstance(reply, Failure):
            self.now_s += longest_s if reply.kind is Kind.HUNG else self.takes_s
            raise reply
        self.now_s += self.takes_s
        return reply if isinstance(reply, Reply) else Reply(reply, finish="stop")

    def sleep(self, seconds):
        self.slept_s.append(seconds)
        self.now_s += seconds


class Asked:
    """One ask of a match of Abstrac, with three moves."""

    def __init__(self, script, *, move_ms=60_000, bot=llm.ModelBot, **settings):
        (first,) = self.asks(1)
        message = first.message
        message.clock.move_ms, message.clock.bank_ms = move_ms, 0
        self.ask = cardarena.Ask(
            message, first.start, "abstrac", before=None, now_s=lambda: script.now_s
        )
        kind = type("Model", (bot,), {})
        kind.settings = llm.Settings(script, sleep=script.sleep, **settings)
        self.bot = kind()
        self.bot.start = first.start
        self.bot.started()

    def asks(self, count):
        kept = []

        class Kept(cardarena.Bot):
            def move(self, ask):
                kept.append(ask)
                return 0

        local.play("abstrac", [Kept, Kept], seed="7", options={"hands": 2})
        return kept[:count]

    def move(self):
        return self.bot.move(self.ask)


HUNG = Failure(Kind.HUNG, "no reply", passes=True)
AWAY = Failure(Kind.TRANSPORT, "500", passes=True)
WAIT = Failure(Kind.TRANSPORT, "429", passes=True, wait_s=20.0)
WRONG_KEY = Failure(Kind.TRANSPORT, "401")
NO_MOVE = Reply("", finish="content_filter")

# fmt: off
SCRIPTS = [
    # replies                       choice or failure  requests  why
    (["MOVE: 1"],                   1,                 1,        "a move"),
    (["hm", "MOVE: 1"],             1,                 2,        "unreadable once"),
    (["MOVE: 9", "MOVE: 1"],        1,                 2,        "illegal once"),
    ([NO_MOVE, "MOVE: 1"],          1,                 2,        "refused once"),
    (["hm", "MOVE: 9"],             Kind.ILLEGAL,      2,        "no move twice: the last failure counts"),
    ([NO_MOVE, NO_MOVE],            Kind.REFUSED,      2,        "refused twice"),
    ([AWAY, AWAY, "MOVE: 1"],       1,                 3,        "away twice"),
    ([AWAY, AWAY, AWAY],            Kind.TRANSPORT,    3,        "away for good"),
    ([AWAY, "hm", "MOVE: 1"],       1,                 3,        "away, then unreadable"),
    ([WRONG_KEY],                   Kind.TRANSPORT,    1,        "an error that does not pass is not repeated"),
    ([HUNG, "MOVE: 1"],             1,                 2,        "hung once"),
    ([HUNG, HUNG, HUNG],            Kind.HUNG,         3,        "hung until the clock is out"),
    ([WAIT, "MOVE: 1"],             1,                 2,        "the wait that the endpoint asks for"),
]
# fmt: on


@pytest.mark.parametrize(
    ("replies", "expected", "requests", "why"), SCRIPTS, ids=[row[-1] for row in SCRIPTS]
)
def test_a_model_is_asked_again_within_the_clock(replies, expected, requests, why):
    script = Script(*replies)
    asked = Asked(script)
    if isinstance(expected, Kind):
        with pytest.raises(Failure) as raised:
            asked.move()
        assert raised.value.kind is expected
    else:
        noted = asked.move()
        assert noted.choice == expected
        kinds = [part for part in noted.note.split("; ") if part.startswith("after")]
        assert len(kinds) == requests - 1
    assert len(script.chats) == requests
    assert asked.ask.time_left_s() >= 0.5
    assert not script.replies


def test_a_hung_request_leaves_half_of_the_clock_for_the_next():
    script = Script(HUNG, HUNG, "MOVE: 1")
    Asked(script, move_ms=80_500).move()
    assert script.longest_s == [40.0, pytest.approx(19.75), pytest.approx(18.75)]


def test_a_wait_that_the_clock_does_not_have_is_not_begun():
    script = Script(WAIT)
    with pytest.raises(Failure, match="429"):
        Asked(script, move_ms=15_000).move()
    assert script.slept_s == []


def test_nothing_is_asked_in_the_last_second():
    script = Script()
    with pytest.raises(Failure) as raised:
        Asked(script, move_ms=1_000).move()
    assert raised.value.kind is Kind.LATE
    assert script.chats == []


def test_a_second_request_says_what_was_wrong():
    script = Script("MOVE: 9", "MOVE: 1")
    Asked(script).move()
    *_, reply, correction = script.chats[1]
    assert reply == {"role": "assistant", "content": "MOVE: 9"}
    assert "there is no move 9" in correction["content"]


def test_nothing_is_asked_beyond_the_budget():
    script = Script("MOVE: 1")
    asked = Asked(script, budget_tokens=1_500)
    asked.move()
    again = Asked(Script(), budget_tokens=50)
    with pytest.raises(Failure) as raised:
        again.move()
    assert raised.value.kind is Kind.BUDGET


def test_earlier_moves_of_a_match_count_in_its_budget():
    asked = Asked(Script("MOVE: 1"), budget_tokens=1_200)
    asked.move()
    with pytest.raises(Failure) as raised:
        asked.move()
    assert raised.value.kind is Kind.BUDGET


def test_a_bot_may_choose_where_the_model_gave_no_move():
    class Chance(llm.ModelBot):
        def unanswered(self, ask, failure):
            return cardarena.Noted(2, str(failure))

    noted = Asked(Script(WRONG_KEY), bot=Chance).move()
    assert (noted.choice, noted.note) == (2, "the request for a move failed (transport): 401")


# fmt: off
SENTENCES = [
    # replies              what the owner reads in place of a line of code                                     why
    ([WRONG_KEY],          "the request for a move failed (transport): 401",                                   "the endpoint"),
    ([HUNG, HUNG, HUNG],   "the model did not reply in time (hung): no reply",                                 "no reply"),
    ([NO_MOVE, NO_MOVE],   "the model refused to answer (refused): a filter of the endpoint",                               "a refusal"),
    (["MOVE: 9"] * 2,      "the model named an illegal move (illegal): there is no move 9: the last one is 1", "a move that is not offered"),
    (["hm", "hm"],         "the model's reply names no move (unreadable): the reply has no line `MOVE: n`",    "no move"),
]
# fmt: on


@pytest.mark.parametrize(
    ("replies", "sentence", "why"), SENTENCES, ids=[row[-1] for row in SENTENCES]
)
def test_an_owner_reads_why_the_model_gave_no_move_and_no_place_in_code(replies, sentence, why):
    asked = Asked(Script(*replies))
    with pytest.raises(Failure) as raised:
        asked.move()
    report = Raised.of(raised.value, asked.bot.move)
    assert (report.note, report.traceback) == (f"error: {sentence}", "")


def test_a_note_has_tokens_cost_time_and_the_reason():
    reply = Reply("Aces are gone.\nMOVE: 1", "", "stop", "", 1_000, 50)
    noted = Asked(Script(reply, takes_s=2.0), price=(1.0, 10.0)).move()
    assert noted.note == "1000+50 tokens, cost 0.0015, 2.0 s; Aces are gone."
    answer = _choice.answer(Asked(Script()).ask, noted)
    assert answer.index == 1


def test_a_transcript_has_all_that_was_asked_and_answered(tmp_path):
    replies = [Reply("MOVE: 9", "a thought"), Reply("Well.\nMOVE: 0", "another", "stop", "", 9, 9)]
    asked = Asked(Script(*replies), transcripts=tmp_path / "kept")
    asked.move()
    (file,) = (tmp_path / "kept").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    match, decision = map(json.loads, file.read_text().splitlines())
    assert (match["game"], match["model"]) == ("abstrac", "scripted")
    assert [message["role"] for message in decision["chat"]] == [
        "system", "user", "assistant", "user", "assistant",
    ]  # fmt: skip
    assert decision["reasoning"] == ["a thought", "another"]
    assert decision["failures"] == [
        "the model named an illegal move (illegal): there is no move 9: the last one is 1"
    ]
    assert decision["requests"] == 2


def test_a_transcript_has_an_unchanged_system_message_once(tmp_path):
    asked = Asked(Script("MOVE: 0", "MOVE: 0"), transcripts=tmp_path)
    asked.move()
    asked.move()
    (file,) = tmp_path.iterdir()
    _, *decisions = map(json.loads, file.read_text().splitlines())
    roles = [[message["role"] for message in decision["chat"]] for decision in decisions]
    assert roles == [["system", "user", "assistant"], ["user", "assistant"]]


def test_a_move_that_is_not_offered_is_read_where_others_are_legal():
    between = []

    class Bets(ScriptedModel):
        def text(self, turn):
            raises = [int(to) for to in re.findall(r"^\d+: raise (\d+)$", turn, re.MULTILINE)]
            if len(raises) > 1 and raises[0] + 1 < raises[1]:
                assert "another legal move in the same notation: bring_in TO; fold;" in turn
                between.append(raises[0] + 1)
                return f"MOVE: raise {between[-1]}"
            return super().text(turn)

    result = local.play("soko", [bot_of(Bets("1")), bot_of(Bets("2"))], seed="1")
    assert not result.faults
    assert between


# The command.


def test_the_command_needs_an_endpoint_and_a_model(capsys, monkeypatch):
    monkeypatch.delenv("CARDARENA_LLM_URL", raising=False)
    with pytest.raises(SystemExit) as exited:
        command(["llm", "--model", "m"])
    assert exited.value.code == 2
    assert "give the endpoint with --url and the model with --model" in capsys.readouterr().err


def test_flags_become_settings(tmp_path):
    from arena.local.program import bot_of as program_bot

    key = tmp_path / "key.txt"
    key.write_text("secret\n")
    flags = ["--url", "http://127.0.0.1:9/v1", "--model", "m", "--key-file", str(key)]
    bot = program_bot(["sample_bots/llm/bot.py", *flags, "--budget", "900", "--price", "1", "2"])
    assert bot.settings.endpoint.key == "secret"
    assert (bot.settings.budget_tokens, bot.settings.price) == (900, (1.0, 2.0))


def test_two_programs_with_two_prompts_are_two_bots_of_one_process():
    from arena.local.program import bot_of as program_bot

    file = "sample_bots/llm/bot.py"
    flags = ["--url", "http://127.0.0.1:9/v1", "--model", "m"]
    first = program_bot([file, *flags])
    second = program_bot([file, *flags, "--prompt", "clients/python/cardarena/llm/prompt.md"])
    assert first.settings.prompt != second.settings.prompt
    assert second.settings.prompt == Prompt.read()


# Whole matches.


@pytest.mark.parametrize(
    "game",
    slow_unless(lambda game: game.id == "sixty_six", GAMES, EACH_GAME),
    ids=[game.id for game in GAMES],
)
def test_a_scripted_model_plays_whole_matches_within_the_budget(game, tmp_path):
    script, lock = ScriptedModel("9"), threading.Lock()

    def reply(request):
        with lock:
            return script.text(request["messages"][-1]["content"])

    move_budget, match_budget = budgets()[game.id]
    seats, sent = game.seats[0], []
    with fake_model(reply) as model:

        class Counted(Endpoint):
            def complete(self, messages, longest_s):
                sent.append(sum(llm.tokens(message["content"]) for message in messages))
                return super().complete(messages, longest_s)

        bots = [
            bot_of(Counted(model.url, "m"), transcripts=tmp_path, budget_tokens=match_budget)
            for _ in range(seats)
        ]
        result = local.play(game.id, bots, seed="9")
    assert not result.faults
    assert max(sent) <= move_budget
    for file in tmp_path.iterdir():
        sums = json.loads(file.read_text().splitlines()[-1])
        assert sums["failures"] == {}
    assert len([*tmp_path.iterdir()]) == seats
    assert math.fsum(sent) <= seats * match_budget


def test_every_game_has_a_budget():
    assert set(budgets()) == {game.id for game in GAMES}
