"""Verdicts on whether one bot is better than another, valid after every deal-set."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from arena.results.anytime import bet, mixture
from arena.results.anytime.forecast import Forecast, forecast
from arena.results.student_t import quantile

PLAIN_MARGINS: Final = 30
"""The fewest margins for a plain interval: means of fewer skewed margins are far from normal."""


class Decision(StrEnum):
    """The decision so far."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    """The difference is within the given number of points."""
    OPEN = "not decided"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict on the first of two bots, from its margins over the second."""

    decision: Decision
    mean: float
    """The mean in points a deal-set; 0 before the first."""
    low: float
    """The lower end of the anytime 95 % interval, which holds after every deal-set; `high` is the upper end."""
    high: float
    e_value: float
    """The evidence now; it may have been larger at the decision."""
    deal_sets: int
    decided_after: int | None
    """The number of deal-sets after which it was decided which bot is better; None if it is not."""
    needed: Forecast | None
    """The forecast of needed deal-sets; None after the decision, and for margins without a bound."""
    approximate: bool
    """Whether the verdict is exact for normal margins only, because the margins have no bound."""
    bound_in_deviations: float | None
    """The bound divided by the standard deviation of the margins: the cost of a loose bound.

    None without a bound or a deviation.
    """
    at_least: int | None
    """The smallest total of deal-sets with which a fixed stake decides at this mean, ln 40 · bound / |mean|; None without a bound, and for a mean of 0."""
    more_often: Decision
    """Whether the first scores more in more deal-sets.

    This is a separate test, on the signs of the margins, which says nothing about the mean.
    """
    more_often_e_value: float
    """The evidence of that test now."""
    plain: tuple[float, float] | None
    """The plain 95 % interval of the mean, which holds only if the number of deal-sets was chosen before play.

    None for fewer than `PLAIN_MARGINS`, and for equal margins.
    """


def verdict(
    margins: Sequence[float],
    bound: float | None,
    *,
    same_within: float | None = None,
    alpha: float = bet.ALPHA,
) -> Verdict:
    """Return the verdict from `margins`, one for each deal-set in order.

    `bound` is the largest margin that the rules allow; None if there is no limit. A decision is final, because play
    could have stopped at it.

    Raises `BeyondBound` if a margin is larger than the bound.
    """
    path = evidence_path(margins, bound)
    more_often, more_often_e_value = _more_often(margins, alpha)
    if bound is None:
        low, high = mixture.interval(margins, alpha=alpha)
    else:
        low, high = bet.interval(margins, bound, alpha=alpha)
    number = len(margins)
    first = _decided_after(path, alpha)
    decision = _decided(margins, first)
    if first is None and same_within is not None and -same_within <= low and high <= same_within:
        decision = Decision.SAME
    is_open = decision is Decision.OPEN and bound is not None
    mean = math.fsum(margins) / number if number else 0.0
    return Verdict(
        decision=decision,
        mean=mean,
        low=low,
        high=high,
        e_value=_e_value(path),
        deal_sets=number,
        decided_after=first,
        needed=forecast(margins, bound) if is_open and bound is not None else None,
        approximate=bound is None,
        bound_in_deviations=_in_deviations(margins, bound),
        at_least=None
        if bound is None or not mean
        else math.ceil(math.log(40.0) * bound / abs(mean)),
        more_often=more_often,
        more_often_e_value=more_often_e_value,
        plain=_plain_interval(margins, alpha),
    )


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The parts of a `Verdict` that standings have."""

    decision: Decision
    mean: float
    low: float
    high: float
    e_value: float
    approximate: bool


def pair_verdicts(
    margins: Sequence[Sequence[float]], bound: float | None
) -> tuple[PairVerdict, ...]:
    """Return the verdicts on many pairs, as `verdict` computes each.

    Those with the same number of margins are computed together, as few margins are a small array. Raises `BeyondBound`.
    """
    judged: dict[int, PairVerdict] = {}
    of_length: dict[int, list[int]] = defaultdict(list)
    for at, of_pair in enumerate(margins):
        of_length[len(of_pair)].append(at)
    for number, places in of_length.items():
        rows = np.array([margins[at] for at in places], dtype=np.float64)
        paths = _paths(rows, bound)
        if bound is None:
            ends = [mixture.interval(margins[at], alpha=bet.ALPHA) for at in places]
        else:
            ends = list(zip(*bet.intervals(rows, bound), strict=True))
        for at, path, (low, high) in zip(places, paths, ends, strict=True):
            judged[at] = PairVerdict(
                _decided(margins[at], _decided_after(path, bet.ALPHA)),
                math.fsum(margins[at]) / number if number else 0.0,
                float(low),
                float(high),
                _e_value(path),
                approximate=bound is None,
            )
    return tuple(judged[at] for at in range(len(margins)))


def _decided_after(path: npt.NDArray[np.float64], alpha: float) -> int | None:
    """Return the number of margins after which the evidence decides; None if it does not."""
    reached = np.flatnonzero(path >= -math.log(alpha))
    return int(reached[0]) + 1 if len(reached) else None


def _decided(margins: Sequence[float], after: int | None) -> Decision:
    """Return the decision after `after` margins; None without a decision."""
    if after is None:
        return Decision.OPEN
    return Decision.BETTER if math.fsum(margins[:after]) > 0.0 else Decision.WORSE


def _more_often(margins: Sequence[float], alpha: float) -> tuple[Decision, float]:
    signs = np.sign(np.asarray(margins, dtype=np.float64)).tolist()
    path = bet.log_path(signs, 1.0)
    return _decided(signs, _decided_after(path, alpha)), _e_value(path)


def _plain_interval(margins: Sequence[float], alpha: float) -> tuple[float, float] | None:
    number = len(margins)
    if number < PLAIN_MARGINS:
        return None
    mean, deviation = math.fsum(margins) / number, float(np.std(margins, ddof=1))
    reach = quantile(1.0 - alpha / 2, number - 1) * deviation / math.sqrt(number)
    return (mean - reach, mean + reach) if reach > 0.0 else None


def _e_value(path: npt.NDArray[np.float64]) -> float:
    log_e = float(path[-1]) if len(path) else 0.0
    return math.exp(log_e) if log_e < 709.0 else math.inf


def _in_deviations(margins: Sequence[float], bound: float | None) -> float | None:
    if bound is None or len(margins) < 2:
        return None
    deviation = float(np.std(margins, ddof=1))
    return bound / deviation if deviation else None


def evidence_path(margins: Sequence[float], bound: float | None) -> npt.NDArray[np.float64]:
    """Return the logarithm of E after each of the margins; without a bound by the mixture.

    Raises `BeyondBound` if a margin is larger than the bound.
    """
    (path,) = _paths(np.asarray(margins, dtype=np.float64)[None, :], bound)
    return np.asarray(path)


def _paths(margins: npt.NDArray[np.float64], bound: float | None) -> npt.NDArray[np.float64]:
    """Return the evidence path of each row of margins."""
    if bound is None:
        return mixture.log_paths(margins)
    return bet.log_paths(bet.shares_of(margins, bound))
