"""A climb: upward until a rung is not beaten, and on from what was kept."""

import contextlib
import json
import sys
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from arena.api.comparisons import verdict_message
from arena.app.climbing import CHAMPIONS, climb, rungs_of
from arena.cli import main
from arena.cli.climb import print_climb
from arena.games.catalogue import game_by_id
from arena.referee.terms import MatchTerms
from arena.results.anytime.verdict import Decision, verdict
from arena.sandbox.command import SAMPLE_BOTS, BotCommand

GAME = game_by_id("sixty_six")
BLOCK = 16


class Killed(Exception):
    """The process of a climb ends."""


@pytest.fixture
def climbed(tmp_path):
    """Climbs with a stub in place of matches; returns the results, and what was played: rung, and deal-sets before."""
    file = tmp_path / "bot.py"
    file.write_text("1")

    def run(
        margins, *, most=64, killed_after=None, stopped_at=None, seed=None, seats=2, content=None
    ):
        file.write_text(content or "1")
        played, blocks = [], 0

        def play(comparison, commands, *, most, record, on_verdict):
            nonlocal blocks
            name = commands[1].name
            played.append((name, len(record.margins), comparison.each_other))
            while True:
                so_far = verdict(record.margins, comparison.measure.bound)
                on_verdict(so_far)
                if so_far.decision is not Decision.OPEN or len(record.margins) >= most:
                    break
                if blocks == killed_after:
                    raise Killed
                blocks += 1
                record.margins += [margins[name]] * BLOCK
                if len(record.margins) == stopped_at:  # by Ctrl-C before the block is kept
                    so_far = verdict(record.margins, comparison.measure.bound)
                    break
            return verdict_message(so_far, comparison.first, name, limit=most)

        terms = MatchTerms(GAME, GAME.options({"hands": 2}, 2), 2)
        bot = BotCommand("my", (sys.executable, str(file)))
        rungs = {name: BotCommand(name, (sys.executable, "-c", name)) for name in margins}
        options = {"most": most, "seed": seed, "on_verdict": lambda *_: None}
        reached = []
        with contextlib.suppress(Killed):
            reached += climb(bot, rungs, terms, tmp_path, play, **options)
        return reached, played

    return run


# fmt: off
CLIMBS = [
    # margins against rungs a, b, c            rungs that are compared   beaten      why
    ({"a": 5.0, "b": 5.0, "c": 5.0},           "abc",                    "abc",      "it is better than all"),
    ({"a": 5.0, "b": 0.0, "c": 5.0},           "ab",                     "a",        "nothing is decided against b"),
    ({"a": 5.0, "b": -5.0, "c": 5.0},          "ab",                     "a",        "it is worse than b"),
    ({"a": -5.0, "b": 5.0, "c": 5.0},          "a",                      "",         "it is worse than the lowest"),
]
# fmt: on


@pytest.mark.parametrize(
    ("margins", "compared", "beaten", "_why"), CLIMBS, ids=[row[-1] for row in CLIMBS]
)
def test_it_plays_upward_until_a_rung_is_not_beaten(climbed, margins, compared, beaten, _why):
    reached, _ = climbed(margins)
    assert "".join(rung.name for rung in reached) == compared
    assert "".join(rung.name for rung in reached if rung.is_beaten) == beaten


# fmt: off
LONGER = [
    # margin of each deal-set, of at most 6   deal-sets     beaten  why
    (0.15,                                    (144, 192),   True,   "by the bound it needs about 175, fewer than four times 64"),
    (0.1,                                     (64, 64),     False,  "it would need more than four times as many"),
    (-0.15,                                   (64, 64),     False,  "a bot that is behind gets no more"),
    (0.0,                                     (64, 64),     False,  "nor one that is equal"),
]
# fmt: on


@pytest.mark.parametrize(
    ("margin", "between", "beaten", "_why"), LONGER, ids=[row[-1] for row in LONGER]
)
def test_a_bot_that_is_ahead_gets_the_deal_sets_that_it_likely_needs(
    climbed, margin, between, beaten, _why
):
    (rung,), _ = climbed({"a": margin}, most=64)
    assert between[0] <= len(rung.margins) <= between[1]
    assert rung.is_beaten == beaten


