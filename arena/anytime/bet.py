"""A bet on bounded margins, and what it has won: evidence that may be looked at after each margin.

With y the margins over the most that the rules allow, and twelve stakes λ from 0.02 to 0.95,

    E⁺ = mean over λ of Π (1 + λ y),    E⁻ the same of -y,    E = (E⁺ + E⁻) / 2

is what stakes of 1 have grown to. If each margin has mean zero, whatever came before, E is a
non-negative martingale that starts at 1. So it ever reaches 1/α with a chance of α at most (Ville's
inequality), whatever the margins' shape, and whenever one looks or stops. Waudby-Smith and Ramdas,
*Estimating means of bounded random variables by betting*, JRSS-B 2024.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

ALPHA: Final = 0.05
"""The chance, at most, that two equals are ever told apart."""

STAKES: Final = tuple(0.02 * (0.95 / 0.02) ** (at / 11) for at in range(12))
"""The shares of what there is that the twelve bets put on each margin."""

_Array: TypeAlias = npt.NDArray[np.float64]

_LOG_STAKES: Final = math.log(len(STAKES))
_BISECTIONS: Final = 60  # halvings of an interval as wide as the bound: to the last bits of a float


class BeyondBound(ValueError):
    """A margin is larger than the rules are said to allow: the bound is wrong, and so all else."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the bets have grown to, as natural logarithms; 0 before the first margin."""

    log_better: float
    """E⁺, the bets that the mean is above zero."""
    log_worse: float
    """E⁻, the bets that it is below."""

    @property
    def log_either(self) -> float:
        """E, half of either."""
        return float(np.logaddexp(self.log_better, self.log_worse)) - math.log(2.0)

    @property
    def e_value(self) -> float:
        """E itself; infinite where a float cannot hold it."""
        return math.exp(self.log_either) if self.log_either < 709.0 else math.inf


def evidence(margins: Sequence[float], bound: float) -> Evidence:
    """What bets on `margins`, none of them larger than `bound`, have come to.

    Raises:
      BeyondBound: if one is.
    """
    shares = _shares(margins, bound)
    return Evidence(float(_log_grown(shares)), float(_log_grown(-shares)))


def log_path(margins: Sequence[float], bound: float) -> _Array:
    """The logarithm of E after each of the margins.

    Raises:
      BeyondBound: if one is larger than `bound`.
    """
    (path,) = log_paths(_shares(margins, bound)[None, :])
    return np.asarray(path)


def log_paths(shares: _Array) -> _Array:
    """The logarithm of E after each column, for each row of margins as shares of the bound."""
    log_either = np.full(shares.shape, -math.inf)
    for stake in STAKES:
        for sign in (stake, -stake):
            log_either = np.logaddexp(log_either, np.log1p(sign * shares).cumsum(axis=1))
    log_either -= _LOG_STAKES + math.log(2.0)
    return log_either


def interval(
    margins: Sequence[float], bound: float, *, alpha: float = ALPHA
) -> tuple[float, float]:
    """All means that the bets do not speak against: from the lowest to the highest.

    For a mean m it is betted on (margin - m) / (bound + |m|). The interval holds the true mean at
    every look at once with a chance of 1 - `alpha`; it never reaches beyond the bound.

    Raises:
      BeyondBound: if a margin is larger than `bound`.
    """
    if not len(margins):
        return -bound, bound
    values = bound * _shares(margins, bound)
    limit = -math.log(alpha)

    def speaks_against(mean: float) -> bool:
        shares = (values - mean) / (bound + abs(mean))
        found = Evidence(float(_log_grown(shares)), float(_log_grown(-shares)))
        return found.log_either >= limit

    # At the margins' own mean no bet has grown: the logarithm of 1 + x is at most x. To its left
    # E⁺ only grows and E⁻ is below 1, so there is one place where the bets begin to speak.
    middle = float(values.mean())
    return (
        _edge(speaks_against, middle, -bound),
        _edge(speaks_against, middle, bound),
    )


def _edge(speaks_against: Callable[[float], bool], inside: float, outside: float) -> float:
    if not speaks_against(outside):
        return outside
    for _ in range(_BISECTIONS):
        middle = (inside + outside) / 2
        if speaks_against(middle):
            outside = middle
        else:
            inside = middle
    return outside


def _shares(margins: Sequence[float], bound: float) -> _Array:
    if not bound > 0.0:
        raise ValueError(f"margins are bounded by a number above 0, not {bound}")
    shares = np.asarray(margins, dtype=np.float64) / bound
    if len(shares) and not abs(shares).max() <= 1.0:
        worst = float(abs(shares).max() * bound)
        raise BeyondBound(f"a margin of {worst:g} is beyond the {bound:g} that the rules allow")
    return shares


def _log_grown(shares: _Array) -> _Array:
    """The logarithm of the mean over the stakes of what each has grown to."""
    grown = np.log1p(np.array(STAKES)[:, None] * shares).sum(axis=1)
    total: _Array = np.logaddexp.reduce(grown) - _LOG_STAKES
    return total
