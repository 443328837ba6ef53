"""What tables of house bots alone are worth in a ladder's deal-sets with remote bots.

    python -m bench.house_tables

Deal-sets are played by dice: each bot sits at one table, house bots fill the last one, and further tables have house
bots only. These tell the luck of the boards, and nothing of a bot. Skills are fitted by `arena.results.margin_fit`, as
in the standings. The error is that of the newcomer's skill, as a root mean square over all runs. *For one match* is
the error times the root of the matches played: the error after as many matches as if one were played, which compares
plans for the same time of the machine. *For one deal-set* compares them for the same time of the newcomer's seat.
"""

import math
from typing import Final

import click
import numpy as np

from arena.contests.timetable import CROSS_TABLES
from arena.results.deal_sets import HOUSE
from arena.results.margin_fit import MatchScores, NotComparable, fit
from arena.results.ranking import par_players

LUCK: Final = 5.0
"""Standard deviation of a seat's cards, where that of a bot's noise is 1."""
SKILLS: Final = 0.5
"""Standard deviation of the bots' skills."""


def error(bots: int, seats: int, tables: int, deal_sets: int, seed: int) -> float | None:
    """Return the error of the newcomer's skill on one ladder; None if the bots cannot be compared."""
    rng = np.random.default_rng([bots, seats, tables, seed])
    names = [f"bot{number}" for number in range(bots)]
    skill = dict(zip(names, rng.normal(0.0, SKILLS, bots), strict=True)) | {HOUSE: 0.0}
    played = []
    for _ in range(deal_sets):
        seated = [names[at] for at in rng.permutation(bots)]
        seated += [HOUSE] * (tables * seats - bots)
        cards = rng.normal(0.0, LUCK, seats)
        rows = []
        for table in range(tables):
            own = seated[table * seats : (table + 1) * seats]
            scores = [
                skill[bot] + cards[seat] + rng.normal() * math.sqrt(seats / 2)
                for seat, bot in enumerate(own)
            ]
            rows.append(MatchScores(par_players(own, names, {HOUSE}), tuple(scores)))
        played.append(tuple(rows))
    try:
        fitted = fit(played, excluded={HOUSE})
    except NotComparable:
        return None
    mean = sum(skill[name] for name in names) / bots
    return float(fitted.skill(names[0]).value - (skill[names[0]] - mean))


@click.command()
@click.option("--runs", default=400)
@click.option("--deal-sets", default=40)
def main(runs: int, deal_sets: int) -> None:
    """Print a row for each number of bots and of tables of the house alone."""
    print("| seats | bots | tables | of the house alone | for one match | for one deal-set |")
    print("|---|---|---|---|---|---|")
    for seats, numbers in ((2, (2, 3, 4, 5, 6, 8)), (4, (4, 6, 10))):
        for bots in numbers:
            with_bots = math.ceil(bots / seats)
            for tables in range(with_bots, CROSS_TABLES + 1):
                errors = [error(bots, seats, tables, deal_sets, seed) for seed in range(runs)]
                known = [each for each in errors if each is not None]
                cells = ["cannot be compared"] * 2
                if known:
                    root = math.sqrt(np.mean(np.square(known)))
                    one = root * math.sqrt(deal_sets)
                    spread = 1.0 / math.sqrt(2 * len(known))
                    cells = [
                        f"{each:.2f} ± {each * spread:.2f}"
                        for each in (one * math.sqrt(tables), one)
                    ]
                print(
                    f"| {seats} | {bots} | {tables} | {tables - with_bots} | {cells[0]} | {cells[1]} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
