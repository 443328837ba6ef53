"""How often each way to compare two bots errs, and how long it takes: `python -m tests.results.anytime`.

`null` has the share of comparisons of equals that are decided at any look, `power` the median of
deal-sets until a true difference is found, `forecast` how near the promise of what is still needed
comes. Every table is a function of its seed.
"""

import argparse
import math
import sys

import numpy as np

from arena.results.anytime.forecast import forecast
from tests.results.anytime.real_margins import GAMES, margins_of
from tests.results.anytime.simulated import (
    LOOKS,
    NULLS,
    contaminated,
    errors,
    fixed_number,
    median_needed,
    t_mixture,
    the_bet,
)

UNTIL = (100, 1_000, 5_000)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tests.results.anytime", description=__doc__)
    parser.add_argument("table", choices=["null", "power", "forecast"])
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--games", action="store_true", help="null: margins of real games as well")
    given = parser.parse_args(argv)
    write = sys.stdout.write
    {"null": null, "power": power, "forecast": forecasts}[given.table](given, write)


def null(given, write):
    write(f"|null margins |{' |'.join(LOOKS)} |\n|---|{'---|' * len(LOOKS)}\n")
    for name, draw in NULLS.items():
        null_row(given, write, name, draw, 12.0)
    for game in GAMES if given.games else ():
        margins, bound = margins_of(game, 400)
        spread = float(np.std(margins))
        null_row(given, write, game, signed(margins / spread), bound / spread)


def null_row(given, write, name, draw, bound):
    cells = []
    for look in LOOKS.values():
        found = errors(draw, look, runs=given.runs, until=UNTIL, seed=given.seed, bound=bound)
        cells.append("/".join(f"{100 * share:.1f}" for share in found.shares))
    write(f"|{name} |{' |'.join(cells)} |\n")


def signed(margins):
    """Draws from margins that were played, each for the one or the other by lot."""

    def draw(rng, shape):
        return rng.choice(margins, shape) * rng.choice([-1.0, 1.0], shape)

    return draw


def power(given, write):
    bounds = (6.0, 12.0, 16.0, 40.0)
    heads = "".join(f"bet, L = {bound:g} sd |" for bound in bounds)
    write(
        f"|sd |fixed n, 80 % (90 %) |t mixture, c² = 400 |{heads}\n|---|---|---|---|---|---|---|\n"
    )
    for effect in (0.05, 0.1, 0.2, 0.4):
        cells = [f"{fixed_number(effect, 0.8416):,} ({fixed_number(effect, 1.2816):,})"]
        ways = [(t_mixture(400.0), 40.0), *((the_bet, bound) for bound in bounds)]
        for look, bound in ways:
            # Margins are cut at each bound; the mixture's, which has none, at the widest.
            found = median_needed(
                contaminated,
                look,
                effect,
                runs=given.runs,
                longest=5_000,
                seed=given.seed,
                bound=bound,
            )
            cells.append("> 5,000" if math.isinf(found) else f"{found:,.0f}")
        write(f"|{effect:g} |{' |'.join(cells)} |\n")


def forecasts(given, write):
    write("|sd |after |median promised |median needed |within the band |\n|---|---|---|---|---|\n")
    for effect, after in ((0.1, 200), (0.1, 400), (0.2, 100), (0.05, 100), (0.05, 1_000)):
        promised, needed, held = [], [], []
        for run in range(given.runs):
            rng = np.random.default_rng([given.seed, run])
            margins = contaminated(rng, (1, 20_000)).clip(-12, 12)[0] + effect
            margins = margins.clip(-12, 12)
            crossed = the_bet(margins[None, :], 12.0)[0]
            if crossed[:after].any():
                continue
            total = int(crossed.argmax()) + 1 if crossed.any() else math.inf
            found = forecast(margins[:after], 12.0)
            low, most = found.fewest, found.most
            promised.append(math.inf if found.likely is None else found.likely)
            needed.append(total - after)
            held.append(low is not None and low <= total - after <= (most or math.inf))
        write(
            f"|{effect:g} |{after:,} |{np.median(promised):,.0f} |{np.median(needed):,.0f} "
            f"|{100 * np.mean(held):.0f} % |\n"
        )


if __name__ == "__main__":
    sys.exit(main())
