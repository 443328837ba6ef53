"""`arena play`: what its author learns of a bot that fails, of many games, and in a debugger."""

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
import trio
from click.testing import CliRunner
from trio.testing import MockClock

from arena.app.author_matches import SeriesGame, report_waits
from arena.cli import main
from arena.cli.match_why import _output
from arena.cli.series import Exceptions, SeriesRecord
from arena.referee.spec import Ending, Outcome, SeatConduct
from arena.sandbox.output import OutputLog, Printed, printed_exception, without_other_asks
from cardarena import _play
from cardarena._raised import Raised
from cardarena.v1 import replay_pb2
from tests.cli.levels import without_level
from tests.cli.test_expected_errors import BOT

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
HEAD = """
import cardarena
from cardarena import abstrac


class MyBot(abstrac.Bot):
    asked = 0

    def move(self, ask: abstrac.Ask):
        self.asked += 1
        print("this is thought", self.asked)
"""
TAIL = """
        return 0


if __name__ == "__main__":
    cardarena.run(MyBot)
"""


def bot(folder, line="", *, name="my_bot.py", head=HEAD, tail=TAIL):
    path = folder / name
    path.write_text(f"{head}        {line}{tail}" if head else line)
    return str(path)


def play(folder, *arguments):
    given = ["play", "abstrac", *map(str, arguments), "--data", str(folder / "data")]
    return CliRunner().invoke(main, given)


@pytest.mark.slow
def test_an_exception_is_told_with_its_file_and_line_and_by_the_exit_code(tmp_path):
    mine = bot(tmp_path, "{}['row'] if self.asked in (2, 3) else None")
    done = play(tmp_path, mine, BOT, "--seed", 1)
    line = HEAD.count("\n") + 1
    assert done.exit_code == 3
    raised = f"my_bot.py:{line}: KeyError: 'row'"
    assert without_level(done.stderr) == f"my raised an exception: {raised}\n", (
        "at once, and each kind once"
    )
    assert f"my raised 2 exceptions, and the fallback was played: 2 × {raised}\n" in done.stdout
    assert f"Its moves and tracebacks: arena match why {tmp_path}" in done.stdout


@pytest.mark.slow
def test_why_tells_of_each_exception_with_the_output_of_that_decision_alone(tmp_path):
    line = "import time; time.sleep(0.03); {}['row'] if self.asked in (2, 3) else None"
    mine = bot(tmp_path, line)
    path = json.loads(play(tmp_path, mine, BOT, "--seed", 1, "--json").stdout)["replay"]
    done = CliRunner().invoke(main, ["match", "why", path, "my", "--json"])
    result = json.loads(done.stdout)
    two, three = result["faults"]
    assert (two["kind"], two["code"]) == ("error", "F-ERROR-REPORTED")
    for story, thought in ((two, 2), (three, 3)):
        texts = [line["text"] for line in story["printed"]]
        texts = [text for text in texts if "fault in match" not in text]  # of the ask before
        assert texts[0] == f"this is thought {thought}", texts
        assert texts[1].startswith("cardarena: my_bot.py:")
        assert texts[2] == "  Traceback (most recent call last):"
        assert texts[-1] == "  KeyError: 'row'"
        assert sum("an exception at ask" in text for text in texts) == 1
    words = CliRunner().invoke(main, ["match", "why", path, "my"]).stdout
    assert "2 faults: it had an error in its own code (F-ERROR) 2 times." in words
    assert "cardarena.local.replay" in words


@pytest.mark.slow
def test_programs_read_exceptions_too(tmp_path):
    mine = bot(tmp_path, "{}['row'] if self.asked == 2 else None")
    done = play(tmp_path, mine, BOT, "--seed", 1, "--json")
    result = json.loads(done.stdout)
    assert (done.exit_code, result["ending"]) == (3, "completed")
    assert [fault["kind"] for fault in result["faults"]] == ["error"]
    (raised,) = result["exceptions"]
    assert (raised["bot"], raised["times"]) == ("my", 1)


@pytest.mark.slow
def test_a_bot_that_raises_nothing_ends_with_0(tmp_path):
    done = play(tmp_path, bot(tmp_path), BOT, "--seed", 1, "--json")
    result = json.loads(done.stdout)
    assert (done.exit_code, without_level(done.stderr), result["exceptions"]) == (0, "", [])


