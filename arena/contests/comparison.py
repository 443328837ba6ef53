"""Comparisons: whether one bot is better than another, by deal-sets that count for no standings.

Against a field, both bots play the same seats of the same boards against the same opponents, one after the other.
Against each other, they sit at one table and take turns with the seats.
"""

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import trio

from arena.contests.pair_margins import Measure, measure
from arena.contests.pairing import rotations
from arena.live.arena import Arena
from arena.live.arena_player import ArenaPlayer, order_of
from arena.live.players import Players
from arena.live.runner import run_deal_sets
from arena.live.work import ScheduledWork
from arena.referee.terms import MatchTerms
from arena.results.deal_sets import (
    HOUSE,
    DealSet,
    MatchOutcome,
    digest,
    lapse,
    lead_with_forfeits,
    planned_tables,
    shuffled,
)

BLOCK_DEAL_SETS: Final = 16
"""The number of deal-sets that are played before the test looks at their margins: processes are started anew for each table."""


class UnfinishedComparison(Exception):
    """The arena could not finish a match of a comparison."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The two bots of a comparison, their opponents, and the terms of the matches."""

    name: str
    """Names its deal-sets; no two comparisons share it."""
    terms: MatchTerms
    first: str
    second: str
    field: tuple[str, ...] = ()
    """Opponents to draw from; where there are too few, the house fills the seats."""
    each_other: bool = False
    """Whether the two sit at one table, where the house fills further seats."""
    seed: str = ""
    """Fixes opponents and seating, and deals that are seeded."""

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise ValueError(f"{self.first} is compared with itself")

    @property
    def measure(self) -> Measure:
        return measure(self.terms)

    def deal_set(self, number: int) -> DealSet:
        """Return the deal-set of a number, from 1."""
        tables = self._each_other() if self.each_other else self._against_field(number)
        return planned_tables(number, tables, self.seed, self.name)

    def margin(self, outcomes: Sequence[MatchOutcome], number: int, widest: float) -> float:
        """Return the margin of the first bot over the second in a deal-set.

        `outcomes` are those of its tables in order, and `widest` the widest difference in earlier deal-sets.
        """
        tables, leads = self.deal_set(number).matches, []
        if self.each_other:
            pairs = [(at, at) for at in range(len(tables))]
        else:
            pairs = [(at, at + self.terms.seats) for at in range(self.terms.seats)]
        for here, there in pairs:
            one = tables[here].bots.index(self.first)
            other = tables[there].bots.index(self.second)
            lead = self._worth(outcomes[here], one) - self._worth(outcomes[there], other)
            if self.measure.races:
                lead /= 2.0
            forfeited = lapse(outcomes[here], one) >= 1.0, lapse(outcomes[there], other) >= 1.0
            widest = max(widest, abs(lead))
            leads.append(lead_with_forfeits(lead, forfeited, widest))
        return math.fsum(leads) / len(leads)

    def _worth(self, outcome: MatchOutcome, seat: int) -> float:
        """Return the value of a table for a seat: its score, or in a race whether it won."""
        if not self.measure.races:
            return outcome.scores[seat]
        place, others = outcome.places[seat], [*outcome.places[:seat], *outcome.places[seat + 1 :]]
        return float((place < min(others)) - (place > min(others)))

    def _each_other(self) -> Sequence[tuple[str, ...]]:
        house = (HOUSE,) * (self.terms.seats - 2)
        if not house:
            return rotations((self.first, self.second))
        # With others at the table, the order of the two around the table matters.
        pairs = (self.first, self.second), (self.second, self.first)
        return [table for pair in pairs for table in rotations((*pair, *house))]

    def _against_field(self, number: int) -> Sequence[tuple[str, ...]]:
        seats = self.terms.seats
        opponents = shuffled(self.field, self.seed, "opponents", number)[: seats - 1]
        opponents += [HOUSE] * (seats - 1 - len(opponents))
        pair = self.first, self.second
        return [table for bot in pair for table in rotations((bot, *opponents))]


