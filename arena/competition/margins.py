"""What one bot has over another, deal-set by deal-set, as bets on them take it.

A race has no bound of use and is taken as won, drawn or lost. A table that a bot left counts for it as
the worse of what it came to and of the widest lead in the game so far, so that nobody does better by
leaving than by losing; what comes later does not change what counted before.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan
from arena.ladder.walkover import lapse
from arena.terms import MatchTerms


@dataclass(frozen=True, slots=True)
class Measure:
    """How margins of a game are taken."""

    bound: float | None
    """The most that they can be; None if no rule says."""
    races: bool = False
    """Whether only who won counts."""

    def of(self, lead: float) -> float:
        """A lead in scores, as it counts."""
        return math.copysign(1.0, lead) if self.races and lead else lead


def measure(terms: MatchTerms) -> Measure:
    """How margins are taken in matches of these terms."""
    bound = terms.game.margin_bound(terms.options, terms.seats)
    if bound is None and getattr(terms.options, "hands", 1) == 0:
        return Measure(1.0, races=True)
    return Measure(None if bound is None else float(bound))


def margins_between(
    one: str,
    other: str,
    deal_sets: Sequence[DealSetPlan],
    outcomes: Mapping[str, MatchOutcome],
    by: Measure,
) -> list[float]:
    """The margin of `one` over `other` in each of these complete deal-sets, in which both sat."""
    widest, margins = 0.0, []
    for deal_set in deal_sets:
        leads = []
        for match in deal_set.matches:
            outcome = outcomes[match.id]
            here, there = match.bots.index(one), match.bots.index(other)
            lead = by.of(outcome.scores[here] - outcome.scores[there])
            widest = max(widest, abs(lead))
            left = lapse(outcome, here) >= 1.0, lapse(outcome, there) >= 1.0
            if left == (True, False):
                lead = min(lead, -widest)
            elif left == (False, True):
                lead = max(lead, widest)
            leads.append(lead)
        margins.append(math.fsum(leads) / len(leads))
    return margins


def mean_scores(
    group: Sequence[str], deal_sets: Sequence[DealSetPlan], outcomes: Mapping[str, MatchOutcome]
) -> dict[str, float]:
    """The mean score of each bot of a group.

    A table that it left counts as below the lowest score there, by the widest difference at any of
    these tables.
    """
    played = [(match, outcomes[match.id]) for each in deal_sets for match in each.matches]
    widest = max((max(each.scores) - min(each.scores) for _, each in played), default=0.0)
    scores: dict[str, list[float]] = {bot: [] for bot in group}
    for match, outcome in played:
        lost = min(outcome.scores) - (widest or 1.0)
        for seat, bot in enumerate(match.bots):
            left = lapse(outcome, seat) >= 1.0
            scores[bot].append(lost if left else outcome.scores[seat])
    return {bot: math.fsum(own) / len(own) if own else 0.0 for bot, own in scores.items()}
