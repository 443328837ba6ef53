"""Bets on bounded margins, whose gain is evidence that may be read after each margin.

With y the margins divided by the largest that the rules allow,

    E⁺ = ½ · mean over k of Π (1 + λₖ y) + ½ · Π (1 + sᵢ yᵢ),    E⁻ the same for -y,    E = (E⁺ + E⁻) / 2

are the values of bets that started at 1. The 24 fixed stakes λₖ = sin²(π (k - ½) / 48) are the middles of equal
shares of the arcsine distribution: Cover's universal portfolio, which is never far behind the best fixed stake.
The stake sᵢ = clip(m / (v + m²), 0, 0.95) follows from the margins before the i-th alone, with m = Σ y / (i - 1 + 8)
and v = (Σ y² + 0.02) / i; it soon finds stakes that are much smaller than those for margins near the bound.

If each margin has mean zero given those before, E is a non-negative martingale that starts at 1. So the
probability that it ever reaches 1/α is at most α (Ville's inequality), for margins of any distribution and any
stopping rule. Waudby-Smith and Ramdas, *Estimating means of bounded random variables by betting*, JRSS-B
2024; Orabona and Jun, *Tight concentrations and confidence sequences from the regret of universal portfolio*,
IEEE Transactions on Information Theory 2024.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

ALPHA: Final = 0.05
"""The largest probability that two equal bots are ever decided to differ."""

STAKES: Final = tuple(math.sin(math.pi * (k - 0.5) / 48.0) ** 2 for k in range(1, 25))
"""The share of its value that each of the fixed bets stakes on each margin."""

LARGEST_STAKE: Final = 0.95
"""The largest share that the bet which learns stakes."""

_PRIOR_MARGINS: Final = 8.0
"""The number of margins of zero from which the learning bet starts: it stakes little before it has seen as many."""
_PRIOR_VARIANCE: Final = 0.02

_Array: TypeAlias = npt.NDArray[np.float64]

_STAKES: Final = np.array(STAKES)
_BLOCK: Final = 2**16
"""The size of the arrays that are computed together: with few margins, a call of numpy costs more than its sums."""

_GRID: Final = 256
"""The number of means that are tried for the interval.

