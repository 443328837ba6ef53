"""A bot is looked at from outside: good ones are qualified, and every fault is named where it happened."""

import base64
import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
import trio
import trio.testing

import cardarena
from arena.app.qualification import qualify
from arena.bots.archive import pack
from arena.bots.blobs import remove_unpacked
from arena.bots.manifest import DeclaredGame
from arena.bots.runtime_build import build
from arena.errors import checks
from arena.games.catalogue import GAMES, game_by_id
from arena.games.contract import Seat
from arena.local.play import play
from arena.records.diagnosis import diagnose
from arena.records.read import Replay
from arena.referee.spec import Ending, Fault, FaultKind, Outcome, SeatConduct
from arena.results.think_times import SdkTimes
from arena.sandbox.sandbox import SandboxDemand, raise_sandbox
from arena.testing.qualification import games as qualified_games
from arena.testing.qualification import robustness, run
from arena.testing.qualification.games import (
    Games,
    QualificationMatch,
    _first_problem,
    check_of,
    order_of,
    seatings,
    turns_of,
)
from arena.testing.qualification.run import QualificationRequest, Shelves, sample_bot
from cardarena.v1 import bots_pb2
from tests.doubles.wheels import TINY, wheel
from tests.records.matches import LATE, PLAY, Bot, SlowToChoose, record
from tests.rows import slow_unless

HEAD = "import random, sys, time\nimport cardarena\nfrom cardarena import klaberjass, soko\n"
TAIL = '\nif __name__ == "__main__":\n    cardarena.run(MyBot)\n'
GOOD = """
class MyBot(cardarena.Bot):
    def move(self, ask):
        return random.choice(ask.moves)
"""
KLABERJASS = '[[games]]\nid = "klaberjass"\n'


def looked_at(
    tmp_path,
    code,
    *only,
    games=KLABERJASS,
    command='["python", "bot.py"]',
    seats=None,
    most_s=100.0,
):
    folder = tmp_path / "my-bot"
    folder.mkdir()
    (folder / "bot.py").write_text(HEAD + code + TAIL)
    (folder / "bot.toml").write_text(f"command = {command}\n{games}")
    pack(folder, tmp_path / "bot.zip")
    work = tmp_path / "work"
    try:
        return qualify(
            tmp_path / "bot.zip", work, QualificationRequest(only=only, seats=seats, most_s=most_s)
        )
    finally:
        remove_unpacked(work)


def test_a_bot_that_plays_is_qualified_and_its_games_are_named(tmp_path):
    report = looked_at(tmp_path, GOOD)
    assert [each.problem for each in report.failed] == []
    assert report.qualified
    assert report.passed_games == ("klaberjass",)
    assert [each.name for each in report.checks] == [
        "manifest",
        "start",
        "klaberjass",
        *robustness.NAMES,
    ]
    assert [each.asks > 0 for each in report.checks] == [e.is_game for e in report.checks]


MOVES = """
class MyBot(cardarena.Bot):
    def move(self, ask):
        if ask.message.decision == 3:
            {}
        return ask.moves[0]
"""
LATER = MOVES.replace("== 3", "== 30")
# fmt: off
BAD = [
    (MOVES.format("return klaberjass.Move(verb=klaberjass.PLAY, card='Xx')"), 3, "", "a move that is none"),
    (MOVES.format("return 99"),                  3, "the bot had an error in its own code",    "an index past the list"),
    (MOVES.format("raise KeyError('to_call')"),  3, "bot.py:8: KeyError: 'to_call'",        "an exception"),
    (MOVES.format("sys.exit('gone fishing')"),   3, "the bot had left",                     "it leaves"),
    (MOVES.format("time.sleep(90)"),             3, "timeout",                              "it sleeps"),
    (LATER.format("raise KeyError('to_call')"), 30, "bot.py:8: KeyError: 'to_call'",        "an exception late in the match"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "ask", "sentence", "_why"),
    BAD,
    ids=[row[-1] for row in BAD],
)
def test_a_fault_is_named_with_its_ask_and_the_command_that_repeats_it(
    tmp_path, code, ask, sentence, _why
):
    report = looked_at(tmp_path, code, "klaberjass")
    (failed,) = report.failed
    assert sentence in failed.problem
    assert failed.ask == ask
    assert failed.offered
    assert failed.again == "arena check ./my-bot --only klaberjass --seats 2 --seed q7"
    known = bots_pb2.FailedAsk.FromString(base64.b64decode(failed.failed_ask))
    assert known.view.klaberjass.held, "its own cards"
    assert known.events