def test_a_climb_that_lost_no_deal_set_announces_nothing_to_look_at(climbed, capsys):
    reached, _ = climbed({"a": 0.0})
    print_climb({rung.name: rung.result for rung in reached}, ["a"], GAME, [])
    assert "It is not decided against a, and lost no deal-set to it.\n" in capsys.readouterr().out


MARGINS = {"a": 5.0, "b": 1.0, "c": 0.0}


def test_a_killed_climb_goes_on_after_its_last_block(climbed):
    whole, played = climbed(MARGINS, seed="other")
    blocks = sum(len(rung.margins) for rung in whole) // BLOCK
    for _ in range(blocks):
        climbed(MARGINS, killed_after=1)
    after, replayed = climbed(MARGINS)
    assert [(rung.name, rung.margins) for rung in after] == [
        (rung.name, rung.margins) for rung in whole
    ]
    assert {before for _, before, _ in played} == {0}
    assert [before for _, before, _ in replayed] == [len(rung.margins) for rung in whole], (
        "and nothing was played twice"
    )


@pytest.mark.parametrize("stopped_at", [16, 32])
def test_a_climb_that_was_stopped_plays_no_other_rung(climbed, stopped_at):
    """At 16 deal-sets the rung is decided, at 32 of the next it is not."""
    with pytest.raises(KeyboardInterrupt):
        climbed({"a": 5.0, "b": 0.5, "c": 5.0}, stopped_at=stopped_at)
    reached, _ = climbed({"a": 5.0, "b": 0.5, "c": 5.0})
    assert "".join(rung.name for rung in reached)[:2] == "ab"


# fmt: off
AGAIN = [
    ({},                  True,  "the same climb shows what was played"),
    ({"seed": "other"},   False, "another seed is another climb"),
    ({"content": "2"},    False, "a changed bot begins anew"),
]
# fmt: on


@pytest.mark.parametrize(("changed", "goes_on", "_why"), AGAIN, ids=[row[-1] for row in AGAIN])
def test_a_climb_is_known_by_its_bot_and_seed(climbed, changed, goes_on, _why):
    climbed(MARGINS)
    _, played = climbed(MARGINS, **changed)
    assert (played[0][1] > 0) == goes_on


def test_more_deal_sets_go_on_from_those_that_were_played(climbed):
    climbed(MARGINS, most=64)
    reached, played = climbed(MARGINS, most=128)
    assert played[-1][:2] == ("c", 64)
    assert len(reached[-1].margins) == 128


def test_champions_are_the_highest_rungs(tmp_path):
    folder = tmp_path / CHAMPIONS / GAME.id
    folder.mkdir(parents=True)
    (folder / "ann.py").touch()
    (folder / "bob").mkdir()
    levels = ["random", "first", "sample", "search-20ms", "search-200ms"]
    assert [*rungs_of(GAME, tmp_path)] == [*levels, "ann", "bob"]
    assert [*rungs_of(game_by_id("jam"), tmp_path)] == levels


def climb_here(tmp_path, *options):
    bot = SAMPLE_BOTS / "first_bot.py"
    given = ["climb", str(bot), "--game", "sixty_six", "--in-process", "--seed", "s", *options]
    return CliRunner().invoke(main, [*given, "--data", str(tmp_path)])


def test_the_command_says_which_rung_and_what_to_look_at(tmp_path):
    done = climb_here(tmp_path, "--deal-sets", "2")
    assert done.exit_code == 0, done.output
    assert "first is on rung 0 of 5." in done.stdout
    badge = tmp_path / "rung.svg"
    again = climb_here(tmp_path, "--deal-sets", "2", "--json", "--badge", str(badge))
    assert "Sixty-Six: rung 0 of 5" in ET.parse(badge).getroot().attrib["aria-label"]
    values = json.loads(again.stdout)
    assert (values["rung"], len(values["ladder"]), values["rungs"][0]["name"]) == (
        None,
        5,
        "random",
    )
    assert values["look_at"][-1].startswith("arena match why last first ")
    assert values["look_at"][0] in done.stdout
