"""Ladders by dice: `python -m tests.contests ladders`.

Says for each way of pairing and number of seats how many of the table's 95 % intervals hold the truth.
"""

import argparse
import sys

import numpy as np

from tests.contests.ladders import by_nearest_rating, by_uncertainty, play


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.contests", description=__doc__)
    parser.add_argument("what", choices=["ladders"])
    parser.add_argument("--ladders", type=int, default=1_000, help="of each number of seats")
    parser.add_argument("--seats", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--bots", type=int, default=16)
    parser.add_argument("--deal-sets", type=int, default=40, help="of each bot")
    given = parser.parse_args(argv)
    write = sys.stdout.write
    write(
        "|seats |pairing |ladders |coverage |Kendall τ |served, most less least |own bots met |\n"
    )
    write("|---|---|---|---|---|---|---|\n")
    for seats in given.seats:
        for pair, ladders in (
            (by_uncertainty, given.ladders),
            (by_nearest_rating, given.ladders // 10),
        ):
            played = [
                play(
                    number,
                    bots=given.bots,
                    seats=seats,
                    deal_sets_a_bot=given.deal_sets,
                    pair=pair,
                )
                for number in range(max(1, ladders))
            ]
            spread = max(max(each.served) - min(each.served) for each in played)
            write(
                f"|{seats} |{pair.__name__.replace('_', ' ')} |{len(played):,} "
                f"|{np.mean([each.held for each in played]):.1%} "
                f"|{np.mean([each.tau for each in played]):.2f} |{spread} "
                f"|{sum(each.own_meetings for each in played)} |\n"
            )


if __name__ == "__main__":
    sys.exit(main())
