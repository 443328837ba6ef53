"""`scripts/demo` has a plan for every game with the bot that is made for it. `scripts/bare-tree` runs it to its end."""

import importlib.util
from pathlib import Path

import pytest

from arena.competition.plan import read_plan

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "demo.py"
_spec = importlib.util.spec_from_file_location("demo", SCRIPT)
demo = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(demo)


@pytest.mark.parametrize("game", demo.GAMES, ids=lambda game: game[0])
def test_a_plan_is_one_of_bots_that_exist(game):
    plan = read_plan(demo.plan_of(*game, "demo"))
    assert len(plan.bots) >= plan.games[0].seats
    assert all(Path(bot.command).is_file() for bot in plan.bots.values())


def test_the_ladder_is_one():
    assert read_plan(demo.LADDER_PLAN).format is None
