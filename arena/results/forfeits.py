"""Forfeits: how a match counts for a bot that did not play it itself.

When a bot disconnects for ever, or commits too many faults, the fallback plays its seat. The fallback's score
says nothing about the skill of the bot. So the fit takes all forfeited seats as one player, `FALLBACK`. For the
bot such a match counts as the worse of its result and -W. In matches that the bot played itself, each fault
costs a share of W. The official score is the mean over all matches.

W is the larger of two numbers: the 95th percentile of the absolute leads in this game, and the loss of the worst
player of the fit, including the fallback. So no bot gains by forfeiting instead of losing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from arena.results.deal_sets import MatchOutcome, lapse
from arena.results.margin_fit import MarginFit, Score

FALLBACK: Final = "(fallback)"
"""The player of all forfeited seats. The name is not valid for a bot."""

_TAIL: Final = 0.95


@dataclass(frozen=True, slots=True)
class SeatResult:
    """The result of one seat at one match of a complete deal-set."""

    bot: str
    lead: float
    """Points minus the mean of the others at the table."""
    lapse: float
    """0 if the bot made all decisions, 1 if the seat counts as forfeited."""

    @property
    def forfeited(self) -> bool:
        """Whether the seat counts as forfeited."""
        return self.lapse >= 1.0


def seats_played(bots: Sequence[str], outcome: MatchOutcome) -> tuple[SeatResult, ...]:
    """Return the results of the seats of a match, in seat order."""
    others, total = len(bots) - 1, sum(outcome.scores)
    return tuple(
        SeatResult(bot, score - (total - score) / others, lapse(outcome, seat))
        for seat, (bot, score) in enumerate(zip(bots, outcome.scores, strict=True))
    )


def forfeit_points(played: Iterable[SeatResult], ranked: MarginFit) -> float:
    """Return W, the smallest cost of a forfeited seat, in points."""
    sizes = [abs(result.lead) for result in played]
    usual = float(np.quantile(sizes, _TAIL, method="higher"))
    players = [Score(bot) for bot in (*ranked.bots, *ranked.excluded)]
    worst = min((skill.value for skill in ranked.scores(players)), default=0.0)
    return max(usual, -worst)


def official(bot: str, played: Sequence[SeatResult], points: float) -> Score:
    """Return the official score of a bot that played at least one match; `points` are W."""
    results = [result for result in played if result.bot == bot]
    stayed = [result for result in results if not result.forfeited]
    lost = sum(min(result.lead, -points) for result in results if result.forfeited)
    lost -= sum(result.lapse for result in stayed) * points
    return Score(bot, len(stayed) / len(results), lost / len(results))
