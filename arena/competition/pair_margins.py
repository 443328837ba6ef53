"""Margins of one bot over another by deal-set, as anytime tests use them.

A race has no useful bound and counts as won, drawn or lost. A table that a bot forfeited counts as the worse of
its result and the widest lead in the game so far, so that no bot gains by forfeiting instead of losing. Later
deal-sets do not change earlier margins.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.schedule.deal_sets import DealSetPlan, MatchOutcome, lapse
from arena.terms import MatchTerms


@dataclass(frozen=True, slots=True)
class Measure:
    """How margins of a game are measured."""

    bound: float | None
    """The largest possible margin; None if the rules have no limit."""
    races: bool = False
    """Whether only wins, draws and losses count."""

    def of(self, lead: float) -> float:
        """The margin of a lead in scores."""
        return math.copysign(1.0, lead) if self.races and lead else lead


def measure(terms: MatchTerms) -> Measure:
    """How margins are measured in matches of these terms."""
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
            forfeited = lapse(outcome, here) >= 1.0, lapse(outcome, there) >= 1.0
            if forfeited == (True, False):
                lead = min(lead, -widest)
            elif forfeited == (False, True):
                lead = max(lead, widest)
            leads.append(lead)
        margins.append(math.fsum(leads) / len(leads))
    return margins


def mean_scores(
    group: Sequence[str], deal_sets: Sequence[DealSetPlan], outcomes: Mapping[str, MatchOutcome]
) -> dict[str, float]:
    """The mean score of each bot of a group.

    A table that a bot forfeited counts as the lowest score there minus the widest difference at any of these
    tables.
    """
    played = [(match, outcomes[match.id]) for each in deal_sets for match in each.matches]
    widest = max((max(each.scores) - min(each.scores) for _, each in played), default=0.0)
    scores: dict[str, list[float]] = {bot: [] for bot in group}
    for match, outcome in played:
        lost = min(outcome.scores) - (widest or 1.0)
        for seat, bot in enumerate(match.bots):
            forfeited = lapse(outcome, seat) >= 1.0
            scores[bot].append(lost if forfeited else outcome.scores[seat])
    return {bot: math.fsum(own) / len(own) if own else 0.0 for bot, own in scores.items()}