@pytest.mark.slow
def test_output_in_a_report_has_the_file_names_of_the_archive(tmp_path):
    report = looked_at(tmp_path, MOVES.format("raise KeyError('to_call')"), "klaberjass")
    (failed,) = report.failed
    assert any('File "bot.py", line 8, in move' in line for line in failed.last_lines)


def test_a_bot_that_does_not_start_is_reported_with_its_output(tmp_path):
    report = looked_at(tmp_path, "raise SystemExit('no model')")
    (failed,) = report.failed
    assert failed.name == "start"
    assert "exit code 1 before it said hello" in failed.problem
    assert failed.last_lines == ("no model",)
    assert len(report.checks) == 2


@pytest.mark.slow
def test_games_fail_singly(tmp_path):
    code = """
class MyBot(cardarena.Bot):
    def move(self, ask):
        return ask.moves[0] if ask.game == "klaberjass" else {}["x"]
"""
    report = looked_at(tmp_path, code, games=KLABERJASS + '[[games]]\nid = "jam"\n')
    assert report.qualified
    assert (report.passed_games, [each.name for each in report.failed]) == (
        ("klaberjass",),
        ["jam"],
    )


@pytest.mark.slow
def test_a_game_that_the_manifest_declares_and_the_bot_does_not_play_fails(tmp_path):
    code = "class MyBot(klaberjass.Bot):\n    def move(self, ask):\n        return ask.moves[0]\n"
    report = looked_at(tmp_path, code, "jam", games=KLABERJASS + '[[games]]\nid = "jam"\n')
    (failed,) = report.failed
    assert failed.problem == checks.NO_GAME.message("jam")


def test_a_match_is_long_enough_to_find_a_bot_that_is_late_in_a_fifth_of_its_moves():
    """It sleeps for 6 s of 5 s, so its bank of 5 s lasts for five of these moves."""
    (seating,) = seatings([DeclaredGame("klaberjass", (2,))])
    terms = order_of(seating, "q7").terms
    first_moves = type("First", (cardarena.Bot,), {"move": lambda self, ask: 0})
    options = {"hands": terms.options.hands}
    played = play("klaberjass", [first_moves] * 2, seed="q7", options=options)
    late_moves = played.decisions // 2 // 5
    assert late_moves * (6_000 - terms.time_control.move_ms) > terms.time_control.bank_ms


@pytest.mark.slow
def test_a_slow_bot_passes_with_what_it_has_answered_when_its_time_is_over(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "REPLAYS_S", 1.0)
    monkeypatch.setattr(run, "END_GAMES_S", 1.0)
    code = MOVES.replace("decision == 3", "decision").format("time.sleep(0.2)")
    report = looked_at(tmp_path, code, "klaberjass", most_s=20.0)
    assert report.failed == ()
    (game,) = report.games["klaberjass"]
    assert qualified_games.MIN_ASKS <= game.asks < 84
    assert f"Covered: the first {game.asks} asks of a match." in report.words("my-bot")[1]


# A client of its own that breaks where no bot of the SDK does: each fault planted, and named.

PLANTED = """
import os
from cardarena import _session
from cardarena.v1 import play_pb2
FAULT = {fault!r}
receive = _session.Session.receive
def planted(self, data):
    message = play_pb2.ArenaMessage.FromString(data)
    kind = message.WhichOneof("body")
    welcome_again = kind == "welcome" and message.welcome.matches
    many = kind == "asks" and len(message.asks.asks) > 1
    if FAULT == kind or {{"unknown_fields": kind is None, "cut": welcome_again, "two_matches": many}}.get(FAULT):
        print("I cannot stand", FAULT, flush=True)
        os._exit(1)
    return receive(self, data)
_session.Session.receive = planted
class MyBot(cardarena.Bot):
    def move(self, ask):
        return ask.moves[0]
"""


