"""Simultaneous intervals, which hold for all bots of official standings at once with a probability of 95 %.

Twenty 95 % intervals hold together with a much smaller probability. The width of simultaneous intervals depends
on the covariance of the errors. So errors are drawn from the fit's covariance 20,000 times, and the 95th
percentile of the largest error, in units of its standard error, replaces 1.96. Each bot keeps its own degrees
of freedom: the probability of that percentile is looked up in the bot's t distribution.

The draws follow from a seed, and from a bit generator that NumPy keeps stable. The percentile is rounded up, so
that rounding errors of different machines make no difference.
"""

import math
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.results.deal_sets import digest
from arena.results.margin_fit import CONFIDENCE, MarginFit, Score

DRAWS: Final = 20_000

_ROUNDED: Final = 1_000  # parts of a standard error
_ZERO: Final = 1e-12

_Array: TypeAlias = npt.NDArray[np.float64]


def half_widths(
    fitted: MarginFit, scores: Sequence[Score], *, seed: str
) -> tuple[float | None, ...]:
    """Return the ± of each score's interval; None if the deal-sets are too few to estimate it."""
    estimates = fitted.scores(scores)
    known = [
        score
        for score, estimate in zip(scores, estimates, strict=True)
        if estimate.standard_error is not None
    ]
    covariance = fitted.covariance(known)
    reach = percentile(covariance, seed=seed)
    chance = 0.5 * (1.0 + math.erf(reach / math.sqrt(2.0)))
    return tuple(estimate.half_width_at(chance) for estimate in estimates)


def percentile(covariance: _Array, *, seed: str, draws: int = DRAWS) -> float:
    """Return the 95th percentile of the largest error in each draw, in standard errors."""
    spread = np.sqrt(np.diag(covariance).clip(0.0))
    varies = spread > _ZERO * max(spread.max(initial=0.0), 1.0)
    if not varies.any():
        return 0.0
    correlation = covariance[np.ix_(varies, varies)] / np.outer(spread[varies], spread[varies])
    sizes, axes = np.linalg.eigh(correlation)
    root = axes * np.sqrt(sizes.clip(0.0))
    largest = abs(_normal(seed, (draws, len(sizes))) @ root.T).max(axis=1)
    reach = float(np.quantile(largest, CONFIDENCE, method="higher"))
    return math.ceil(reach * _ROUNDED) / _ROUNDED


def _normal(seed: str, shape: tuple[int, int]) -> _Array:
    """Standard normal numbers, by the Box-Muller method from the bits of the generator."""
    bits = np.random.PCG64(int(digest("simultaneous", seed), 16))
    count = shape[0] * shape[1]
    raw = bits.random_raw(2 * ((count + 1) // 2)) >> np.uint64(11)
    uniform = (raw + 0.5) * 2.0**-53
    radius = np.sqrt(-2.0 * np.log(uniform[::2]))
    angle = 2.0 * math.pi * uniform[1::2]
    every = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    return every[:count].reshape(shape)
