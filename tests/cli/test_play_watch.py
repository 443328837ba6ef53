"""`arena play --watch`: the match is drawn while it is played, as a spectator sees it."""

import io
import re
import subprocess
import sys

import pytest
from rich.console import Console

from arena.cli.terminal import draw
from arena.cli.terminal.watcher import TerminalWatcher
from arena.games.catalogue import GAMES
from arena.games.notation import Notation
from arena.records.read import Replay
from arena.records.verify import verify_file
from arena.referee.seat import Answer
from arena.referee.spec import SeatedBot
from arena.store import open_store
from arena.testing.referee import Reply
from tests.cli.levels import without_level
from tests.cli.test_expected_errors import BOT, arena
from tests.referee.matches import plays, plays_but, run, spec_of
from tests.referee.test_spectators import everybody_sees, steps_of
from tests.rows import EACH_GAME, slow_unless_of_each_kind

EVENT = "  » "
WIDE = 10_000
EVERY_GAME = pytest.mark.parametrize(
    "game", slow_unless_of_each_kind(GAMES, EACH_GAME), ids=[game.id for game in GAMES]
)


def drawn(spec, scripts=None, **console):
    """Play a match before a watcher: what is drawn, how it ended, and the ledger."""
    page = io.StringIO()
    watcher = TerminalWatcher(Console(file=page, **({"width": WIDE} | console)))
    scripts = scripts or [plays] * spec.terms.seats
    outcome, _, ledger = run(spec, scripts, spectators=watcher)
    return page.getvalue(), outcome, ledger


def spelt(line):
    """A line with its suits in letters and without blanks, which part the cards where drawn."""
    return re.sub(r"\s", "", line.translate(str.maketrans("♣♦♥♠", "cdhs")))


@EVERY_GAME
def test_every_public_event_is_drawn_in_its_order_and_no_other(game):
    spec = spec_of(game.id)
    page, _, ledger = drawn(spec)
    notation = Notation(game.messages.Event)
    public = [
        spelt(notation.write(event))
        for step in everybody_sees(spec, steps_of(spec, ledger))
        for event in step.events
    ]
    lines = [
        spelt(line.removeprefix(EVENT)) for line in page.splitlines() if line.startswith(EVENT)
    ]
    assert lines == public


@EVERY_GAME
def test_a_hand_begins_with_the_whole_view_and_a_step_adds_what_is_new_in_it(game):
    spec = spec_of(game.id)
    page, _, ledger = drawn(spec)
    wanted, hand, before = [], -1, []
    for each in everybody_sees(spec, steps_of(spec, ledger)):
        lines = [f"    {line.plain}" for line in draw.view(each.view)]
        wanted += lines if each.hand != hand else [line for line in lines if line not in before]
        hand, before = each.hand, lines
    assert [line for line in page.splitlines() if line.startswith("    ")] == wanted


def test_a_hand_is_announced_once_when_it_begins():
    page, _, _ = drawn(spec_of("sixty_six"), width=40)
    headings = [
        line.split("─")[0].strip() for line in page.splitlines() if line.startswith("hand ")
    ]
    assert headings == ["hand 0", "hand 1"]


def test_a_step_is_drawn_before_anybody_is_asked_about_it():
    page, drawn_before = io.StringIO(), []

    def script(ask):
        drawn_before.append(len(page.getvalue()))
        return Reply(Answer(index=0))

    run(spec_of("abstrac"), [script, script], spectators=TerminalWatcher(Console(file=page)))
    assert drawn_before == sorted(set(drawn_before))
    assert drawn_before[0] > 0


def test_the_last_picture_shows_the_result():
    page, outcome, _ = drawn(spec_of("abstrac"), width=60)
    picture, end = page.rsplit("»", 1)[1].split("─", 1)
    totals = re.search(r"^ +totals +(.*)$", picture, re.MULTILINE)[1]
    assert totals.split() == [str(score) for score in outcome.scores]
    assert end.strip("─\n ") == "completed"


# fmt: off
FAULTS = [
    (Reply(Answer(index=513)),     "bot 0 (seat 0) made an illegal move (F-ILLEGAL)",           "illegal"),
    (Reply(Answer()),              "bot 0 (seat 0) sent a malformed answer (F-MALFORMED)",      "malformed"),
    (Reply(answer=None),           "bot 0 (seat 0) did not answer in time (F-TIMEOUT)",         "mute"),
    (Reply(leaves=True),           "bot 0 (seat 0) was disconnected (F-GONE)",                  "leaving"),
]
# fmt: on


@pytest.mark.parametrize(("reply", "words", "why"), FAULTS, ids=[row[-1] for row in FAULTS])
def test_a_fault_is_said_with_who_did_it_and_what_came_of_it(reply, words, why):
    page, outcome, _ = drawn(spec_of("abstrac"), [plays_but({2: reply}), plays])
    said = [line for line in page.splitlines() if "fault:" in line]
    assert said[0] == f"  fault: {words}; the fallback is played for it"
    assert len(said) == len(outcome.faults) == 1
    assert page.splitlines()[-1].strip("─ ") == outcome.ending.name.lower()


