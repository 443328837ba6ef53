"""The reasons why a match is worth watching: one rule for each kind, from its result and those of earlier matches.

Matches are compared with the latest `COMPARED` of the same game, seats and hands, so there is something to watch at
any time. The store keeps the kind when a match ends.
"""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from arena.results.deal_sets import MatchOutcome, bot_of

COMPARED: Final = 300
LEAST_COMPARED: Final = 20
"""The fewest compared matches for the kinds `CLOSEST` and `RECORD`."""
LEAST_MEETINGS: Final = 5
LEAST_LOST: Final = 0.8
"""The least share of their earlier meetings that the winner of an upset had lost."""
CLOSE: Final = 0.02
"""The largest share of the compared matches that were as close as a close one."""
ANY_WORTH: Final = "any"
"""Stands for all kinds in a filter of matches."""


class Worth(StrEnum):
    """The reason why a match is worth watching. The rules are tried in the order of the kinds."""

    FORFEIT = "forfeit"
    """A bot forfeited, and the fallback played on."""
    UPSET = "upset"
    """The winner had lost nearly all of the latest meetings of the two."""
    RECORD = "record"
    """No compared match had a higher score."""
    COSTLIEST = "costliest"
    """No compared match had a hand with a larger difference between seats."""
    CLOSEST = "closest"
    """Hardly any compared match had a smaller margin."""


class ComparedMatch(NamedTuple):
    """An earlier match, with the values that the rules use."""

    seats: int
    highest_score: float
    margin: float
    """The `margin` of its scores."""
    cost: int
    """See `MatchOutcome.cost`."""
    pair: tuple[str, ...]
    """The two bots by name; empty if it had other than two seats."""
    lead: float
    """The points by which the first of the pair was ahead; 0 without a pair."""

    @classmethod
    def of(cls, bots: Sequence[str], scores: Sequence[float], cost: int) -> "ComparedMatch":
        """Return a match between bots in seat order."""
        pair: tuple[str, ...] = ()
        lead = 0.0
        if len(bots) == 2:
            (first, score), (second, other) = _by_name(bots, scores)
            pair, lead = (first, second), score - other
        return cls(len(bots), max(scores), margin(scores), cost, pair, lead)


def margin(scores: Sequence[float]) -> float:
    """Return the points by which the first is ahead of the second; 0 without a second."""
    best = sorted(scores, reverse=True)
    return float(best[0] - best[1]) if len(best) > 1 else 0.0


class EarlierMatches:
    """Matches of the same game, seats and hands, with which others are compared."""

    def __init__(self, matches: Sequence[ComparedMatch]) -> None:
        """Summarise the matches once, because many that end together are compared with them."""
        self._highest_score = max((match.highest_score for match in matches), default=-math.inf)
        self._highest_cost = max((match.cost for match in matches), default=0)
        self._margins = sorted(match.margin for match in matches)
        self._leads: dict[tuple[str, ...], list[float]] = defaultdict(list)
        for match in matches:
            self._leads[match.pair].append(match.lead)

    def worth(self, outcome: MatchOutcome, bots: Sequence[str]) -> Worth | None:
        """Return why a match is worth watching; None without a reason, or without a result."""
        if not outcome.has_result:
            return None
        if any(outcome.forfeited):
            return Worth.FORFEIT
        if len(bots) == 2 and self._is_upset(outcome.scores, bots):
            return Worth.UPSET
        if len(self._margins) < LEAST_COMPARED:
            return None
        if max(outcome.scores) > self._highest_score:
            return Worth.RECORD
        if outcome.cost > self._highest_cost:
            return Worth.COSTLIEST
        ahead = margin(outcome.scores)
        as_close = bisect_right(self._margins, ahead)
        return Worth.CLOSEST if ahead and as_close < CLOSE * len(self._margins) else None

    def _is_upset(self, scores: Sequence[float], bots: Sequence[str]) -> bool:
        (first, score), (second, other) = _by_name(bots, scores)
        if score == other or first == second:
            return False
        pair = first, second
        leads = self._leads.get(pair, ())
        lost = sum(lead < 0 if score > other else lead > 0 for lead in leads)
        return len(leads) >= LEAST_MEETINGS and lost >= LEAST_LOST * len(leads)


def _by_name(bots: Sequence[str], scores: Sequence[float]) -> list[tuple[str, float]]:
    return sorted(zip(map(bot_of, bots), scores, strict=True))
