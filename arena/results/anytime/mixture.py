"""Evidence from margins without a bound: a mixture of t tests, which is valid for normal margins.

For other distributions it is approximate, and outputs say so. The prior of the effect, in standard
deviations, is a normal distribution around 0 with variance 1/c², and

    E = (1 + n/c²)^(-1/2) · ((1 + t²/ν) / (1 + t²/(ν (1 + n/c²))))^(n/2),    ν = n - 1

is the Bayes factor of the t statistic against no effect (Gönen, Johnson, Lu and Westfall,
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
"""c², for effects of about a twentieth of a standard deviation.

A smaller value suits larger effects, and errs more often if margins are skewed."""

_Array: TypeAlias = npt.NDArray[np.float64]


def log_e(margins: Sequence[float], *, precision: float = PRECISION) -> float:
    """Return the logarithm of E; 0 for fewer than two margins."""
    values = np.asarray(margins, dtype=np.float64)
    if len(values) < 2:
        return 0.0
    return float(log_e_of(len(values), values.mean(), values.var(ddof=1), precision=precision))


def log_paths(margins: _Array, *, precision: float = PRECISION) -> _Array:
    """Return the logarithm of E after each column, for each row of margins."""
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
    """Return the logarithm of E for `number` margins of that mean and sample variance."""
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
    log_value = -0.5 * np.log(growth) + 0.5 * number * np.log(ratio)
    logarithm: _Array = np.where(number < 2.0, 0.0, log_value)
    return logarithm


def interval(
    margins: Sequence[float], *, alpha: float, precision: float = PRECISION
) -> tuple[float, float]:
    """Return the lowest and the highest mean that E does not reject.

    Both are infinite while there are too few margins to reject any mean.
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
