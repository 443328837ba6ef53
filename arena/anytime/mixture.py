"""Evidence on margins that no rule bounds: a mixture of t tests. It holds for normal margins.

For other shapes it is approximate, and whoever shows it says so. Effects, in standard deviations,
are drawn from a normal distribution around 0 with variance 1/c², and

    E = (1 + n/c²)^(-1/2) · ((1 + t²/ν) / (1 + t²/(ν (1 + n/c²))))^(n/2),    ν = n - 1

is how much likelier that makes the t statistic than no effect does (Gönen, Johnson, Lu and Westfall,
*The Bayesian two-sample t test*, The American Statistician 2005). For normal margins of any variance
it is a martingale (Wang and Ramdas, *Anytime-valid t-tests and confidence sequences for Gaussian means
with unknown variance*, 2025).
"""

import math
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

PRECISION: Final = 400.0
"""c²: effects of about a twentieth of a standard deviation are looked for.

A smaller one looks for larger effects, and is wrong more often where margins are skewed."""

_Array: TypeAlias = npt.NDArray[np.float64]


def log_e(margins: Sequence[float], *, precision: float = PRECISION) -> float:
    """The logarithm of E; 0 before two margins that differ."""
    values = np.asarray(margins, dtype=np.float64)
    if len(values) < 2:
        return 0.0
    return float(log_e_of(len(values), values.mean(), values.var(ddof=1), precision=precision))


def log_paths(margins: _Array, *, precision: float = PRECISION) -> _Array:
    """The logarithm of E after each column, for each row of margins."""
    number = np.arange(1.0, margins.shape[1] + 1.0)
    mean = margins.cumsum(axis=1) / number
    squares = (margins**2).cumsum(axis=1) - number * mean**2
    variance = np.maximum(squares, 0.0) / np.maximum(number - 1.0, 1.0)
    return log_e_of(number, mean, variance, precision=precision)


def log_e_of(
    number: float | _Array,
    mean: float | _Array,
    variance: float | _Array,
    *,
    precision: float = PRECISION,
) -> _Array:
    """The logarithm of E for so many margins of that mean and variance (with number - 1)."""
    number, mean, variance = (
        np.asarray(each, dtype=np.float64) for each in (number, mean, variance)
    )
    growth = 1.0 + number / precision
    freedom = np.maximum(number - 1.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = np.where(mean == 0.0, 0.0, number * mean**2 / variance)
        # (1 + t²/ν) / (1 + t²/(ν g)), written so that an infinite t gives g.
        ratio = growth * (freedom / squared + 1.0) / (growth * freedom / squared + 1.0)
    ratio = np.where(squared == 0.0, 1.0, ratio)
    found = -0.5 * np.log(growth) + 0.5 * number * np.log(ratio)
    told: _Array = np.where(number < 2.0, 0.0, found)
    return told


def interval(
    margins: Sequence[float], *, alpha: float, precision: float = PRECISION
) -> tuple[float, float]:
    """The means that E of the margins less that mean does not speak against.

    Infinite while there are too few margins for any mean to be ruled out.
    """
    values = np.asarray(margins, dtype=np.float64)
    number = len(values)
    if number < 2:
        return -math.inf, math.inf
    growth = 1.0 + number / precision
    # E >= 1/α where the ratio above is at least this; solved for t².
    needed = math.exp(2.0 / number * (-math.log(alpha) + 0.5 * math.log(growth)))
    if needed >= growth:
        return -math.inf, math.inf
    squared = (number - 1) * (needed - 1.0) / (1.0 - needed / growth)
    reach = math.sqrt(squared * float(values.var(ddof=1)) / number)
    mean = float(values.mean())
    return mean - reach, mean + reach