E is not a monotone function of the mean, because the learning bet is not.
"""
_BISECTIONS: Final = 40
"""The number of halvings of a step of that grid, to less than a billionth of a point if the bound is 10,000."""


class BeyondBound(ValueError):
    """A margin is larger than the given bound, so the bound and all results from it are wrong."""


@dataclass(frozen=True, slots=True)
class BetEvidence:
    """The values of the bets, as natural logarithms; 0 before the first margin."""

    log_better: float
    """E⁺: bets that the mean is above zero."""
    log_worse: float
    """E⁻: bets that it is below zero."""

    @property
    def log_either(self) -> float:
        """E, the mean of both."""
        return float(np.logaddexp(self.log_better, self.log_worse)) - math.log(2.0)

    @property
    def e_value(self) -> float:
        """E itself; infinite if it is too large for a float."""
        return math.exp(self.log_either) if self.log_either < 709.0 else math.inf


def evidence(margins: Sequence[float], bound: float) -> BetEvidence:
    """Return the evidence of bets on `margins`. Raises `BeyondBound` if a margin is larger than `bound`."""
    better, worse = _log_grown(shares_of(margins, bound)[None, :])
    return BetEvidence(float(better[0]), float(worse[0]))


def log_path(margins: Sequence[float], bound: float) -> _Array:
    """Return the logarithm of E after each of the margins. Raises `BeyondBound` if one is larger than `bound`."""
    (path,) = log_paths(shares_of(margins, bound)[None, :])
    return np.asarray(path)


def log_paths(shares: _Array) -> _Array:
    """Return the logarithm of E after each column, for each row of margins as shares of the bound."""
    log_either = np.full(shares.shape, -math.inf)
    for stake in STAKES:
        for sign in (stake, -stake):
            log_either = np.logaddexp(log_either, np.log1p(sign * shares).cumsum(axis=1))
    log_either -= math.log(len(STAKES))
    for stakes in _learnt_stakes(shares):
        log_either = np.logaddexp(log_either, np.log1p(stakes * shares).cumsum(axis=1))
    return log_either - math.log(4.0)


def interval(
    margins: Sequence[float], bound: float, *, alpha: float = ALPHA
) -> tuple[float, float]:
    """Return the confidence sequence: the lowest and the highest mean that the bets do not reject.

    For a mean m the bets are on (margin - m) / (bound + |m|). With probability 1 - `alpha` the interval contains
    the true mean after every margin. It never exceeds the bound and contains the mean of `margins`.

    Raises `BeyondBound` if a margin is larger than `bound`.
    """
    low, high = intervals(np.asarray(margins, dtype=np.float64)[None, :], bound, alpha=alpha)
    return float(low[0]), float(high[0])


def intervals(margins: _Array, bound: float, *, alpha: float = ALPHA) -> tuple[_Array, _Array]:
    """Return the lower and the upper ends of `interval` for each row of margins. Raises `BeyondBound` as `interval` does."""
    values = bound * shares_of(margins, bound)
    limit = -math.log(alpha)
    ends = np.full((2, len(values)), bound)
    ends[0] = -bound
    if values.shape[1] * math.log(2.0) < limit:  # a margin at most doubles a bet
        return ends[0], ends[1]
    at_a_time = max(1, _BLOCK // (values.shape[1] * _GRID))
    for at in range(0, len(values), at_a_time):
        ends[:, at : at + at_a_time] = _ends(values[at : at + at_a_time], bound, limit)
    return ends[0], ends[1]


def _ends(values: _Array, bound: float, limit: float) -> _Array:
    """Return the lower and the upper ends of the intervals of some rows."""

    def log_against(means: _Array) -> _Array:
        shares = (values[:, None, :] - means[..., None]) / (bound + abs(means))[..., None]
        better, worse = _log_grown(shares.reshape(means.size, -1))
        return (np.logaddexp(better, worse) - math.log(2.0)).reshape(means.shape)

    mean = values.mean(axis=1)[:, None]
    grid = np.linspace(-bound, bound, _GRID)
    means = np.sort(np.concatenate([np.tile(grid, (len(values), 1)), mean], axis=1))
    kept = (log_against(means) < limit) | (means == mean)
    first, last = kept.argmax(axis=1), _GRID - kept[:, ::-1].argmax(axis=1)
    inside = np.take_along_axis(means, np.stack([first, last], axis=1), axis=1)
    beside = np.stack([np.maximum(first - 1, 0), np.minimum(last + 1, _GRID)], axis=1)
    outside = np.take_along_axis(means, beside, axis=1)
    for _ in range(_BISECTIONS):
        middle = (inside + outside) / 2
        rejected = log_against(middle) >= limit
        outside = np.where(rejected, middle, outside)
        inside = np.where(rejected, inside, middle)
    return inside.T


def shares_of(margins: Sequence[float] | _Array, bound: float) -> _Array:
    """Margins as shares of the bound. Raises `BeyondBound` if one is larger."""
    if not bound > 0.0:
        raise ValueError(f"the bound of margins is above 0, not {bound}")
    shares = np.asarray(margins, dtype=np.float64) / bound
    if shares.size and not abs(shares).max() <= 1.0:
        worst = float(abs(shares).max() * bound)
        raise BeyondBound(f"a margin of {worst:g} is beyond the {bound:g} that the rules allow")
    return shares


def _log_grown(shares: _Array) -> tuple[_Array, _Array]:
    """Return the logarithms of E⁺ and E⁻ after the last column, for each row."""
    grown = []
    at_a_time = max(1, _BLOCK // max(1, shares.size))
    for sign, stakes in zip((1.0, -1.0), _learnt_stakes(shares), strict=True):
        fixed = np.concatenate(
            [
                np.log1p(sign * _STAKES[at : at + at_a_time, None, None] * shares).sum(axis=2)
                for at in range(0, len(STAKES), at_a_time)
            ]
        )
        mean = np.logaddexp.reduce(fixed, axis=0) - math.log(len(STAKES))
        learnt = np.log1p(stakes * shares).sum(axis=1)
        grown.append(np.logaddexp(mean, learnt) - math.log(2.0))
    return grown[0], grown[1]


def _learnt_stakes(shares: _Array) -> tuple[_Array, _Array]:
    """Return the stakes of the learning bets for each margin: that the mean is above zero, and (at most 0) below."""
    before = np.arange(shares.shape[1])
    mean = (shares.cumsum(axis=1) - shares) / (before + _PRIOR_MARGINS)
    variance = ((shares**2).cumsum(axis=1) - shares**2 + _PRIOR_VARIANCE) / (before + 1)
    stake = mean / (variance + mean**2)
    return stake.clip(0.0, LARGEST_STAKE), stake.clip(-LARGEST_STAKE, 0.0)
