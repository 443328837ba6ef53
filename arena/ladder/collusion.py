"""Whether two owners' bots do better together than their skills say: for people to look into.

Bots of two owners who help each other gain at the tables where both sit, from the others there. So for
each two owners a bet is made on what their two bots score together, over what the skills say of them;
the skills come from the deal-sets in which the two do not meet. The bet is fair as long as nobody
helps: it reaches 100 in one of a hundred such pairs at most, whenever one looks. Nothing follows from
it by itself; a person decides.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from arena.anytime.bet import evidence
from arena.anytime.questions import holds_among
from arena.ladder.margins import DealSet, MarginFit, NotComparable, Score, Table, fit

ALPHA: Final = 0.01
"""The share of false ones, at most, among the pairs that are told."""

LEAST_SEATS: Final = 3
"""Where two sit alone, one's gain is the other's loss."""

_ALLOWED_ERRORS: Final = 2.0
"""Standard errors of the skills that are given to the two: what was not known speaks for them."""

Owners: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What the bets on two owners have come to."""

    owners: Owners
    """In order of name."""
    e_value: float
    deal_sets: int
    """In which both sat at one table."""
    gain: float
    """Points a table that each of the two had more than their skills say, on average."""
    stands: bool
    """Whether it holds among all pairs that were looked at."""


class _Skills:
    """What the deal-sets in which two owners do not meet say of everybody."""

    def __init__(self, fitted: MarginFit) -> None:
        scores = [Score(bot) for bot in fitted.bots]
        self._index = {bot: at for at, bot in enumerate(fitted.bots)}
        self._values = fitted.values(scores)
        self._covariance = fitted.covariance(scores)

    def know(self, bots: Iterable[str]) -> bool:
        return all(bot in self._index for bot in bots)

    def expected(self, table: Table, seats: Sequence[int]) -> float:
        """What the two should have had over the table's mean, with the benefit of the doubt."""
        at = [self._index[bot] for bot in table.bots]
        weights = np.full(len(at), -1.0 / len(at))
        weights[list(seats)] += 1.0 / len(seats)
        variance = float(weights @ self._covariance[np.ix_(at, at)] @ weights)
        return float(weights @ self._values[at]) + _ALLOWED_ERRORS * math.sqrt(max(0.0, variance))


def suspicions(
    deal_sets: Sequence[DealSet],
    owner_of: Mapping[str, str],
    bound: float,
    told: Callable[[int, int], None] = lambda *_: None,
) -> tuple[Suspicion, ...]:
    """All pairs of owners whose bots met at tables of three or more, the most suspect first.

    Pairs of whom the other deal-sets tell nothing are left out.

    Args:
      deal_sets: Complete ones.
      owner_of: Who has each bot; one that nobody has is suspected of nothing.
      bound: The most that the rules let scores differ.
      told: Hears how many of how many pairs have been looked at: each takes a fit.

    Raises:
      BeyondBound: if scores differ by more.
    """
    met: dict[Owners, list[int]] = defaultdict(list)
    for at, deal_set in enumerate(deal_sets):
        for owners in {pair for table in deal_set.tables for pair in _pairs(table, owner_of)}:
            met[owners].append(at)
    looked_at = []
    for number, (owners, together) in enumerate(sorted(met.items())):
        told(number, len(met))
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
            looked_at.append((owners, shares))
    e_values = [math.exp(min(700.0, evidence(own, 1.0).log_better)) for _, own in looked_at]
    found = [
        Suspicion(owners, e_value, len(own), bound * math.fsum(own) / len(own), stands)
        for (owners, own), e_value, stands in zip(
            looked_at, e_values, holds_among(e_values, alpha=ALPHA), strict=True
        )
    ]
    return tuple(sorted(found, key=lambda each: (-each.e_value, each.owners)))


def _pairs(table: Table, owner_of: Mapping[str, str]) -> Iterable[Owners]:
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
    """What the two had more than expected, as a share of the most that it could be."""
    shares = []
    for table in deal_set.tables:
        seats = [at for at, bot in enumerate(table.bots) if owner_of.get(bot) in owners]
        if {owner_of[table.bots[at]] for at in seats} != set(owners):
            continue
        if not skills.know(table.bots):
            return None
        mean = math.fsum(table.scores) / len(table.scores)
        had = math.fsum(table.scores[at] for at in seats) / len(seats) - mean
        expected = skills.expected(table, seats)
        shares.append((had - expected) / (bound + abs(expected)))
    return math.fsum(shares) / len(shares) if shares else None