@pytest.mark.slow
@pytest.mark.parametrize("fault", robustness.NAMES)
def test_a_failed_robustness_case_is_named(tmp_path, fault):
    report = looked_at(tmp_path, PLANTED.format(fault=fault), fault)
    assert [each.name for each in report.failed] == [fault]
    (failed,) = report.failed
    assert failed.problem.startswith("it must ")
    assert failed.last_lines[-1] == f"I cannot stand {fault}"
    assert failed.again.endswith(f"--only {fault} --seed q7")


# What is played.


def test_least_and_most_seats_of_each_game_and_two_seats():
    declared = [DeclaredGame("soko", (2, 3, 8)), DeclaredGame("jam", (2,))]
    found = [(each.game.id, each.seats) for each in seatings(declared)]
    assert found == [("soko", 2), ("soko", 8), ("jam", 2)]
    assert [(each.game.id, each.seats) for each in seatings(declared, 3)] == [("soko", 3)]
    assert [turns_of(seats) for seats in (2, 3, 4, 5, 10)] == [
        [0, 1],
        [0, 1],
        [0, 2],
        [0, 2],
        [0, 5],
    ]


@pytest.mark.parametrize("game", GAMES, ids=[game.id for game in GAMES])
def test_every_game_has_a_match_of_default_length_an_opponent_and_asks_to_show(game):
    declared = DeclaredGame(game.id, tuple(sorted(game.seats)))
    for seating in seatings([declared]):
        order = order_of(seating, "q7")
        assert all(table.bots.count(seating.candidate) == 1 for table in order.tables)
        assert order.terms.options == game.options({}, seating.seats)
    assert sample_bot(game).is_file()
    shown = robustness.shown_match(declared, "q7")
    assert shown.ask.seat == shown.start.seat


def outcome(decisions, *faults, ending=Ending.ABORTED, known=True):
    conduct = (SeatConduct(decisions, len(faults), forfeited=False),) * 2 if known else ()
    return Outcome("m", ending, (), (), (), faults, decisions, conduct=conduct)


OWN_FAULT = Fault(0, FaultKind.ERROR, 7, "its client reported an error in its own code")
# fmt: off
CUT = [
    (outcome(10),                             "",         0, "ten asks without a fault are enough"),
    (outcome(9),                              "Q-TIME",   0, "fewer show too little"),
    (outcome(40, OWN_FAULT),                  "F-ERROR",  7, "a fault in what was played"),
    (outcome(40, replace(OWN_FAULT, seat=1)), "",         0, "its opponent's fault is not its own"),
    (outcome(0, known=False),                 "Q-ABORTED", 0, "the arena failed, and did not end it"),
]
# fmt: on


@pytest.mark.parametrize(("ended", "code", "ask", "_why"), CUT, ids=[row[-1] for row in CUT])
def test_a_match_whose_time_was_over(tmp_path, ended, code, ask, _why):
    (seating,) = seatings([DeclaredGame("klaberjass", (2,))])
    played = QualificationMatch(seating, 50.0, outcomes=((0, ended),), is_cut=True)
    check = check_of(played, tmp_path, ["a line"], "arena check ./my-bot")
    assert (check.passed, check.ask) == (not code, ask)
    assert code in check.problem


def test_a_planted_slow_phase_is_in_the_report_with_what_its_sdk_noted(tmp_path, monkeypatch):
    path = record(tmp_path, "abstrac", [SlowToChoose(0), Bot(1)], {"hands": 6})
    noted = "times: 8 asks waited 0.400 s in the own queue; 6 took 1.600 s on the network"
    monkeypatch.setattr(qualified_games, "notes_of", lambda *_: {8: noted})
    (seating,) = seatings([DeclaredGame("abstrac", (2,))])
    played = replace(outcome(20, ending=Ending.COMPLETED), match_id=path.stem)
    match = QualificationMatch(seating, 50.0, outcomes=((0, played), (0, played)))
    check = check_of(match, path.parent, [], "")
    assert [(row.phase, row.p50_us, row.p99_us) for row in check.phases] == [
        ("choose", 1_200_000, 1_200_000),
        ("take", 20_000, 20_000),
    ]
    assert sum(row.decisions for row in check.phases) == check.time.decisions
    assert check.time.by_sdk == SdkTimes(16, 800_000, 12, 3_200_000), "of both matches"


