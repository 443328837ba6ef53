"""`scripts/demo` has a plan for every game with the bot that is made for it. `scripts/bare-tree` runs it to its end."""

import importlib.util
import itertools
import sys
from pathlib import Path

import pytest

from arena.contests.plan import read_plan
from cardarena.v1 import competitions_pb2 as messages

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "demo.py"
_spec = importlib.util.spec_from_file_location("demo", SCRIPT)
demo = importlib.util.module_from_spec(_spec)
sys.modules["demo"] = demo  # dataclasses look it up
_spec.loader.exec_module(demo)


@pytest.mark.parametrize("game", demo.GAMES, ids=lambda game: game[0])
def test_a_plan_is_one_of_bots_that_exist(game):
    plan = read_plan(demo.plan_of(*game, "demo"))
    assert len(plan.bots) >= plan.games[0].seats
    assert all(Path(bot.command).is_file() for bot in plan.bots.values())


def test_the_ladder_is_one():
    assert read_plan(demo.LADDER_PLAN).format is None


# fmt: off
STORIES = [
    # deal-sets         place  above  true   reason
    (demo.ENOUGH,     3,     None,  True,  "a newcomer is beaten"),
    (demo.ENOUGH - 1, 3,     None,  False, "it has played too little"),
    (demo.ENOUGH,     2,     None,  False, "a newcomer is not the last"),
    (demo.ENOUGH,     None,  None,  False, "it has no place yet"),
    (demo.ENOUGH,     1,     3,     True,  "the improved version rises"),
    (demo.ENOUGH,     3,     3,     False, "the improved version stays where it was"),
]
# fmt: on


@pytest.mark.parametrize(
    ("deal_sets", "place", "above", "is_true", "why"), STORIES, ids=[row[-1] for row in STORIES]
)
def test_the_story_is_true_if(deal_sets, place, above, is_true, why):
    assert demo.Place(deal_sets, place, last=3).is_as(above) == is_true


def row(bot, place, deal_sets=demo.ENOUGH):
    return {"bot": bot, "deal_sets": deal_sets, "place": place}


ROWS = [row("sample", 1), row("random", 2), row("my-bot@2", 3), row("my-bot@1", None)]


def test_the_place_of_a_version_is_among_those_that_have_one():
    standings = {"games": [{"rows": ROWS}]}
    assert demo.place_of(standings, "my-bot@2") == demo.Place(demo.ENOUGH, 3, last=3)
    assert demo.place_of(standings, "my-bot@1") == demo.Place(demo.ENOUGH, None, last=3)
    assert demo.place_of(standings, "my-bot@3") == demo.Place(last=3)


class SlowLadder:
    """In place of the arena: each time it runs, a batch is drawn, of which the newcomer plays `share`."""

    def __init__(self, share):
        self.share, self.batches, self.runs = share, 0, False
        self.actions = []

    def begin(self):
        self.runs = True

    def control(self, name, action):
        self.runs = action == messages.COMPETITION_ACTION_RESUME
        self.actions.append(action)

    def show(self, name):
        self.batches += self.runs
        game = messages.CompetitionGame(complete=self.batches * demo.BATCH)
        return messages.CompetitionInfo(games=[game])

    def standings(self, name):
        deal_sets = self.batches * self.share
        return {"games": [{"rows": [row("sample", 1), row("my-bot@1", 2, deal_sets)]}]}


# fmt: off
SHARES = [
    # of a batch       batches  true   reason
    (demo.ENOUGH,      1,       True,  "one batch is enough"),
    (demo.ENOUGH // 3, 3,       True,  "others play more than the newcomer: the ladder plays on"),
    (0,                None,    False, "it never plays: time is up"),
]
# fmt: on


@pytest.mark.parametrize(
    ("share", "batches", "is_true", "why"), SHARES, ids=[row[-1] for row in SHARES]
)
def test_the_ladder_plays_until_the_newcomer_has_its_place(
    share, batches, is_true, why, monkeypatch
):
    seconds = itertools.count()
    monkeypatch.setattr(demo.time, "monotonic", lambda: float(next(seconds)))
    monkeypatch.setattr(demo.time, "sleep", lambda _: None)
    ladder = SlowLadder(share)
    place = demo.climb(ladder, ladder.begin, "my-bot@1", None)
    assert place.is_as(None) == is_true
    assert batches in {None, ladder.batches}
    assert ladder.actions[-1] == messages.COMPETITION_ACTION_PAUSE
