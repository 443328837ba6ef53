"""Wins, draws and losses of each bot, and of each pair over the matches at which both sat."""

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from arena.results.deal_sets import DealSet, MatchOutcome, places_with_forfeits


@dataclass(frozen=True, slots=True)
class WinRecord:
    """Numbers of wins, draws and losses."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def plus(self, sign: int) -> "WinRecord":
        """Return the record with one more match: won if `sign` is above 0, drawn at 0, otherwise lost."""
        return WinRecord(self.wins + (sign > 0), self.draws + (sign == 0), self.losses + (sign < 0))

    def __str__(self) -> str:
        return f"{self.wins}-{self.draws}-{self.losses}"


Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class WinRecords:
    """The records of a schedule, from all matches that have a result."""

    of_bot: Mapping[str, WinRecord]
    """A bot wins by a sole first place, and draws by a shared one."""
    of_pair: Mapping[Pair, WinRecord]
    """For both orders of two bots: the one with the better place has won."""


def records(deal_sets: Sequence[DealSet], outcomes: Mapping[str, MatchOutcome]) -> WinRecords:
    """Return the records of a schedule's bots; `outcomes` are by match id.

    Seats that count as forfeited come after all others, as in margins. Records include the luck of the deal. Skills,
    which do not, show which bot is better.
    """
    of_bot = {bot: WinRecord() for deal_set in deal_sets for bot in deal_set.bots}
    of_pair: dict[Pair, WinRecord] = defaultdict(WinRecord)
    for match in (match for deal_set in deal_sets for match in deal_set.matches):
        outcome = outcomes.get(match.id)
        if outcome is None or not outcome.has_result:
            continue
        places = places_with_forfeits(outcome)
        first = places.count(1)
        for bot, place in zip(match.bots, places, strict=True):
            sign = -1 if place > 1 else 1 if first == 1 else 0
            of_bot[bot] = of_bot[bot].plus(sign)
        for one, other in itertools.permutations(range(len(match.bots)), 2):
            pair = match.bots[one], match.bots[other]
            of_pair[pair] = of_pair[pair].plus(places[other] - places[one])
    return WinRecords(of_bot, dict(of_pair))