# fmt: off
SHARES = [
    ({"soko": 2},                     1, 50.0, "a game alone has half for each number of seats"),
    ({"soko": 1},                     1, 100.0, "what is left is for the last one"),
    ({"soko": 1, "jam": 1, "loo": 2}, 2, 50.0, "two at a time"),
    ({"soko": 1, "jam": 1, "loo": 2}, 1, 25.0, "one at a time"),
    ({"soko": 2, "jam": 1},           9, 50.0, "seats of a game are played one after the other"),
]
# fmt: on


@pytest.mark.parametrize(
    ("unplayed", "at_a_time", "share_s", "_why"), SHARES, ids=[row[-1] for row in SHARES]
)
def test_each_game_has_a_share_of_the_time(unplayed, at_a_time, share_s, _why):
    clock = trio.testing.MockClock()

    async def share():
        until_s = trio.current_time() + 100.0
        games = Games(None, None, None, None, "q7", at_a_time, until_s, unplayed)
        return games._share_s(game_by_id("soko"))

    assert trio.run(share, clock=clock) == share_s


@pytest.mark.slow
def test_the_process_of_an_arena_writes_the_report(tmp_path):
    folder = tmp_path / "my-bot"
    folder.mkdir()
    (folder / "bot.py").write_text("raise SystemExit('no model')")
    (folder / "bot.toml").write_text(f'command = ["python", "bot.py"]\n{KLABERJASS}')
    pack(folder, tmp_path / "bot.zip")
    words = [tmp_path / "bot.zip", tmp_path / "work", tmp_path / "report.json", "./a", "q3"]
    words += [tmp_path, ""]
    command = [sys.executable, "-m", "arena.app.qualification", *map(str, words)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ})
    remove_unpacked(tmp_path / "work")
    if "cannot be sandboxed" in run.stderr:
        pytest.skip("no sandbox here, and nothing is started without one")
    assert run.returncode == 0, run.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["qualified"], report["seed"]) == (False, "q3")


# Packages that a bot has beside the SDK.

WITH_TINY = """
import tiny
class MyBot(cardarena.Bot):
    def move(self, ask):
        assert tiny.WORTH == 7
        return random.choice(ask.moves)
"""


@pytest.fixture
def sandbox(tmp_path):
    """The sandbox that an arena qualifies behind; without one the bot plays unsandboxed, as on some laptops."""
    with raise_sandbox(SandboxDemand.AUTO, data=tmp_path / "work" / "data") as raised:
        yield raised


def with_packages(tmp_path, sandbox, shelves=None, runtime="", **wheels):
    folder = tmp_path / "my-bot"
    folder.mkdir()
    (folder / "bot.py").write_text(HEAD + WITH_TINY + TAIL)
    (folder / "bot.toml").write_text(f'command = ["python", "bot.py"]\n{runtime}{KLABERJASS}')
    if wheels:
        wheel(folder / "wheels", **wheels)
    pack(folder, tmp_path / "bot.zip")
    work = tmp_path / "work"
    wanted = QualificationRequest(only=("start", "klaberjass"), most_s=100.0)
    try:
        return qualify(tmp_path / "bot.zip", work, wanted, sandbox=sandbox, shelves=shelves)
    finally:
        remove_unpacked(work)


@pytest.mark.slow
def test_a_bot_plays_with_the_wheels_that_it_brings(tmp_path, sandbox):
    report = with_packages(tmp_path, sandbox, files=TINY)
    assert [each.problem for each in report.failed] == []
    assert report.passed_games == ("klaberjass",)


@pytest.mark.slow
def test_a_bot_plays_with_the_runtime_that_its_organiser_built(tmp_path, sandbox):
    wheel(tmp_path / "made")
    (tmp_path / "ml.toml").write_text('name = "ml"\npackages = ["tiny"]\n')
    data = tmp_path / "arena-data"
    built, _ = build(tmp_path / "ml.toml", data, lambda *_: None, found_in=tmp_path / "made")
    try:
        report = with_packages(tmp_path, sandbox, Shelves(data), 'runtime = "ml"\n')
    finally:
        remove_unpacked(built.folder)
    assert [each.problem for each in report.failed] == []
    assert report.passed_games == ("klaberjass",)


