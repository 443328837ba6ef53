"""Forecasts how many more deal-sets a decision needs, from the deal-sets so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from arena.results.anytime.bet import LARGEST_STAKE

GROWTH_NEEDED: Final = 4.1
"""The growth of the best fixed bet at which E decides (α = 0.05), by simulation (`python -m tests.results.anytime forecast`).

At ln 80 = 4.38 the learning bet alone would decide if it staked the best share from the start.
"""

MOST_NEEDED: Final = 1_000_000
"""The largest forecast; it also stands for all larger numbers, which are too many to play."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Deal-sets that are still needed, at most `MOST_NEEDED`; None if there may never be a decision."""

    likely: int | None
    """The forecast if the mean does not change."""
    fewest: int | None
    """The forecast if the mean is a standard error further from zero."""
    most: int | None
    """The forecast if the mean is a standard error nearer to zero."""


def forecast(margins: Sequence[float], bound: float) -> Forecast:
    """Return how many more margins like these a bet needs to decide."""
    number = len(margins)
    if number < 2:
        return Forecast(None, None, None)
    shares = np.asarray(margins, dtype=np.float64) / bound
    mean, variance = abs(float(shares.mean())), float(shares.var(ddof=1))
    error = math.sqrt(variance / number)

    def needed(mean: float) -> int | None:
        total = _needed(mean, variance)
        return None if math.isinf(total) else max(0, math.ceil(min(total - number, MOST_NEEDED)))

    return Forecast(needed(mean), needed(mean + error), needed(mean - error))


def _needed(mean: float, variance: float) -> float:
    if mean <= 0.0:
        return math.inf
    square = variance + mean**2
    stake = min(mean / square, LARGEST_STAKE)
    # The mean of log(1 + stake · margin), to the second order.
    growth = stake * mean - stake**2 * square / 2
    return GROWTH_NEEDED / growth if growth > 0.0 else math.inf
