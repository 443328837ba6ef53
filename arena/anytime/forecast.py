"""How many more deal-sets a decision needs, as far as those so far can tell."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

GROWTH_NEEDED: Final = 5.26
"""What the best stake has to grow to, as a logarithm, until the mean of all decides (α = 0.05).

Between ln 20, were all stakes as good, and ln 480, were all the others and the other side lost."""

_LARGEST_STAKE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Forecast:
    """Deal-sets that are still needed; None where the decision may never come."""

    likely: int | None
    """If the mean is what it was so far."""
    fewest: int | None
    """If it is a standard error further from zero."""
    most: int | None
    """If it is a standard error nearer to zero."""


def forecast(margins: Sequence[float], bound: float) -> Forecast:
    """How many more of such margins it takes until a bet decides."""
    number = len(margins)
    if number < 2:
        return Forecast(None, None, None)
    shares = np.asarray(margins, dtype=np.float64) / bound
    mean, variance = abs(float(shares.mean())), float(shares.var(ddof=1))
    error = math.sqrt(variance / number)

    def needed(mean: float) -> int | None:
        total = _needed(mean, variance)
        return None if math.isinf(total) else max(0, math.ceil(total - number))

    return Forecast(needed(mean), needed(mean + error), needed(mean - error))


def _needed(mean: float, variance: float) -> float:
    if mean <= 0.0:
        return math.inf
    square = variance + mean**2
    stake = min(mean / square, _LARGEST_STAKE)
    # What the logarithm of 1 + stake · margin comes to on average, to the second order.
    growth = stake * mean - stake**2 * square / 2
    return GROWTH_NEEDED / growth if growth > 0.0 else math.inf