@dataclass(slots=True)
class ComparisonRecord:
    """The deal-sets of a comparison that have been played so far."""

    margins: list[float] = field(default_factory=list)
    """One for each deal-set, in order."""
    faults: Counter[str] = field(default_factory=Counter)
    """Faults of each bot that had any; without faults in those `margins` with which the record began."""

    def add(self, comparison: Comparison, outcomes: Sequence[MatchOutcome], number: int) -> None:
        """Add the deal-set of a number; `outcomes` are those of its tables in order."""
        widest = max(map(abs, self.margins), default=0.0)
        self.margins.append(comparison.margin(outcomes, number, widest))
        for table, outcome in zip(comparison.deal_set(number).matches, outcomes, strict=True):
            for name, kinds in zip(table.bots, outcome.faults, strict=False):
                self.faults[name] += sum(kinds.values())


class ComparisonWork(ScheduledWork):
    """A `WorkSource` with the deal-sets of a comparison until it is decided, a block of them at a time."""

    def __init__(
        self,
        comparison: Comparison,
        record: ComparisonRecord,
        most: int,
        goes_on: Callable[[float], Awaitable[bool]],
    ) -> None:
        """Begin without deal-sets.

        Args:
          record: The deal-sets so far; those that are played are added.
          most: The maximal number of deal-sets.
          goes_on: Called before each block with the seconds that the seats of a table took together
            in the previous block, or 0 before the first block. If it returns false, the comparison
            ends.
        """
        super().__init__()
        self._comparison, self._record, self._most = comparison, record, most
        self._goes_on = goes_on
        self._in_play: list[DealSet] = []
        self._outcomes: dict[str, MatchOutcome] = {}
        """Those of the block in play, by match id."""
        self._reported = 0
        self._began_s = self._spent_s = 0.0

    async def take(self, most: int) -> Sequence[DealSet]:
        if not self._in_play and await self._goes_on(self._spent_s):
            self._began_s, first = trio.current_time(), len(self._record.margins) + 1
            end = min(first + BLOCK_DEAL_SETS, self._most + 1)
            self._in_play = [self._comparison.deal_set(number) for number in range(first, end)]
            for deal_set in self._in_play:
                self.add(deal_set)
        return await super().take(most)

    async def report(self, deal_set: DealSet, outcomes: Mapping[str, MatchOutcome]) -> None:  # noqa: ARG002
        """Do as `WorkSource.report` says; add a complete block to the record."""
        self._outcomes.update(outcomes)
        self._reported += 1
        if self._reported < len(self._in_play):
            return
        for plan in self._in_play:
            in_order = [self._outcomes[match.id] for match in plan.matches]
            self._record.add(self._comparison, in_order, plan.number)
        lasted_s = trio.current_time() - self._began_s
        self._spent_s = lasted_s * self._comparison.terms.seats
        self._in_play, self._outcomes, self._reported = [], {}, 0

    async def give_up(self, deal_set: DealSet) -> None:
        """Do as `WorkSource.give_up` says. Raises `UnfinishedComparison` because the margins would lack a deal-set."""
        raise UnfinishedComparison(
            f"the arena could not finish deal-set {deal_set.number} of {self._comparison.name}"
        )


async def play_comparison(
    work: ComparisonWork, comparison: Comparison, arena: Arena, players: Players
) -> None:
    """Play deal-sets of a comparison until its `goes_on` ends it.

    Raises:
      UnfinishedComparison: if the arena cannot finish a match.
      Refused: if the arena refuses one.
      StoreError: if results cannot be read or recorded.
    """
    player = ArenaPlayer(arena, players, partial(order_of, terms=comparison.terms))
    await run_deal_sets(work, player)


def name_of(*about: object) -> str:
    """Return a unique name for a comparison."""
    return f"compare-{digest(*about)[:16]}"
