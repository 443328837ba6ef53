"""What common dice save: `python -m tests.results.dice [--deal-sets N]`.

Two versions of the house bot's policy differ in how often they play any legal move instead. They play deal-sets in
this process, once with common dice and once with dice of their own at each table. The deal-sets are then drawn again
with replacement, many times, until the test of `arena.results.anytime` calls the better version.
"""

import argparse
import sys
from random import Random
from statistics import median, stdev

import numpy as np

from arena.games.catalogue import game_by_id
from arena.house.bot import HouseBot
from arena.results.anytime.verdict import evidence_path
from cardarena import Ask, Choice, local

PAIRS = (
    ("sixty_six", 0.25, 0.30),
    ("klaberjass", 0.05, 0.12),
    ("klaberjass", 0.12, 0.25),
)
"""Games, and the chance of any move of the better and of the worse version."""
DECIDED = np.log(20.0)
HORIZON = 4000
"""Deal-sets after which an undecided run counts as this many."""


def version(blunder, table):
    """A bot that plays any move with this chance. Table 0 stands for common dice."""

    class Version(HouseBot):
        level = "sample"

        def move(self, ask: Ask) -> Choice:
            if table:
                ask._random = Random(ask.seed + bytes([table]))
            if ask.random.random() < blunder:
                return ask.random.choice(ask.moves)
            return super().move(ask)

    return Version


def margins(game, better, worse, deal_sets, *, common):
    """The margin of the better version in each deal-set, whose two tables have turned seats."""
    found = []
    for number in range(deal_sets):
        margin = 0.0
        for table in (1, 2):
            bots = [version(blunder, 0 if common else table) for blunder in (better, worse)]
            options, seed = {"hands": 2}, f"dice {number}"
            scores = local.play(
                game, bots if table == 1 else bots[::-1], options=options, seed=seed
            ).scores
            margin += (scores[0] - scores[1]) * (1 if table == 1 else -1) / 2
        found.append(margin)
    return found


def until_called(found, bound, runs, rng):
    """The median number of deal-sets after which a run decides, and the share of runs that decide wrongly."""
    ends, wrong = [], 0
    for _ in range(runs):
        drawn = rng.choice(found, HORIZON)
        reached = np.flatnonzero(evidence_path(drawn, bound) >= DECIDED)
        ends.append(int(reached[0]) + 1 if len(reached) else HORIZON)
        wrong += bool(len(reached)) and drawn[: ends[-1]].sum() < 0
    return median(ends), wrong / runs


def main():
    """Print a row for each pair of versions."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.results.dice", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--deal-sets", type=int, default=2000, metavar="N", help="for each row (2000)"
    )
    parser.add_argument(
        "--runs", type=int, default=400, metavar="N", help="draws of each row (400)"
    )
    arguments = parser.parse_args()
    for game, better, worse in PAIRS:
        options = game_by_id(game).options({"hands": 2}, 2)
        bound = game_by_id(game).margin_bound(options, 2)
        for common in (False, True):
            found = margins(game, better, worse, arguments.deal_sets, common=common)
            _called, _wrong = until_called(found, bound, arguments.runs, np.random.default_rng(27))
            stdev(found) / len(found) ** 0.5
    return 0


if __name__ == "__main__":
    sys.exit(main())
