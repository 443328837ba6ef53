"""Margins of one bot over another by deal-set: the one measure of standings, knockouts, pages and comparisons.

A race has no useful bound and counts as won, drawn or lost. For a bot that forfeited a table, the table counts as the
worse of its result and a loss by the widest lead of the two so far, so that no bot gains by forfeiting instead of
losing. Later deal-sets do not change earlier margins.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from arena.referee.terms import MatchTerms
from arena.results.deal_sets import DealSet, MatchOutcome, lapse, lead_with_forfeits
from arena.results.pairs import Pair


@dataclass(frozen=True, slots=True)
class Measure:
    """How margins of a game are measured."""

    bound: float | None
    """The largest possible margin; None if the rules have no limit."""
    races: bool = False
    """Whether only wins, draws and losses count."""

    @property
    def unit(self) -> str:
        return "wins less losses a match, -1 to 1" if self.races else "points a deal-set"

    def of(self, lead: float) -> float:
        return math.copysign(1.0, lead) if self.races and lead else lead


def measure(terms: MatchTerms) -> Measure:
    """Return how margins are measured in matches of these terms."""
    bound = terms.game.margin_bound(terms.options, terms.seats)
    if bound is None and getattr(terms.options, "hands", 1) == 0:
        return Measure(1.0, races=True)
    return Measure(None if bound is None else float(bound))


def pair_margins(
    deal_sets: Iterable[DealSet], outcomes: Mapping[str, MatchOutcome], by: Measure
) -> dict[Pair, list[float]]:
    """Return, by pair of bots, the margins of the complete deal-sets in which they met, in order.

    A margin is the mean over the tables at which both sat. Tables at which a bot has several seats are left out for it,
    because it played against itself.
    """
    margins: dict[Pair, list[float]] = defaultdict(list)
    widest: dict[Pair, float] = defaultdict(float)
    for deal_set in deal_sets:
        leads: dict[Pair, list[float]] = defaultdict(list)
        for match in deal_set.matches:
            outcome = outcomes[match.id]
            seats = {bot: seat for seat, bot in enumerate(match.bots) if match.bots.count(bot) == 1}
            for pair in itertools.combinations(sorted(seats), 2):
                here, there = (seats[bot] for bot in pair)
                lead = by.of(outcome.scores[here] - outcome.scores[there])
                widest[pair] = max(widest[pair], abs(lead))
                forfeited = lapse(outcome, here) >= 1.0, lapse(outcome, there) >= 1.0
                leads[pair].append(lead_with_forfeits(lead, forfeited, widest[pair]))
        for pair, leads_of_pair in leads.items():
            margins[pair].append(math.fsum(leads_of_pair) / len(leads_of_pair))
    return dict(margins)


def margins_between(
    one: str,
    other: str,
    deal_sets: Sequence[DealSet],
    outcomes: Mapping[str, MatchOutcome],
    by: Measure,
) -> list[float]:
    """Return the margin of `one` over `other` in each of these complete deal-sets, in which both sat."""
    margins = pair_margins(deal_sets, outcomes, by)
    if one < other:
        return margins.get((one, other), [])
    return [-margin for margin in margins.get((other, one), [])]


def mean_scores(
    group: Sequence[str], deal_sets: Sequence[DealSet], outcomes: Mapping[str, MatchOutcome]
) -> dict[str, float]:
    """Return the mean score of each bot of a group.

    A table that a bot forfeited counts as the lowest score there minus the widest difference at any of these
    tables.
    """
    played = [(match, outcomes[match.id]) for deal_set in deal_sets for match in deal_set.matches]
    widest = max((max(outcome.scores) - min(outcome.scores) for _, outcome in played), default=0.0)
    scores: dict[str, list[float]] = {bot: [] for bot in group}
    for match, outcome in played:
        lost = min(outcome.scores) - (widest or 1.0)
        for seat, bot in enumerate(match.bots):
            forfeited = lapse(outcome, seat) >= 1.0
            scores[bot].append(lost if forfeited else outcome.scores[seat])
    return {
        bot: math.fsum(of_bot) / len(of_bot) if of_bot else 0.0 for bot, of_bot in scores.items()
    }
