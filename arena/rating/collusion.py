"""Collusion: whether the bots of two owners score otherwise at shared tables than their skills predict.

Bots that help each other gain together at the tables where both sit, at the cost of the others there. A bot that
dumps loses to its partner what no other bot would win from it. So two statistics are tested for each two owners: the
joint score of their bots, and the difference between them, each minus the prediction by their skills, which come
from the deal-sets in which the two do not meet. Both are tested by the mixture of t tests, because bounds from the
rules are too loose to find anything. Its verdicts are approximate, and styles that suit each other look like
collusion: the result is evidence for a person, who decides.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.anytime.mixture import log_e
from arena.anytime.multiple_tests import holds_among
from arena.rating.margin_fit import DealSet, MarginFit, MatchScores, NotComparable, Score, fit

ALPHA: Final = 0.01
"""Largest expected share of false ones among what is accepted, for nearly normal scores."""

LEAST_SEATS: Final = 3
"""Seats of a table for a joint score: at tables of two, one bot's gain is the other's loss."""

PRECISION: Final = 4.0
"""c² of the mixture, for effects of about half a standard deviation: smaller ones gain little."""

_ALLOWED_ERRORS: Final = 2.0
"""Standard errors of the prediction that are allowed, in favour of the two owners."""

Owners: TypeAlias = tuple[str, str]
_Array: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of one statistic, approximate."""

    points: float
    """Mean points a table beyond the prediction, less what is allowed: of each of the two, or of the first owner
    over the second."""
    e_value: float
    stands: bool = False
    """Whether it is accepted among all statistics of all pairs."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The evidence about two owners."""

    owners: Owners
    """In order of name."""
    deal_sets: int
    """Those in which both sat at one table."""
    joint: Evidence | None
    """Of the gain of both together; None at tables of two."""
    difference: Evidence
    """Of the first owner's gain over the second, which is negative if the second gains."""

    @property
    def e_value(self) -> float:
        """The larger evidence."""
        return max(self.difference.e_value, self.joint.e_value if self.joint else 0.0)

    @property
    def stands(self) -> bool:
        """Whether a statistic is accepted."""
        return self.difference.stands or (self.joint is not None and self.joint.stands)


class _Skills:
    """Skills fitted to the deal-sets in which two owners do not meet."""

    def __init__(self, fitted: MarginFit) -> None:
        scores = [Score(bot) for bot in fitted.bots]
        self._index = {bot: at for at, bot in enumerate(fitted.bots)}
        self._values = fitted.values(scores)
        self._covariance = fitted.covariance(scores)

    def include(self, bots: Iterable[str]) -> bool:
        return all(bot in self._index for bot in bots)

    def residual(self, table: MatchScores, weights: _Array) -> tuple[float, float]:
        """A weighted sum of the scores of a table minus its prediction, and what is allowed of its error."""
        at = [self._index[bot] for bot in table.bots]
        variance = float(weights @ self._covariance[np.ix_(at, at)] @ weights)
        found = float(weights @ (np.array(table.scores) - self._values[at]))
        return found, _ALLOWED_ERRORS * math.sqrt(max(0.0, variance))


def suspicions(
    deal_sets: Sequence[DealSet],
    owner_of: Mapping[str, str],
    on_progress: Callable[[int, int], None] = lambda *_: None,
) -> tuple[Suspicion, ...]:
    """The evidence about all pairs of owners whose bots met at a table, largest first.

    A pair that stands out distorts the skills from which others are predicted. So the others are tested again without
    the deal-sets that it shared. A pair is left out if the other deal-sets do not determine the skills.

    Args:
      deal_sets: Complete ones.
      owner_of: The owner of each bot; a bot without an owner is not tested.
      on_progress: Called with the pairs tested so far and their total: each takes a fit. It starts again after a
        pair that stands out.
    """
    found, left = [], list(deal_sets)
    while (tested := _tested(left, owner_of, on_progress)) and tested[0].stands:
        found.append(tested[0])
        left = [each for each in left if tested[0].owners not in _met(each, owner_of)]
    return _in_order([*found, *tested])


