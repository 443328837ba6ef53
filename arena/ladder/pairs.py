"""What happened between each two bots, and what of it no single scale of skills explains.

A table ranks on a line. Three bots may well beat each other in a circle; then no line is right, and the
table says so: it shows the circles of which every edge is decided, and which share of what differs
between pairs the skills leave over.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from arena.anytime.verdict import Decision, Verdict, verdict
from arena.ladder.margins import DealSet, MarginFit, Score

Pair: TypeAlias = tuple[str, str]
"""Two bots in order of name; margins are of the first over the second."""


def pair_margins(deal_sets: Iterable[DealSet]) -> dict[Pair, list[float]]:
    """For each two bots that met, the margin of every deal-set in which they did, in order.

    It is the mean over the tables at which both sat. A bot that sat at several seats of a table is
    left out there: it played against itself.
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
    """Who of each pair is better, as far as it is decided.

    Raises:
      BeyondBound: if a margin is larger than `bound`.
    """
    return {pair: verdict(own, bound) for pair, own in margins.items()}


def cycles(decided: Mapping[Pair, Verdict]) -> tuple[tuple[str, str, str], ...]:
    """All circles of three in which each is decided to beat the next, the first name first."""
    beats: dict[str, set[str]] = defaultdict(set)
    for (one, other), said in decided.items():
        if said.decision is Decision.BETTER:
            beats[one].add(other)
        elif said.decision is Decision.WORSE:
            beats[other].add(one)
    return tuple(
        sorted(
            (one, other, third)
            for one, beaten in list(beats.items())
            for other in beaten
            for third in beats.get(other, set())
            if one in beats.get(third, set()) and one < min(other, third)
        )
    )


def unexplained_share(fitted: MarginFit, margins: Mapping[Pair, Sequence[float]]) -> float | None:
    """The share of what differs between pairs that the skills do not explain, 0 to 1.

    What chance alone makes is taken from both: from the pairs' mean margins, and from what the skills
    leave of them, which chance makes smaller as skills were fitted to it. None where there are no
    pairs beyond those that fix the skills, or where chance explains all that differs.
    """
    told = {pair: own for pair, own in margins.items() if len(own) > 1}
    bots = {bot for pair in told for bot in pair}
    spare = len(told) - (len(bots) - 1)
    if spare < 1:
        return None
    names = sorted(bots)
    skills = dict(zip(names, fitted.values([Score(bot) for bot in names]), strict=True))
    differs = left = noise = 0.0
    for (one, other), own in told.items():
        mean = math.fsum(own) / len(own)
        differs += len(own) * mean**2
        left += len(own) * (mean - (skills[one] - skills[other])) ** 2
        noise += math.fsum((each - mean) ** 2 for each in own) / (len(own) - 1)
    real = differs - noise
    if real <= 0.0:
        return None
    return float(min(1.0, max(0.0, left - noise * spare / len(told)) / real))
