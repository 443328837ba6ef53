"""`scripts/demo` has a plan for every game with the bot that is made for it. `scripts/bare-tree` runs it to its end."""

import contextlib
import importlib.util
import json
from pathlib import Path

import pytest

from arena.contests.plan import read_plan

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


class Standings:
    """In place of the commands: the ladder has the same rows however long one waits."""

    def __init__(self, *rows):
        self.rows = rows

    def __call__(self, *words, show=True, **_):
        return json.dumps({"standings": {"games": [{"rows": self.rows}]}})


def row(deal_sets, place, bot=f"{demo.BOT}@1"):
    return {"bot": bot, "deal_sets": deal_sets, "place": place}


# fmt: off
ENDS = [
    # rows                                     said                           is placed  reason
    ([row(demo.ENOUGH, 2)],                    f"After {demo.ENOUGH} deal-sets of", True,  "it has played enough"),
    ([row(1, 3)],                              "After 1 deal-set of",              True,  "it has played one, on a slow machine"),
    ([row(9, None)],                           "After 9 deal-sets of",             False, "it has no place"),
    ([row(9, 1, "sample")],                    "After 0 deal-sets of",             False, "it is not in the standings"),
]
# fmt: on


@pytest.mark.parametrize(
    ("rows", "said", "placed", "reason"), ENDS, ids=[each[-1] for each in ENDS]
)
def test_the_ladder_fails_where_the_newcomer_is_not_placed(
    rows, said, placed, reason, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(demo, "PATIENCE_S", 0.01)
    monkeypatch.setattr(demo.time, "sleep", lambda _: None)
    ladder = demo.Ladder(Standings(*rows), tmp_path / "ladder")
    with contextlib.nullcontext() if placed else pytest.raises(demo.Failed, match="has no place"):
        ladder._show_standings(f"{demo.BOT}@1")
    assert said in capsys.readouterr().out
