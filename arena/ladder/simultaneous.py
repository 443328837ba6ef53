"""Intervals that hold for all bots of a frozen table at once, with a chance of 95 %.

Twenty intervals of 95 % each hold all together far less often. How much wider they have to be hangs on
how the errors go together. So errors are drawn from the fit's covariance, 20,000 times, and the 95th
percentile of the largest, each in units of its own standard error, takes the place of 1.96. Each bot's
own degrees of freedom stay: it is the percentile's chance that is looked up in its t distribution.

The draws follow from a seed, and from bits that NumPy promises not to change; the percentile is rounded
up, so that the last digits of another machine's sums make no difference.
"""

import math
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.ladder import student_t
from arena.ladder.draws import digest
from arena.ladder.margins import CONFIDENCE, Estimate, MarginFit, Score

DRAWS: Final = 20_000

_ROUNDED: Final = 1_000  # parts of a standard error
_ZERO: Final = 1e-12

_Array: TypeAlias = npt.NDArray[np.float64]


def half_widths(
    fitted: MarginFit, scores: Sequence[Score], *, seed: str
) -> tuple[float | None, ...]:
    """The ± of each score's interval; None where the deal-sets are too few to tell."""
    estimates = fitted.scores(scores)
    told = [at for at, each in enumerate(estimates) if each.standard_error is not None]
    covariance = fitted.covariance([scores[at] for at in told])
    reach = percentile(covariance, seed=seed)
    chance = 0.5 * (1.0 + math.erf(reach / math.sqrt(2.0)))
    return tuple(_half_width(each, chance) for each in estimates)


def _half_width(estimate: Estimate, chance: float) -> float | None:
    if estimate.standard_error is None or estimate.freedom is None:
        return estimate.standard_error
    return estimate.standard_error * student_t.quantile(chance, estimate.freedom)


def percentile(covariance: _Array, *, seed: str, draws: int = DRAWS) -> float:
    """What the largest of all errors, in standard errors, does not exceed in 95 of 100 draws."""
    spread = np.sqrt(np.diag(covariance).clip(0.0))
    varies = spread > _ZERO * max(spread.max(initial=0.0), 1.0)
    if not varies.any():
        return 0.0
    together = covariance[np.ix_(varies, varies)] / np.outer(spread[varies], spread[varies])
    sizes, axes = np.linalg.eigh(together)
    root = axes * np.sqrt(sizes.clip(0.0))
    largest = abs(_normal(seed, (draws, len(sizes))) @ root.T).max(axis=1)
    reach = float(np.quantile(largest, CONFIDENCE, method="higher"))
    return math.ceil(reach * _ROUNDED) / _ROUNDED


def _normal(seed: str, shape: tuple[int, int]) -> _Array:
    """Standard normal numbers, by Box and Muller's method from the generator's own bits."""
    bits = np.random.PCG64(int(digest("simultaneous", seed), 16))
    count = shape[0] * shape[1]
    raw = bits.random_raw(2 * ((count + 1) // 2)) >> np.uint64(11)
    uniform = (raw + 0.5) * 2.0**-53
    radius = np.sqrt(-2.0 * np.log(uniform[::2]))
    angle = 2.0 * math.pi * uniform[1::2]
    every = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    return every[:count].reshape(shape)
