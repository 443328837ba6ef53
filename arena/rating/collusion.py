"""Collusion: whether the bots of two owners score more together than their skills predict.

Bots that help each other gain at the tables where both sit, at the cost of the others there. For each two owners
a bet is made on the joint score of their bots minus the prediction by their skills, which come from the
deal-sets in which the two do not meet. Without collusion the value of the bet ever reaches 100 for at most one
in a hundred pairs. The result is evidence for a person, who decides.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from arena.anytime.bet import evidence
from arena.anytime.multiple_tests import holds_among
from arena.rating.margin_fit import DealSet, MarginFit, MatchScores, NotComparable, Score, fit

ALPHA: Final = 0.01
"""Largest expected share of false ones among the pairs that are accepted."""

LEAST_SEATS: Final = 3
"""At tables of two, one bot's gain is the other's loss."""

_ALLOWED_ERRORS: Final = 2.0
"""Standard errors added to the prediction, in favour of the two owners."""

Owners: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The evidence about two owners."""

    owners: Owners
    """In order of name."""
    e_value: float
    deal_sets: int
    """Those in which both sat at one table."""
    gain: float
    """Mean points a table of each of the two above the prediction."""
    stands: bool
    """Whether it is accepted among all pairs that were tested."""


class _Skills:
    """Skills fitted to the deal-sets in which two owners do not meet."""

    def __init__(self, fitted: MarginFit) -> None:
        scores = [Score(bot) for bot in fitted.bots]
        self._index = {bot: at for at, bot in enumerate(fitted.bots)}
        self._values = fitted.values(scores)
        self._covariance = fitted.covariance(scores)

    def include(self, bots: Iterable[str]) -> bool:
        return all(bot in self._index for bot in bots)

    def expected(self, table: MatchScores, seats: Sequence[int]) -> float:
        """The predicted mean score of these seats over the table's mean, plus `_ALLOWED_ERRORS`."""
        at = [self._index[bot] for bot in table.bots]
        weights = np.full(len(at), -1.0 / len(at))
        weights[list(seats)] += 1.0 / len(seats)
        variance = float(weights @ self._covariance[np.ix_(at, at)] @ weights)
        return float(weights @ self._values[at]) + _ALLOWED_ERRORS * math.sqrt(max(0.0, variance))


def suspicions(
    deal_sets: Sequence[DealSet],
    owner_of: Mapping[str, str],
    bound: float,
    on_progress: Callable[[int, int], None] = lambda *_: None,
) -> tuple[Suspicion, ...]:
    """The evidence about all pairs of owners whose bots met at tables of three or more, largest first.

    A pair is left out if the other deal-sets do not determine the skills.

    Args:
      deal_sets: Complete ones.
      owner_of: The owner of each bot; a bot without an owner is not tested.
      bound: The largest difference of scores that the rules allow.
      on_progress: Called with the pairs tested so far and their total: each takes a fit.

    Raises:
      BeyondBound: if scores differ by more.
    """
    met: dict[Owners, list[int]] = defaultdict(list)
    for at, deal_set in enumerate(deal_sets):
        for owners in {pair for table in deal_set.tables for pair in _pairs(table, owner_of)}:
            met[owners].append(at)
    tested = []
    for number, (owners, together) in enumerate(sorted(met.items())):
        on_progress(number, len(met))
        inside = set(together)
        others = (each for at, each in enumerate(deal_sets) if at not in inside)
        try:
            skills = _Skills(fit(others))
        except NotComparable:
            continue
        shares = [
            share
            for at in together
            if (share := _share(deal_sets[at], owners, owner_of, skills, bound)) is not None
        ]
        if shares:
            tested.append((owners, shares))
    e_values = [math.exp(min(700.0, evidence(own, 1.0).log_better)) for _, own in tested]
    found = [
        Suspicion(owners, e_value, len(own), bound * math.fsum(own) / len(own), stands)
        for (owners, own), e_value, stands in zip(
            tested, e_values, holds_among(e_values, alpha=ALPHA), strict=True
        )
    ]
    return tuple(sorted(found, key=lambda each: (-each.e_value, each.owners)))


def _pairs(table: MatchScores, owner_of: Mapping[str, str]) -> Iterable[Owners]:
    if len(table.bots) < LEAST_SEATS:
        return
    own = {owner_of[bot] for bot in table.bots if bot in owner_of}
    yield from itertools.combinations(sorted(own), 2)


def _share(
    deal_set: DealSet,
    owners: Owners,
    owner_of: Mapping[str, str],
    skills: _Skills,
    bound: float,
) -> float | None:
    """The gain of the two over the prediction in a deal-set, as a share of the largest possible one."""
    shares = []
    for table in deal_set.tables:
        seats = [at for at, bot in enumerate(table.bots) if owner_of.get(bot) in owners]
        if {owner_of[table.bots[at]] for at in seats} != set(owners):
            continue
        if not skills.include(table.bots):
            return None
        mean = math.fsum(table.scores) / len(table.scores)
        had = math.fsum(table.scores[at] for at in seats) / len(seats) - mean
        expected = skills.expected(table, seats)
        shares.append((had - expected) / (bound + abs(expected)))
    return math.fsum(shares) / len(shares) if shares else None
