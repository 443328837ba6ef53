"""The answer to "is this one better than that one?", as it may be given after every deal-set."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from arena.anytime import bet, mixture
from arena.anytime.forecast import Forecast, forecast


class Decision(StrEnum):
    """What can be said by now."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    """Within the given number of points."""
    OPEN = "not decided"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the margins say of the one who made them against the other."""

    decision: Decision
    mean: float
    """Points a deal-set; 0 before the first."""
    low: float
    """The anytime 95 % interval, as is `high`: it holds at every look at once."""
    high: float
    e_value: float
    """How much evidence there is now; it may have been more when it decided."""
    deal_sets: int
    decided_after: int | None
    """Deal-sets after which it was first decided who is better; None if it never was."""
    needed: Forecast | None
    """What is still needed; None once it is decided, and where no rule bounds the margins."""
    approximate: bool
    """Whether it holds for normal margins only, as no rule bounds them."""


def verdict(
    margins: Sequence[float],
    bound: float | None,
    *,
    same_within: float | None = None,
    alpha: float = bet.ALPHA,
) -> Verdict:
    """What `margins`, one for each deal-set in order, say by now.

    `bound` is the most that the rules allow; None if they allow any. A decision that was reached
    once stands, as whoever looked then would have stopped.

    Raises:
      BeyondBound: if a margin is larger than the bound.
    """
    path = evidence_path(margins, bound)
    if bound is None:
        low, high = mixture.interval(margins, alpha=alpha)
    else:
        low, high = bet.interval(margins, bound, alpha=alpha)
    number = len(margins)
    reached = np.flatnonzero(path >= -math.log(alpha))
    first = int(reached[0]) + 1 if len(reached) else None
    decision = Decision.OPEN
    if first is not None:
        ahead = math.fsum(margins[:first]) > 0.0
        decision = Decision.BETTER if ahead else Decision.WORSE
    elif same_within is not None and -same_within <= low and high <= same_within:
        decision = Decision.SAME
    is_open = decision is Decision.OPEN and bound is not None
    log_e = float(path[-1]) if number else 0.0
    return Verdict(
        decision=decision,
        mean=math.fsum(margins) / number if number else 0.0,
        low=low,
        high=high,
        e_value=math.exp(log_e) if log_e < 709.0 else math.inf,
        deal_sets=number,
        decided_after=first,
        needed=forecast(margins, bound) if is_open and bound is not None else None,
        approximate=bound is None,
    )


def evidence_path(margins: Sequence[float], bound: float | None) -> npt.NDArray[np.float64]:
    """The logarithm of E after each of the margins; by the mixture where nothing bounds them.

    Raises:
      BeyondBound: if a margin is larger than the bound.
    """
    if bound is not None:
        return bet.log_path(margins, bound)
    (path,) = mixture.log_paths(np.asarray(margins, dtype=np.float64)[None, :])
    return np.asarray(path)
