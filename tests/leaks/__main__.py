"""The leak gate from the command line: `scripts/leakcheck [--long] [GAME...]`."""

import argparse
import sys
import time

from arena.games.catalogue import GAMES
from tests.leaks.cases import cases
from tests.leaks.test_leaks import MAX_SKIP_RATE, NOTHING_HIDDEN
from tests.leaks.worlds import gate

SHORT_PAIRS, LONG_PAIRS = 20, 200


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/leakcheck",
        description="Compare pairs of worlds that a seat cannot tell apart, byte for byte.",
        epilog="Examples: scripts/leakcheck jam    scripts/leakcheck --long",
    )
    parser.add_argument("games", nargs="*", metavar="GAME", help="games; all if none is named")
    parser.add_argument(
        "--long",
        action="store_true",
        help=f"every number of seats, {LONG_PAIRS} pairs for each seat and phase",
    )
    given = parser.parse_args()
    known = [game.id for game in GAMES]
    for name in given.games:
        if name not in known:
            parser.error(f"there is no game {name!r}; the games are: {', '.join(known)}")
    failed = False
    for name, game, seats, options in cases(every_seat_count=given.long):
        if given.games and game.id not in given.games:
            continue
        if game.id in NOTHING_HIDDEN:
            print(f"{name}: nothing is hidden")
            continue
        began = time.monotonic()
        wanted = LONG_PAIRS if given.long else SHORT_PAIRS
        tally = gate(game, options, seats, pairs=wanted, worlds=max(4, wanted // 10))
        fewest = min(tally.pairs.values())
        ok = not tally.differences and tally.skip_rate < MAX_SKIP_RATE
        failed |= not ok
        print(
            f"{name}: {tally.pairs.total()} pairs, at least {fewest} for each seat and phase, "
            f"{tally.skip_rate:.0%} skipped, {len(tally.differences)} differences, "
            f"{time.monotonic() - began:.1f} s",
            flush=True,
        )
        for difference in tally.differences[:3]:
            print(f"  LEAK {difference}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
