"""Seats left: what a table counts for a bot that did not play it itself.

Where a bot goes, or does wrong too often, the fallback plays its seat. What that
scores is no merit of the bot, and no loss of those who meet it. So in the fit all
seats left are one player, `FALLBACK`, and for the bot the table is a walkover: the
worse of what the table came to and -W. Where it stays, each fault takes its share of
W off the table. The official score is the mean over all tables of that.

W is the larger of what hardly a seat loses in this game (the 95th percentile of the
sizes of leads) and of what the worst player of the fit loses, the fallback among them.
It is as large as it is so that nobody does better by leaving than by losing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from arena.ladder.margins import MarginFit, Score
from arena.ladder.results import MatchOutcome

FALLBACK: Final = "(fallback)"
"""The player of all seats left; no bot can have the name."""

LEFT_AT: Final = 0.1
"""A seat is left when the fallback played this share of its decisions, or the bot forfeited."""
_TAIL: Final = 0.95


@dataclass(frozen=True, slots=True)
class SeatPlayed:
    """What one match of a complete deal-set was to one of its bots."""

    bot: str
    lead: float
    """Points ahead of the mean of the others at the table."""
    lapse: float
    """0 if it played all itself, 1 if it left the seat."""

    @property
    def left(self) -> bool:
        """Whether the table is a walkover."""
        return self.lapse >= 1.0


def lapse(outcome: MatchOutcome, seat: int) -> float:
    """How far a seat was left: 0 if its bot decided everything, 1 if it is a walkover."""
    if outcome.left and outcome.left[seat]:
        return 1.0
    return min(1.0, outcome.fallback_share[seat] / LEFT_AT) if outcome.fallback_share else 0.0


def seats_played(bots: Sequence[str], outcome: MatchOutcome) -> tuple[SeatPlayed, ...]:
    """What a match was to each of its bots, in seat order."""
    others, total = len(bots) - 1, sum(outcome.scores)
    return tuple(
        SeatPlayed(bot, score - (total - score) / others, lapse(outcome, seat))
        for seat, (bot, score) in enumerate(zip(bots, outcome.scores, strict=True))
    )


def walkover(played: Iterable[SeatPlayed], ranked: MarginFit) -> float:
    """W: the points that a table costs, at least, whoever leaves it."""
    sizes = [abs(seat.lead) for seat in played]
    usual = float(np.quantile(sizes, _TAIL, method="higher"))
    players = [Score(bot) for bot in (*ranked.bots, *ranked.apart)]
    worst = min((skill.value for skill in ranked.scores(players)), default=0.0)
    return max(usual, -worst)


def official(bot: str, played: Sequence[SeatPlayed], points: float) -> Score:
    """The official score of `bot`, of whose tables there is at least one; `points` are W."""
    own = [seat for seat in played if seat.bot == bot]
    stayed = [seat for seat in own if not seat.left]
    lost = sum(min(seat.lead, -points) for seat in own if seat.left)
    lost -= sum(seat.lapse for seat in stayed) * points
    return Score(bot, len(stayed) / len(own), lost / len(own))
