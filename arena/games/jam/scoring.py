"""What the tricks of Jam are worth: slams, majorities, rubbers (J7 to J10)."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from arena.games.values import value

HAND: Final = 5
TRICKS: Final = 26
MAX_DEALS: Final = 50
"""Deals in one rubber; then the higher total wins it (ruling 13)."""
MAX_RUBBERS: Final = 5
"""Rubbers in a match; then more rubbers won wins (ruling 13)."""
BABY: Final = 4
GRAND: Final = 5


@value(frozen=True, slots=True)
class Claim:
    """What a seat's tricks of a deal are worth, at best (J9)."""

    babies: int
    grand: bool
    majority: int
    """0, 14 or 15."""


def best_claim(winners: Sequence[int], seat: int) -> Claim:
    """The most that a seat can claim for a deal (J9); of equals, the one with a grand slam."""
    streaks = [sum(1 for _ in run) for who, run in groupby(winners) if who == seat]
    won = sum(streaks)
    babies = sum(length // BABY for length in streaks)
    grands = [length for length in streaks if length >= GRAND]
    if grands:
        # Five tricks out of a streak of exactly eight, say, cost it both its babies.
        lost = 1 if any(length % BABY for length in grands) else 2
        return Claim(babies - lost, grand=True, majority=14 if won >= 14 else 0)
    return Claim(babies, grand=False, majority=15 if won >= 15 else 14 if won == 14 else 0)


def claim_points(claim: Claim) -> int:
    """Points of a claim (J7, J8)."""
    majority = {0: 0, 14: 2, 15: 3}[claim.majority]
    return claim.babies + (3 if claim.grand else 0) + majority


def rubber_is_over(target: int, deals_played: int, totals: tuple[int, int]) -> bool:
    """Whether a completed deal ends the rubber (J10, ruling 13)."""
    return deals_played >= MAX_DEALS or (max(totals) >= target and totals[0] != totals[1])