# fmt: off
STILL_BORN = [
    ("def move(:",                "SyntaxError: invalid syntax",                       "a syntax error"),
    ("import no_such_module",     "ModuleNotFoundError: No module named",              "an import that fails"),
    ("import cardarena\nclass Lazy(cardarena.Bot): pass\ncardarena.run(Lazy)",
     "Lazy has no method `def move(self, ask)`, which chooses its moves",              "a bot without move"),
    ("pass",                      "and printed nothing",                                "a file that runs no bot"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(("text", "says", "why"), STILL_BORN, ids=[row[2] for row in STILL_BORN])
def test_a_bot_that_dies_at_its_start_is_told_with_its_last_lines(tmp_path, text, says, why):
    done = play(tmp_path, bot(tmp_path, text, head=""), BOT)
    assert done.exit_code == 1
    assert "the bot 'my' ended with exit code" in done.output
    assert says in done.output
    assert "did not connect" not in done.output, "nobody waited for it"


@pytest.mark.parametrize("pair", [("--watch", "--json"), ("--json", "--debug")], ids=" ".join)
def test_one_thing_has_the_terminal(tmp_path, pair):
    done = play(tmp_path, BOT, BOT, *pair)
    assert (done.exit_code, "choose one of" in done.output) == (2, True)


@pytest.mark.slow
def test_breakpoint_works_and_no_clock_runs_out(tmp_path):
    mine = bot(tmp_path, "self.asked == 2 and breakpoint()")
    command = [sys.executable, "-c", "from arena.cli import main; main()", "play", "abstrac"]
    given = [mine, BOT, "--debug", "--move", "0.001", "--data", str(tmp_path / "data")]
    said = "p 'it is', 6 * 7, ask.clock.move_ms\nimport time; time.sleep(0.3)\ncontinue\n"
    done = subprocess.run(
        [*command, *given],
        input=said,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | {"PYTHONBREAKPOINT": ""},
    )
    assert "('it is', 42, 86400000)" in done.stdout, done.stderr
    assert "this is thought 1\n" in done.stdout, "what it prints comes to the terminal"
    assert "timeout" not in done.stdout
    assert done.returncode == 0
    said = without_level(done.stderr)
    assert said == "my has this terminal, runs unsandboxed, and has a day for every move.\n"


@pytest.mark.slow
def test_errors_of_a_bot_at_the_terminal_come_there_and_are_counted(tmp_path):
    mine = bot(tmp_path, "{}['row'] if self.asked == 2 else None")
    command = [sys.executable, "-c", "from arena.cli import main; main()", "play", "abstrac"]
    given = [mine, BOT, "--debug", "--data", str(tmp_path / "data")]
    done = subprocess.run(
        [*command, *given], input="", capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 3
    assert "  Traceback (most recent call last):\n" in done.stderr
    assert "my raised 1 exception, and the fallback was played: 1 × my_bot.py:" in done.stdout


# Several games.


@pytest.mark.slow
def test_games_are_repeated_with_the_seats_turning(tmp_path):
    first = str(tmp_path / "first.py")
    (tmp_path / "first.py").write_text(
        "import cardarena\nclass First(cardarena.Bot):\n    def move(self, ask):\n"
        "        return 0\ncardarena.run(First)\n"
    )
    arguments = (first, f"other={first}", "--seed", 7, "--json")
    alone, many = (
        json.loads(play(tmp_path, *arguments, *more).stdout) for more in ((), ("--games", 3))
    )
    games = many["games"]
    assert games[0]["scores"] == alone["scores"], "the first one is as it would be alone"
    assert [game["bots"] for game in games] == [
        ["first", "other"],
        ["other", "first"],
        ["first", "other"],
    ]
    assert len({tuple(game["scores"]) for game in games}) > 1, "other cards"
    assert [row["bot"] for row in many["summary"]] == ["first", "other"]
    assert all(row["won"] + row["drawn"] + row["lost"] == 3 for row in many["summary"])
    assert sum(row["margin"] for row in many["summary"]) == pytest.approx(0)


def test_a_series_ends_with_a_table(tmp_path):
    done = play(tmp_path, BOT, f"other={BOT}", "--games", 2)
    assert done.exit_code == 0
    for name in ("Abstrac, 2 games", "won", "drawn", "lost", "margin", "± 95 %"):
        assert name in done.stdout


def game(scores, places, forfeited=()):
    conduct = tuple(SeatConduct(9, 0, seat in forfeited) for seat in range(len(scores)))
    outcome = Outcome("m", Ending.COMPLETED, scores, places, (), (), 1, conduct=conduct)
    return SeriesGame(("a", "b", "c")[: len(scores)], outcome)


# fmt: off
RECORDS = [
    ([game((3, 1), (1, 2))],                      (1, 0, 0, 2.0, None),  "one game has no interval"),
    ([game((3, 1), (1, 2)), game((0, 4), (2, 1))], (1, 0, 1, -1.0, 38.118614), "t with one degree of freedom"),
    ([game((5, 5, 2), (1, 1, 3))],                (0, 1, 0, 1.5, None),  "a shared first place is a draw"),
    ([game((2, 2, 5), (2, 2, 1))],                (0, 0, 1, -1.5, None), "a shared second is lost"),
    ([game((9, 1), (2, 1), [0])],                 (0, 0, 1, -8.0, None), "a game that it forfeited, though the fallback won"),
    ([game((1, 9), (1, 2), [1])],                 (1, 0, 0, 8.0, None),  "... and one that the other forfeited"),
]
# fmt: on


@pytest.mark.parametrize(("games", "record", "why"), RECORDS, ids=[row[2] for row in RECORDS])
def test_a_record_counts_games_and_margins(games, record, why):
    got = SeriesRecord.of("a", games)
    half_width = None if record[4] is None else pytest.approx(record[4])
    assert (got.won, got.drawn, got.lost, got.margin, got.half_width_95) == (
        *record[:4],
        half_width,
    )


# What the SDK prints is what the arena reads.


def printed_by_the_sdk(ask_id, capsys, *, again=False):
    try:
        {}["row"]
    except KeyError as error:
        raised = Raised.of(error, printed_by_the_sdk)
    ask = type("Ask", (), {"ask_id": ask_id, "match": 3})()
    _play._failed(ask, raised, again=again) if ask_id else _play._say(
        raised, "at the end of match 3"
    )
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("ask_id", [1 << 20 | 5, None], ids=["at an ask", "at the end"])
def test_the_arena_reads_what_the_sdk_prints(ask_id, capsys):
    head, *traceback = printed_by_the_sdk(ask_id, capsys)
    what = head.removeprefix("cardarena: ").split(": an exception")[0]
    assert printed_exception(head) == (what, ask_id)
    assert what.startswith("test_play.py:")
    assert what.endswith(": KeyError: 'row'")
    assert [printed_exception(line) for line in traceback] == [None] * len(traceback)


def test_an_exception_is_found_behind_what_the_bot_printed_in_its_line(capsys):
    head, *_ = printed_by_the_sdk(7, capsys)
    read = printed_exception(f"....{head}")
    assert read is not None
    assert read == printed_exception(head)


@pytest.mark.slow
def test_a_bot_that_prints_dots_is_told_of_its_exceptions(tmp_path):
    done = play(tmp_path, bot(tmp_path, "print('.', end=''); {}['row']"), BOT, "--seed", 1)
    assert done.exit_code == 3
    assert "my raised an exception: my_bot.py:" in done.stderr
    assert "my, decision 1 and 9 later ones: error: its client reported" in done.stdout


@pytest.mark.slow
def test_a_bot_that_says_in_no_known_words_that_it_failed_fails_the_command(tmp_path):
    script = tmp_path / "fails.py"
    script.write_text(FAILS)
    done = play(tmp_path, f"cardarena bridge -- python3 {script}", BOT, "-o", "hands=2", "--json")
    result = json.loads(done.stdout)
    assert {fault["kind"] for fault in result["faults"]} == {"error"}
    assert done.exit_code == 3


FAILS = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "ask" in message:
        print(json.dumps({"ask_id": message["ask"]["ask_id"], "failed": True}), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", ["play", "compare", "tournament"])
def test_a_bot_of_another_game_is_told_so_before_it_plays(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = bot(tmp_path, head=HEAD.replace("abstrac", "sixty_six"))
    of_command = {
        "play": ["play", "abstrac", other, BOT],
        "compare": ["compare", other, BOT, "--game", "abstrac", "--deal-sets", "1"],
        "tournament": ["tournament", "abstrac", other, BOT, "--deal-sets", "1"],
    }
    done = CliRunner().invoke(main, [*of_command[command], "--data", "data"])
    assert done.exit_code == 1
    says = "my: the bot does not play abstrac with 2 seats; it plays sixty_six (F-GONE-GAME)"
    assert says in " ".join(done.stderr.split())
    assert "F-DEAL" not in done.output


STUCK = "`move` has not returned since decision 1, now at my_bot.py:6"


def test_a_bot_whose_code_does_not_return_is_told_where_it_is_once(capsys):
    exceptions = Exceptions()
    for _ in range(3):
        line = f"..cardarena: fault in match 1 (abstrac): timeout: no answer in time; {STUCK}"
        exceptions.read_line("my", line)
    assert capsys.readouterr().err == f"my: {STUCK}\n"


@pytest.mark.slow
def test_commands_that_are_proposed_can_be_copied_whatever_the_folder_is_called(tmp_path):
    folder = tmp_path / "my bots ü"
    folder.mkdir()
    done = play(folder, bot(folder, "self.asked == 1 and {}['row']"), BOT, "--seed", 1)
    lines = [line for line in done.stdout.splitlines() if str(folder) in line]
    assert len(lines) == 3
    for line in lines:
        assert f"'{folder}/data/replays/" in line


def test_the_arena_reads_what_the_bridge_prints():
    line = "cardarena: the bot wrote 'x', which is no JSON object: an error at ask 7 of match 1, so the fallback is played"
    assert printed_exception(line) == ("the bot wrote 'x', which is no JSON object", 7)


def test_exceptions_of_other_asks_are_left_out(capsys):
    one, other = (printed_by_the_sdk(ask_id, capsys) for ask_id in (11, 12))
    texts = ["thought of 11", *one, "thought of 12", *other, "thought of 13"]
    lines = [Printed(None, False, text) for text in texts]
    assert [line.text for line in without_other_asks(lines, 11)] == [
        *("thought of 11", *one, "thought of 12", "thought of 13")
    ]


def test_output_of_a_decision_leaves_out_exceptions_at_others(tmp_path, capsys):
    log = tmp_path / "my-0.log"
    with OutputLog(log, now=lambda: NOON) as kept:
        for ask_id in (1 << 20 | 11, 1 << 20 | 12):
            lines = printed_by_the_sdk(ask_id, capsys)
            kept.printed("\n".join(lines).encode() + b"\n")
    output = _output([log], replay_pb2.BotProcess(first_ask=1 << 20))
    (eleven, twelve), every = (output(NOON, NOON, at) for at in (11, 12)), output(NOON, NOON, 0)
    assert [*eleven, *twelve] == every
    assert "at ask 1048587 " in eleven[0].text
    assert "at ask 1048588 " in twelve[0].text


def test_of_many_kinds_of_exceptions_the_most_frequent_are_listed(capsys):
    exceptions = Exceptions()
    for line, times in enumerate((1, 2, 3, 4)):
        for _ in range(times):
            exceptions.read_line(
                "my", f"cardarena: b.py:{line}: E: x: an exception at ask 1 of match 1, so"
            )
    (line,) = exceptions.in_all()
    kinds = "4 × b.py:3: E: x; 3 × b.py:2: E: x; 2 × b.py:1: E: x; …"
    assert line == f"my raised 10 exceptions, and the fallback was played: {kinds}"


# A bot that thinks for long.


def test_a_bot_that_thinks_for_long_is_named_and_each_time_after_twice_the_wait():
    entrants = [SimpleNamespace(name="quick"), SimpleNamespace(name="slow")]
    asks = [
        SimpleNamespace(seat=0, decision=4, sent_s=-1.0, due_s=70.0),
        SimpleNamespace(seat=1, decision=3, sent_s=0.0, due_s=70.0),
    ]
    spec = SimpleNamespace(match_id="m", entrants=entrants)
    runner = SimpleNamespace(spec=spec, open_asks=asks)

    async def main():
        asks[1].sent_s, asks[1].due_s = trio.current_time(), trio.current_time() + 70
        with trio.move_on_after(9.0):
            await report_waits(lambda: [runner], sentences.append)

    sentences = []
    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert sentences == [
        f"slow (seat 1) has been to move for {waited_s} s, at its decision 3; it has {left_s} s left"
        for waited_s, left_s in ((2, 68), (4, 66), (8, 62))
    ], "and the ask that was not sent yet is not named"


HEEDLESS = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
# fmt: off
ENDLESS = [
    (signal.SIGINT,  "",       "Ctrl-C"),
    (signal.SIGTERM, "",       "SIGTERM"),
    (signal.SIGTERM, HEEDLESS, "SIGTERM, with a bot that ignores it"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(("number", "before", "why"), ENDLESS, ids=[row[-1] for row in ENDLESS])
def test_a_match_with_an_endless_loop_is_ended_at_once(tmp_path, number, before, why):
    loop = bot(tmp_path, f"{before or 'pass'}\n        while True: pass")
    command = [sys.executable, "-c", "from arena.cli import main; main()", "play", "abstrac"]
    given = [*command, loop, BOT, "--data", str(tmp_path / "data")]
    with subprocess.Popen(given, stderr=subprocess.PIPE, text=True) as playing:
        for line in playing.stderr:
            if line.startswith("my (seat 0) has been to move"):
                break
        playing.send_signal(number)
        playing.communicate(timeout=10)  # it takes 2 s at most, and drains for 70 s otherwise
    assert playing.returncode == 130