# Where it is drawn.


def test_what_is_no_terminal_gets_no_colours():
    page, _, _ = drawn(spec_of("abstrac"))
    assert "\x1b" not in page
    assert "A♠" in page


def test_a_terminal_gets_the_same_in_colours():
    page, _, _ = drawn(spec_of("abstrac"), force_terminal=True, color_system="standard")
    bare, _, _ = drawn(spec_of("abstrac"))
    assert "\x1b[" in page
    assert re.sub(r"\x1b\[[0-9;]*m", "", page) == bare


def test_a_long_line_is_not_broken():
    page, _, _ = drawn(spec_of("abstrac"), width=40)
    (row,) = {line for line in page.splitlines() if line.startswith(EVENT + "dealt hand=0")}
    assert row.count(" ") > 24


@pytest.mark.parametrize("name", ["a\x1b[2Jn", "[red]ann[/red]"], ids=["an escape", "a markup"])
def test_a_name_is_drawn_as_plain_text(name):
    spec = spec_of("abstrac")
    entrants = (SeatedBot(name), spec.entrants[1])
    page = io.StringIO()
    watcher = TerminalWatcher(Console(file=page, force_terminal=True, color_system=None))
    watcher.opened(spec.match_id, spec.terms, entrants)
    assert name.replace("\x1b", "\N{REPLACEMENT CHARACTER}") in page.getvalue()
    assert "\x1b" not in page.getvalue()


# The command.

PLAY = ("play", "sixty_six", f"ann={BOT}", f"bob={BOT}", "-o", "hands=2", "--seed", "1")


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """What the command has printed, and its data folder."""
    data = tmp_path_factory.mktemp("watch")
    outcome = arena(*PLAY, "--watch", "--data", data)
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout, data


def test_the_command_draws_the_match_then_its_result_and_where_the_replay_is(watched):
    page, data = watched
    (replay,) = (data / "replays").glob("*.replay")
    first, *_ = page.splitlines()
    assert first.strip("─ ") == f"Sixty-Six · match {replay.stem}"
    for lines in (r"^seat 0   ann$", r"^seat 1   bob$", rf"^Watch it: arena replay show {replay}$"):
        assert re.search(lines, page, re.MULTILINE), lines
    scores = Replay.open(replay).closed.scores
    drawing, result = re.split(r"^─+ completed ─+$", page, flags=re.MULTILINE)
    totals = re.findall(r"^ +totals +(.*)$", drawing, re.MULTILINE)[-1]
    assert totals.split() == [str(score) for score in scores]
    for name, score in zip(("ann", "bob"), scores, strict=True):
        assert re.search(rf"│ {name} +│ \d +│ {score} ", result)


def test_what_is_drawn_stands_in_the_same_order_in_what_the_replay_shows_a_spectator(watched):
    page, data = watched
    (replay,) = (data / "replays").glob("*.replay")
    shown = iter(arena("replay", "show", replay, "--spectator").stdout.splitlines())
    for line in page[: page.rindex("\n─")].splitlines():
        assert not line.startswith((EVENT, "    ")) or line in shown, line


@pytest.mark.slow
def test_without_watch_nothing_is_drawn(tmp_path):
    outcome = arena(*PLAY, "--data", tmp_path)
    assert outcome.exit_code == 0
    assert not re.search("»|phase|hand 0", outcome.stdout)


@pytest.mark.slow
def test_a_match_goes_on_when_nobody_reads_what_is_drawn(tmp_path):
    command = [sys.executable, "-c", "from arena.cli import main; main()", *PLAY, "--watch"]
    with subprocess.Popen(
        [*command, "--data", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert "Sixty-Six" in process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
    assert (process.returncode, without_level(errors)) == (0, "")
    with open_store(tmp_path / "arena.db") as store:
        (match,) = store.matches().find()
    assert match.outcome.ending == "completed"
    verify_file(tmp_path / "replays" / f"{match.outcome.match_id}.replay")


# fmt: off
MISTAKES = [
    (("--watch", "--json"),         2, "choose one of --watch, --json and --debug",  "one object cannot be drawn"),
    (("--watch", "-o", "target=9"), 1, "target=9 has no effect with hands=2", "no match to draw"),
]
# fmt: on


@pytest.mark.parametrize(
    ("more", "code", "words", "why"), MISTAKES, ids=[row[-1] for row in MISTAKES]
)
def test_what_cannot_be_watched_is_said_and_nothing_is_drawn(more, code, words, why, tmp_path):
    outcome = arena(*PLAY, *more, "--data", tmp_path / "data")
    assert outcome.exit_code == code
    assert words in outcome.stderr
    assert outcome.stdout == ""
    assert not (tmp_path / "data").exists()


def test_a_bot_that_does_not_come_is_said_and_nothing_is_drawn(tmp_path):
    bot = tmp_path / "broken.py"
    bot.write_text("raise SystemExit('I cannot find my model')")
    outcome = arena("play", "abstrac", bot, BOT, "--watch", "--data", tmp_path / "data")
    assert outcome.exit_code == 1
    assert "before it said hello" in outcome.stderr
    assert outcome.stdout == ""