# fmt: off
NOT_ITS_OWN = [
    ({"tag": "cp26-cp26-linux_x86_64"},          "manifest", "wheels/tiny-1.0-cp26-cp26-linux_x86_64.whl is for another Python", "another Python"),
    ({"files": {"../tiny.py": b""}},             "manifest", "wheels/tiny-1.0-py3-none-any.whl: '../tiny.py' is no plain path",  "an evil one"),
    ({"files": {"tiny-1.0.data/evil/x": b""}},   "start",    "the wheels of the bot cannot be installed: ",                                "pip refuses it"),
    ({"files": {"huge/__init__.py": b""}},       "start",    "exit code 1 before it said hello",                                "not what it imports"),
]
# fmt: on


@pytest.mark.parametrize(
    ("wheels", "check", "sentence", "_why"),
    slow_unless(lambda wheels, check, sentence, why: check == "manifest", NOT_ITS_OWN),
    ids=[row[-1] for row in NOT_ITS_OWN],
)
def test_wheels_that_do_not_do_are_named(tmp_path, sandbox, wheels, check, sentence, _why):
    report = with_packages(tmp_path, sandbox, **wheels)
    (failed,) = report.failed
    assert failed.name == check
    assert sentence in failed.problem
    assert str(tmp_path) not in "".join(report.words("my-bot")).replace(failed.again, "")


def test_a_bot_of_node_may_have_a_folder_of_that_name(tmp_path):
    folder = tmp_path / "my-bot"
    (folder / "wheels").mkdir(parents=True)
    (folder / "wheels" / "x.txt").write_text("")
    (folder / "run").write_text("#!/bin/sh\nexit 3\n")
    (folder / "run").chmod(0o755)
    (folder / "bot.toml").write_text(f'command = ["run"]\n{KLABERJASS}')
    pack(folder, tmp_path / "bot.zip")
    try:
        report = qualify(
            tmp_path / "bot.zip", tmp_path / "work", QualificationRequest(only=("start",))
        )
    finally:
        remove_unpacked(tmp_path / "work")
    assert [each.name for each in report.failed] == ["start"]


def test_a_report_says_that_an_ask_waited_in_the_bots_own_queue(tmp_path):
    replay = Replay.open(record(tmp_path, "abstrac", [Bot(0), Bot(1, (PLAY, LATE))], {"hands": 2}))
    told = "your bot took 2.0 s of 2.0 s in its own queue: set workers"
    diagnosis = diagnose(replay, Seat(1), {3: f"queue: decision 2: {told}"})
    assert _first_problem(diagnosis, replay)["problem"].endswith(
        f"no answer in time (F-TIMEOUT-ANSWER); {told}"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "place", [pytest.param("arena", id="the arena's own"), pytest.param("home", id="its author's")]
)
def test_a_bot_cannot_import_what_no_arena_has_promised(tmp_path, sandbox, monkeypatch, place):
    """Packages that are there by chance, at home or at the arena, qualify no bot."""
    module = "numpy"
    if place == "home":
        module = "mine"
        (tmp_path / "home").mkdir()
        (tmp_path / "home" / "mine.py").write_text("")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "home"))
    folder = tmp_path / "my-bot"
    folder.mkdir()
    (folder / "bot.py").write_text(HEAD + f"import {module}\n" + GOOD + TAIL)
    (folder / "bot.toml").write_text(f'command = ["python", "bot.py"]\n{KLABERJASS}')
    pack(folder, tmp_path / "bot.zip")
    work = tmp_path / "work"
    try:
        report = qualify(
            tmp_path / "bot.zip", work, QualificationRequest(only=("start",)), sandbox=sandbox
        )
    finally:
        remove_unpacked(work)
    (failed,) = report.failed
    assert failed.name == "start"
    assert failed.last_lines[-1] == f"ModuleNotFoundError: No module named '{module}'"


def test_a_case_asks_in_notation_too_as_a_bot_may_read_that_alone():
    ask = robustness.shown_match(DeclaredGame("jam", (2,)), "seven").ask
    assert len(ask.move_texts) == len(ask.jam.moves) > 0
