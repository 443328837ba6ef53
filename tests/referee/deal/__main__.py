"""Tests shuffles with fresh seeds: `python -m tests.referee.deal --fresh`.

A test with a chance below 1 in 10,000 is repeated with another seed; if it is
as bad again, the shuffle is not uniform and the exit code is 1. Each control
must be caught.
"""

import argparse
import os
import sys

from arena.referee.deal.streams import shuffled
from tests.referee.deal.uniformity import FAILS, TESTS, UNIFORM, named

SUSPICIOUS = 1e-4


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.referee.deal", description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="draw a seed, instead of `fixed`")
    parser.add_argument("--seed", help="this seed, to repeat a run")
    parser.add_argument(
        "--times", type=int, default=1, help="so many times the samples of scripts/test"
    )
    given = parser.parse_args(argv)
    seed = given.seed or (os.urandom(8).hex() if given.fresh else "fixed")
    write = sys.stdout.write
    write(f"seed {seed}\n")
    failed = False
    for name, (test, samples) in UNIFORM.items():
        chances = [test(shuffled, seed, samples * given.times)]
        if chances[0] < SUSPICIOUS:
            chances.append(test(shuffled, f"{seed} again", samples * given.times))
        bad = chances[-1] < SUSPICIOUS
        failed |= bad
        told = ", again ".join(f"p {chance:.2g}" for chance in chances)
        write(f"{'NOT UNIFORM' if bad else 'uniform':<12} {name}: {told}\n")
    for test, _, control, samples in TESTS:
        chance = test(control, seed, samples * given.times)
        caught = chance < FAILS
        failed |= not caught
        word = "caught" if caught else "NOT CAUGHT"
        write(f"{word:<12} {named(control)}, by {named(test)}: p {chance:.2g}\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
