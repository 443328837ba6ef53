"""Scoring of Jam: slams, majorities and rubbers (J7 to J10)."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from arena.games.frozen import Frozen

HAND: Final = 5
TRICKS: Final = 26
MAX_RUBBERS: Final = 5
"""The maximal number of rubbers in a match; then most rubbers win (ruling 13)."""
BABY: Final = 4
GRAND: Final = 5


class Claim(Frozen):
    """What a seat claims for the tricks of a hand (J9)."""

    babies: int
    grand: bool
    majority: int
    """The number of tricks claimed: 0, 14 or 15."""


def best_claim(winners: Sequence[int], seat: int) -> Claim:
    """Return the claim with the most points for a hand (J9); of equals the one with a grand slam."""
    streaks = [sum(1 for _ in run) for who, run in groupby(winners) if who == seat]
    won = sum(streaks)
    babies = sum(length // BABY for length in streaks)
    grands = [length for length in streaks if length >= GRAND]
    if grands:
        # The grand slam uses five tricks. It costs two baby slams if no trick of the streak is left over.
        lost = 1 if any(length % BABY for length in grands) else 2
        return Claim(babies - lost, grand=True, majority=14 if won >= 14 else 0)
    return Claim(babies, grand=False, majority=15 if won >= 15 else 14 if won == 14 else 0)


def claim_points(claim: Claim) -> int:
    """Return the points of a claim (J7, J8)."""
    majority = {0: 0, 14: 2, 15: 3}[claim.majority]
    return claim.babies + (3 if claim.grand else 0) + majority
