"""Is this one better than that one? Deal-sets between them that count for no table.

Against a field both play the same seats of the same boards against the same opponents, one after the
other. Against each other they sit at one table, and take turns with the seats.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import trio

from arena.competition.margins import Measure, measure
from arena.competition.pairing import HOUSE
from arena.ladder.draws import digest, shuffled
from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import planned_tables
from arena.ladder.walkover import lapse
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.competitions.players import Players
from arena.server.orders import DealSetOrder, TableOrder
from arena.terms import MatchTerms

ATTEMPTS: Final = 3
"""Times that a match is started, at most, when the arena keeps failing to finish it."""


class Unfinished(Exception):
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

    def order(self, number: int) -> DealSetOrder:
        """The deal-set of a number, from 1."""
        tables = self._each_other() if self.each_other else self._against_field(number)
        plan = planned_tables(number, tables, self.seed, self.name)
        return DealSetOrder(
            plan.id,
            self.terms,
            tuple(
                TableOrder(match.id, _processes(match.bots, at), at)
                for at, match in enumerate(plan.matches)
            ),
            plan.seed if self.terms.seeded else "",
        )

    def margin(self, outcomes: Sequence[MatchOutcome], number: int, widest: float) -> float:
        """What the first has over the second in a deal-set.

        `outcomes` are those of its tables in order, and `widest` the widest difference before.
        """
        order, leads = self.order(number), []
        if self.each_other:
            pairs = [(at, at) for at in range(2)]
        else:
            pairs = [(at, at + self.terms.seats) for at in range(self.terms.seats)]
        for here, there in pairs:
            one = _seat(order.tables[here], self.first)
            other = _seat(order.tables[there], self.second)
            lead = self._worth(outcomes[here], one) - self._worth(outcomes[there], other)
            if self.measure.races:
                lead /= 2.0
            left = lapse(outcomes[here], one) >= 1.0, lapse(outcomes[there], other) >= 1.0
            widest = max(widest, abs(lead))
            if left == (True, False):
                lead = min(lead, -widest)
            elif left == (False, True):
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


def _seat(table: TableOrder, bot: str) -> int:
    return next(seat for seat, each in enumerate(table.bots) if each.name == bot)


def _processes(bots: Sequence[str], table: int) -> tuple[BotId, ...]:
    """A process of each bot that sits at no other table of the deal-set, nor at two seats of this."""
    seats = len(bots)
    return tuple(
        BotId(bot, table * seats + seat if bot == HOUSE else table) for seat, bot in enumerate(bots)
    )


async def play(
    comparison: Comparison, number: int, widest: float, arena: Arena, players: Players
) -> tuple[float, float]:
    """Have one deal-set played; its margin, and the seconds that its seats took together.

    Raises:
      Unfinished: if the arena cannot finish a match.
      Refused: if it is closing.
      StoreError: if results cannot be read or recorded.
    """
    order = comparison.order(number)
    began_s = trio.current_time()
    await players.ensure(order.bots)
    if not comparison.terms.seeded:
        await arena.matches.fix_deals(order)
    outcomes: dict[str, MatchOutcome] = {}

    async def table(match_id: str) -> None:
        for _ in range(ATTEMPTS):
            outcome = await arena.lease(order, match_id)
            if outcome.has_result:
                outcomes[match_id] = outcome
                return

    async with trio.open_nursery() as nursery:
        for each in order.tables:
            nursery.start_soon(functools.partial(table, each.match_id))
    if len(outcomes) < len(order.tables):
        raise Unfinished(f"the arena could not finish deal-set {number} of {comparison.name}")
    in_order = [outcomes[each.match_id] for each in order.tables]
    lasted_s = trio.current_time() - began_s
    return comparison.margin(in_order, number, widest), lasted_s * comparison.terms.seats


def name_of(*about: object) -> str:
    """A name for a comparison that no other has."""
    return f"compare-{digest(*about)[:16]}"
