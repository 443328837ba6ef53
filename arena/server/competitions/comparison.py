"""Comparisons: whether one bot is better than another, by deal-sets that count for no standings.

Against a field both play the same seats of the same boards against the same opponents, one after the other.
Against each other they sit at one table, and take turns with the seats.
"""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import trio

from arena.competition.pair_margins import Measure, measure
from arena.competition.pairing import HOUSE
from arena.schedule.deal_sets import (
    DealSetPlan,
    MatchOutcome,
    digest,
    lapse,
    planned_tables,
    shuffled,
)
from arena.schedule.runner import run_deal_sets
from arena.schedule.work import DealSetJob, ScheduledWork
from arena.server.arena import Arena
from arena.server.competitions.arena_player import ArenaPlayer, order_of
from arena.server.competitions.players import Players
from arena.terms import MatchTerms

BLOCK_DEAL_SETS: Final = 16
"""Deal-sets that are played before the test looks at their margins: processes are started anew for each table."""


class UnfinishedComparison(Exception):
    """The arena could not finish a match of a comparison."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared, by what, against whom."""

    name: str
    """Names its deal-sets; no two comparisons share it."""
    terms: MatchTerms
    first: str
    second: str
    field: tuple[str, ...] = ()
    """Opponents to draw from; where there are too few, the house fills the seats."""
    each_other: bool = False
    """Whether the two sit at one table, which has two seats."""
    seed: str = ""
    """Fixes opponents and seating, and deals that are seeded."""

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise ValueError(f"{self.first} is compared with itself")
        if self.each_other and self.terms.seats != 2:
            raise ValueError(
                f"two are against each other at two seats, not {self.terms.seats}: compare them "
                "against a field"
            )

    @property
    def measure(self) -> Measure:
        """How margins are taken."""
        return measure(self.terms)

    def deal_set(self, number: int) -> DealSetPlan:
        """The deal-set of a number, from 1."""
        tables = self._each_other() if self.each_other else self._against_field(number)
        return planned_tables(number, tables, self.seed, self.name)

    def margin(self, outcomes: Sequence[MatchOutcome], number: int, widest: float) -> float:
        """What the first has over the second in a deal-set.

        `outcomes` are those of its tables in order, and `widest` the widest difference before.
        """
        tables, leads = self.deal_set(number).matches, []
        if self.each_other:
            pairs = [(at, at) for at in range(2)]
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
            if forfeited == (True, False):
                lead = min(lead, -widest)
            elif forfeited == (False, True):
                lead = max(lead, widest)
            leads.append(lead)
        return math.fsum(leads) / len(leads)

    def _worth(self, outcome: MatchOutcome, seat: int) -> float:
        """What a table came to for a seat: its score, or in a race whether it won."""
        if not self.measure.races:
            return outcome.scores[seat]
        own, others = outcome.places[seat], [*outcome.places[:seat], *outcome.places[seat + 1 :]]
        return float((own < min(others)) - (own > min(others)))

    def _each_other(self) -> list[tuple[str, ...]]:
        return [(self.first, self.second), (self.second, self.first)]

    def _against_field(self, number: int) -> list[tuple[str, ...]]:
        seats = self.terms.seats
        opponents = shuffled(self.field, self.seed, "opponents", number)[: seats - 1]
        opponents += [HOUSE] * (seats - 1 - len(opponents))
        return [
            tuple(([who, *opponents] * 2)[turn : turn + seats])
            for who in (self.first, self.second)
            for turn in range(seats)
        ]


class ComparisonWork(ScheduledWork):
    """A `WorkSource` that leases deal-sets of a comparison until it is decided, a block of them at a time."""

    def __init__(
        self,
        comparison: Comparison,
        margins: list[float],
        most: int,
        goes_on: Callable[[float], Awaitable[bool]],
    ) -> None:
        """Lease nothing yet.

        Args:
          comparison: What is compared.
          margins: Those of the deal-sets so far; those that are played are added.
          most: Deal-sets that it has at most.
          goes_on: Called before each block with the seconds that the seats of a table took together in the block
            before, 0 before the first; false ends the comparison.
        """
        super().__init__()
        self._comparison, self._margins, self._most = comparison, margins, most
        self._goes_on = goes_on
        self._in_play: list[DealSetPlan] = []
        self._outcomes: dict[str, MatchOutcome] = {}
        """Those of the block in play, by match id."""
        self._reported = 0
        self._began_s = self._spent_s = 0.0

    async def lease(self, worker: str, most: int) -> Sequence[DealSetJob]:
        """As `WorkSource.lease`."""
        if not self._in_play and await self._goes_on(self._spent_s):
            self._began_s, first = trio.current_time(), len(self._margins) + 1
            end = min(first + BLOCK_DEAL_SETS, self._most + 1)
            self._in_play = [self._comparison.deal_set(number) for number in range(first, end)]
            for each in self._in_play:
                self.add(each)
        return await super().lease(worker, most)

    async def report(
        self, worker: str, job: DealSetJob, outcomes: Mapping[str, MatchOutcome]
    ) -> None:
        """As `WorkSource.report`; keep the margins of a block that is over."""
        await super().report(worker, job, outcomes)
        self._outcomes.update(outcomes)
        self._reported += 1
        if self._reported < len(self._in_play):
            return
        for plan in self._in_play:
            in_order = [self._outcomes[match.id] for match in plan.matches]
            widest = max((abs(each) for each in self._margins), default=0.0)
            self._margins.append(self._comparison.margin(in_order, plan.number, widest))
        lasted_s = trio.current_time() - self._began_s
        self._spent_s = lasted_s * self._comparison.terms.seats
        self._in_play, self._outcomes, self._reported = [], {}, 0

    async def give_up(self, worker: str, job: DealSetJob) -> None:
        """As `WorkSource.give_up`.

        Raises:
          UnfinishedComparison: because the margins would lack a deal-set.
        """
        await super().give_up(worker, job)
        raise UnfinishedComparison(
            f"the arena could not finish deal-set {job.deal_set.number} of {self._comparison.name}"
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
    """A name for a comparison that no other has."""
    return f"compare-{digest(*about)[:16]}"