def _in_order(found: Sequence[Suspicion]) -> tuple[Suspicion, ...]:
    """The evidence, largest first."""
    return tuple(sorted(found, key=lambda each: (-each.e_value, each.owners)))


def _tested(
    deal_sets: Sequence[DealSet],
    owner_of: Mapping[str, str],
    on_progress: Callable[[int, int], None],
) -> tuple[Suspicion, ...]:
    """The evidence about all pairs, largest first."""
    met: dict[Owners, list[int]] = defaultdict(list)
    for at, deal_set in enumerate(deal_sets):
        for owners in _met(deal_set, owner_of):
            met[owners].append(at)
    tested = []
    for number, (owners, together) in enumerate(sorted(met.items())):
        on_progress(number, len(met))
        inside = set(together)
        try:
            skills = _Skills(fit(each for at, each in enumerate(deal_sets) if at not in inside))
        except NotComparable:
            continue
        own = [deal_sets[at] for at in together]
        joint, difference = (
            _evidence(own, owners, owner_of, skills, weights) for weights in (_joint, _difference)
        )
        if difference is not None:
            tested.append(Suspicion(owners, len(own), joint, difference))
    return _in_order(_accepted(tested))


def _accepted(tested: Sequence[Suspicion]) -> list[Suspicion]:
    """The pairs with the statistics that are accepted among all."""
    every = [each for pair in tested for each in (pair.joint, pair.difference) if each is not None]
    stands = iter(holds_among([each.e_value for each in every], alpha=ALPHA))
    return [
        replace(
            pair,
            joint=pair.joint and replace(pair.joint, stands=next(stands)),
            difference=replace(pair.difference, stands=next(stands)),
        )
        for pair in tested
    ]


def _met(deal_set: DealSet, owner_of: Mapping[str, str]) -> set[Owners]:
    """The pairs of owners whose bots sat at one table."""
    return {
        pair
        for table in deal_set.tables
        for pair in itertools.combinations(
            sorted({owner_of[bot] for bot in table.bots if bot in owner_of}), 2
        )
    }


def _joint(first: _Array, second: _Array) -> _Array | None:
    """Weights of the scores: the mean of the two owners' bots above the mean of the table."""
    if len(first) < LEAST_SEATS:
        return None
    both = first + second
    weights: _Array = both / both.sum() - 1.0 / len(both)
    return weights


def _difference(first: _Array, second: _Array) -> _Array | None:
    """Weights of the scores: the mean of the first owner's bots above that of the second's."""
    weights: _Array = first / first.sum() - second / second.sum()
    return weights


def _evidence(
    deal_sets: Sequence[DealSet],
    owners: Owners,
    owner_of: Mapping[str, str],
    skills: _Skills,
    weights_of: Callable[[_Array, _Array], _Array | None],
) -> Evidence | None:
    """The evidence of a statistic in the deal-sets in which both owners sat; None without any."""
    found = []
    for deal_set in deal_sets:
        residuals = []
        for table in deal_set.tables:
            seats = [owner_of.get(bot) for bot in table.bots]
            if not set(owners) <= set(seats) or not skills.include(table.bots):
                continue
            first, second = (np.array([float(s == owner) for s in seats]) for owner in owners)
            weights = weights_of(first, second)
            if weights is not None:
                residuals.append(skills.residual(table, weights))
        if residuals:
            found.append(np.mean(residuals, axis=0))
    if not found:
        return None
    values, allowed = np.array(found).T
    sign = 1.0 if weights_of is _joint else float(np.sign(values.mean())) or 1.0
    beyond = sign * values - allowed  # towards the statistic's own side
    points = float(beyond.mean())
    e_value = math.exp(min(700.0, log_e(beyond, precision=PRECISION))) if points > 0.0 else 0.0
    return Evidence(sign * points if points > 0.0 else 0.0, e_value)
