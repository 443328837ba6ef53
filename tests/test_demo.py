"""`scripts/demo` plays every game with the bot that is made for it, and its ladder works."""

import importlib.util
import subprocess
import sys
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


@pytest.mark.slow
def test_the_story_is_told_to_its_end(tmp_path):
    command = [
        sys.executable,
        str(SCRIPT),
        "--data",
        str(tmp_path / "demo"),
        "--games",
        "jam",
        "loo",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    story = ["2 games are played", "Game by game", "And a ladder", "Ann is invited", "deal-sets of my-bot@1", "improves", "Is it better?", "deal-sets of my-bot@2", "Played in"]  # fmt: skip
    at = [done.stdout.index(each) for each in story]
    assert at == sorted(at)
