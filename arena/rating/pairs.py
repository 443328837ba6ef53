"""Pairs of bots: their margins, cycles, and the share of differences that skills do not explain.

Standings rank bots on one scale. If three bots win against each other in a cycle, no scale is right. So the
standings show the cycles in which every difference is decided, and the share of the differences between pairs
that skills leave unexplained.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from arena.anytime.multiple_tests import holds_among
from arena.anytime.verdict import Decision, Verdict, verdict
from arena.rating.margin_fit import DealSet, MarginFit, Score

Pair: TypeAlias = tuple[str, str]
"""Two bots in order of name; margins are of the first over the second."""


def pair_margins(deal_sets: Iterable[DealSet]) -> dict[Pair, list[float]]:
    """For each two bots that met, the margins of all deal-sets in which they met, in order.

    A margin is the mean over the tables at which both sat. A bot at several seats of a table is left out there,
    because it played against itself.
    """
    margins: dict[Pair, list[float]] = defaultdict(list)
    for deal_set in deal_sets:
        leads: dict[Pair, list[float]] = defaultdict(list)
        for table in deal_set.tables:
            alone = {
                bot: score
                for bot, score in zip(table.bots, table.scores, strict=True)
                if table.bots.count(bot) == 1
            }
            for one, other in itertools.combinations(sorted(alone), 2):
                leads[one, other].append(alone[one] - alone[other])
        for pair, own in leads.items():
            margins[pair].append(math.fsum(own) / len(own))
    return dict(margins)


def verdicts(margins: Mapping[Pair, Sequence[float]], bound: float | None) -> dict[Pair, Verdict]:
    """The verdict on each pair, decided where it holds among all pairs by the evidence now.

    Raises:
      BeyondBound: if a margin is larger than `bound`.
    """
    alone = {pair: verdict(own, bound) for pair, own in margins.items()}
    held = holds_among([each.e_value for each in alone.values()])
    return {
        pair: found if holds else replace(found, decision=Decision.OPEN)
        for (pair, found), holds in zip(alone.items(), held, strict=True)
    }


def cycles(decided: Mapping[Pair, Verdict]) -> tuple[tuple[str, str, str], ...]:
    """All cycles of three bots in which each is decided to be better than the next, first name first."""
    worse_than: dict[str, set[str]] = defaultdict(set)
    for (one, other), found in decided.items():
        if found.decision is Decision.BETTER:
            worse_than[one].add(other)
        elif found.decision is Decision.WORSE:
            worse_than[other].add(one)
    return tuple(
        sorted(
            (one, other, third)
            for one, worse in list(worse_than.items())
            for other in worse
            for third in worse_than.get(other, set())
            if one in worse_than.get(third, set()) and one < min(other, third)
        )
    )


def unexplained_share(fitted: MarginFit, margins: Mapping[Pair, Sequence[float]]) -> float | None:
    """The share of the variance between pairs that the skills do not explain, 0 to 1.

    The expected contribution of chance is subtracted from the variance of the pairs' mean margins and from that
    of their residuals; for the residuals it is smaller, because the skills were fitted to them. None if there
    are no more pairs than the skills need, or if chance explains all variance.
    """
    repeated = {pair: own for pair, own in margins.items() if len(own) > 1}
    bots = {bot for pair in repeated for bot in pair}
    spare = len(repeated) - (len(bots) - 1)
    if spare < 1:
        return None
    names = sorted(bots)
    skills = dict(zip(names, fitted.values([Score(bot) for bot in names]), strict=True))
    differs = left = noise = 0.0
    for (one, other), own in repeated.items():
        mean = math.fsum(own) / len(own)
        differs += len(own) * mean**2
        left += len(own) * (mean - (skills[one] - skills[other])) ** 2
        noise += math.fsum((each - mean) ** 2 for each in own) / (len(own) - 1)
    real = differs - noise
    if real <= 0.0:
        return None
    return float(min(1.0, max(0.0, left - noise * spare / len(repeated)) / real))
