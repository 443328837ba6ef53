"""Wins, draws and losses: of each bot, and of each two over the matches at which both sat."""

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan


@dataclass(frozen=True, slots=True)
class Record:
    """How often somebody won, drew and lost."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    points: float = 0.0
    """By how much it scored more than the other, in all matches together; not kept of a bot alone."""

    @property
    def matches(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def margin(self) -> float:
        """Points a match; 0 before the first."""
        return self.points / self.matches if self.matches else 0.0

    def plus(self, sign: int, points: float = 0.0) -> "Record":
        """With one more match: won if `sign` is above 0, drawn at 0, else lost."""
        return Record(
            self.wins + (sign > 0),
            self.draws + (sign == 0),
            self.losses + (sign < 0),
            self.points + points,
        )

    def __str__(self) -> str:
        return f"{self.wins}-{self.draws}-{self.losses}"


Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Records:
    """Records of all bots of a tournament, from every match that has a result."""

    of_bot: Mapping[str, Record]
    """A match is won by who is first alone, and drawn by those who share the first place."""
    of_pair: Mapping[Pair, Record]
    """For both orders of two bots: who is placed before the other has won against it."""


def records(deal_sets: Sequence[DealSetPlan], outcomes: Mapping[str, MatchOutcome]) -> Records:
    """The records of a schedule's bots, by the outcomes, given by match id, that are there.

    They tell what happened. Which bot is better tell the skills, from which the luck of the
    deal is taken.
    """
    of_bot = {bot: Record() for each in deal_sets for bot in each.bots}
    of_pair: dict[Pair, Record] = defaultdict(Record)
    for match in (match for each in deal_sets for match in each.matches):
        outcome = outcomes.get(match.id)
        if outcome is None or not outcome.has_result:
            continue
        first = outcome.places.count(1)
        for bot, place in zip(match.bots, outcome.places, strict=True):
            sign = -1 if place > 1 else 1 if first == 1 else 0
            of_bot[bot] = of_bot[bot].plus(sign)
        for one, other in itertools.permutations(range(len(match.bots)), 2):
            pair = match.bots[one], match.bots[other]
            better = outcome.places[other] - outcome.places[one]
            margin = outcome.scores[one] - outcome.scores[other]
            of_pair[pair] = of_pair[pair].plus(better, margin)
    return Records(of_bot, dict(of_pair))
