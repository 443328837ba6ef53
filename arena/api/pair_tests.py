"""The sequential test of the two best bots of a game, as its plot shows it.

A point of the plot depends on the margins before it alone, and points stay when deal-sets are added. So a closed
deal-set adds one point, and a page computes none.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from arena.results.pairs import Pair

Json: TypeAlias = Mapping[str, Any]
"""Values that JSON has under the same names."""
LEAST_TESTED: Final = 10
"""The minimal number of deal-sets of two bots for a plot: with fewer, the band spans all that the rules allow."""
MOST_POINTS: Final = 60
_KEPT: Final = 512


def margins_over(
    margins: "Mapping[Pair, Sequence[float]]", one: str, other: str
) -> tuple[float, ...]:
    """Return the margins of one bot over another, in the order of their deal-sets; none if they have not met."""
    sign = 1 if one < other else -1
    return tuple(sign * margin for margin in margins.get((min(one, other), max(one, other)), ()))


def leading_test(
    bots: Sequence[str], margins: "Mapping[Pair, Sequence[float]]", bound: float | None
) -> Json | None:
    """Return the test of the first two of `bots`, best first, that met in `LEAST_TESTED` deal-sets or more; None if there are none.

    `path` has its points: the number of deal-sets, the mean, and the ends of the anytime 95 % interval.
    """
    pairs = (
        (one, other)
        for one, other in itertools.combinations(bots, 2)
        if len(margins_over(margins, one, other)) >= LEAST_TESTED
    )
    one, other = next(pairs, ("", ""))
    if not one:
        return None
    of_pair = margins_over(margins, one, other)
    decision, more = _decision(of_pair, bound)
    path = [(number, *_point(of_pair[:number], bound)) for number in points(len(of_pair))]
    return {"one": one, "other": other, "decision": decision, "more": more, "path": path}


def points(deal_sets: int) -> list[int]:
    """Return the numbers of deal-sets that have points, at most `MOST_POINTS` and the last.

    The step is a power of two, so that the points of fewer deal-sets include them.
    """
    step = 1
    while deal_sets > MOST_POINTS * step:
        step *= 2
    return sorted({*range(step, deal_sets + 1, step), deal_sets})


@lru_cache(_KEPT)
def _point(margins: tuple[float, ...], bound: float | None) -> tuple[float, float, float]:
    from arena.results.anytime import bet, mixture  # they load numpy

    ends = (
        mixture.interval(margins, alpha=bet.ALPHA)
        if bound is None
        else bet.interval(margins, bound, alpha=bet.ALPHA)
    )
    return (math.fsum(margins) / len(margins), *ends)


@lru_cache(_KEPT)
def _decision(margins: tuple[float, ...], bound: float | None) -> tuple[str, int | None]:
    """Return the decision, and, if there is none, about how many more deal-sets are needed."""
    from arena.results.anytime.verdict import verdict  # it loads numpy

    judged = verdict(margins, bound)
    return judged.decision.value, None if judged.needed is None else judged.needed.likely
