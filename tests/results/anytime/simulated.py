"""Margins of known truth, and every way to look at them: how often it errs, how long it takes.

A way to look is a function of margins, a row for each run in units of their standard deviation, and
of the bound. It says for each run and number of deal-sets whether that would decide.
"""

import math
from dataclasses import dataclass

import numpy as np

from arena.results.anytime import bet, mixture

FIRST_LOOK = 10
BOUND_SD = 12.0
"""Margins are bounded by so many standard deviations; where tails are longer, they are cut there."""

Z = 1.959963984540054  # the normal distribution's 97.5th percentile


# Margins of two equals, with a standard deviation of 1.


def normal(rng, shape):
    return rng.standard_normal(shape)


def heavy(rng, shape):
    """Student's t with 2.1 degrees of freedom."""
    return rng.standard_t(2.1, shape) / math.sqrt(2.1 / 0.1)


def contaminated(rng, shape):
    """One in a hundred is ten times as wide."""
    wide = np.where(rng.random(shape) < 0.01, 10.0, 1.0)
    return rng.standard_normal(shape) * wide / math.sqrt(0.99 + 0.01 * 100.0)


def lognormal(rng, shape):
    """Skewed to one side, the mean 0 also after the cut."""
    spread = math.sqrt((math.e - 1.0) * math.e)
    cut = BOUND_SD * spread
    below = 0.5 * (1.0 + math.erf((math.log(cut) - 1.0) / math.sqrt(2.0)))
    above = 0.5 * math.erfc(math.log(cut) / math.sqrt(2.0))
    mean = math.exp(0.5) * below + cut * above
    return (np.minimum(np.exp(rng.standard_normal(shape)), cut) - mean) / spread


def jackpots(rng, shape):
    """Noise, and one time in two hundred ten times as much for one side."""
    won = 10.0 * ((rng.random(shape) < 0.005) - 0.005)
    return (rng.standard_normal(shape) + won) / math.sqrt(1.0 + 100.0 * 0.005 * 0.995)


def long_shot(rng, shape):
    """One time in a hundred 99 points, else -1."""
    return np.where(rng.random(shape) < 0.01, 99.0, -1.0) / math.sqrt(99.0)


NULLS = {
    "normal": normal,
    "t, 2.1 d.f.": heavy,
    "1 % ten times wider": contaminated,
    "lognormal, mean 0": lognormal,
    "noise + 0.5 % jackpots": jackpots,
    "1 % win 99-fold": long_shot,
}


# Ways to look.


def peeked_t(margins, bound):
    """Student's t test at 5 %, repeated after every deal-set: the control, which must fail."""
    number, mean, variance = running(margins)
    freedom = np.maximum(number - 1.0, 1.0)
    # Cornish and Fisher: from nine degrees of freedom on, within 0.001 of the percentile.
    limit = Z + (Z**3 + Z) / (4 * freedom) + (5 * Z**5 + 16 * Z**3 + 3 * Z) / (96 * freedom**2)
    return number * mean**2 > limit**2 * variance


def asymptotic(margins, bound):
    """The asymptotic confidence sequence, tightest at 500 deal-sets (Waudby-Smith et al. 2021)."""
    number, mean, variance = running(margins)
    scale = (-2 * math.log(0.05) + math.log(-2 * math.log(0.05) + 1)) / 500
    growth = number * scale + 1
    reach = 2 * growth / (number**2 * scale) * np.log(np.sqrt(growth) / 0.05)
    return mean**2 > variance * reach


def t_mixture(precision):
    def look(margins, bound):
        return mixture.log_paths(margins, precision=precision) >= math.log(20.0)

    look.__name__ = f"t_mixture_{precision:g}"
    return look


def the_bet(margins, bound):
    return bet.log_paths(margins.clip(-bound, bound) / bound) >= math.log(20.0)


LOOKS = {
    "t, peeked": peeked_t,
    "asymptotic CS": asymptotic,
    "t mixture, c² = 100": t_mixture(100.0),
    "t mixture, c² = 400": t_mixture(400.0),
    "bet": the_bet,
}


def running(margins):
    """Number, mean and variance after each column."""
    number = np.arange(1.0, margins.shape[1] + 1.0)
    mean = margins.cumsum(axis=1) / number
    squares = (margins**2).cumsum(axis=1) - number * mean**2
    return number, mean, np.maximum(squares, 0.0) / np.maximum(number - 1.0, 1.0)


@dataclass(frozen=True)
class Errors:
    """Runs between equals that were decided, by when."""

    runs: int
    decided: tuple[int, ...]

    @property
    def shares(self):
        return tuple(count / self.runs for count in self.decided)


def errors(draw, look, *, runs, until, seed, bound=BOUND_SD, batch=100):
    """How many of `runs` runs between equals are decided at any look up to each of `until`."""
    decided = np.zeros(len(until), dtype=int)
    for at in range(0, runs, batch):
        rng = np.random.default_rng([seed, at])
        margins = draw(rng, (min(batch, runs - at), until[-1])).clip(-bound, bound)
        crossed = look(margins, bound)
        crossed[:, : FIRST_LOOK - 1] = False
        decided += [int(crossed[:, :last].any(axis=1).sum()) for last in until]
    return Errors(runs, tuple(map(int, decided)))


def median_needed(draw, look, effect, *, runs, longest, seed, bound, batch=100):
    """The median of deal-sets until `look` decides for who is better; infinite beyond `longest`."""
    needed = []
    for at in range(0, runs, batch):
        rng = np.random.default_rng([seed, at])
        margins = draw(rng, (min(batch, runs - at), longest)) + effect
        crossed = look(margins.clip(-bound, bound), bound)
        crossed[:, : FIRST_LOOK - 1] = False
        first = np.where(crossed.any(axis=1), crossed.argmax(axis=1) + 1.0, math.inf)
        needed.extend(first)
    return float(np.median(needed))


def fixed_number(effect, power_z):
    """Deal-sets of a test at 5 % that is looked at once."""
    return math.ceil(((Z + power_z) / effect) ** 2)
