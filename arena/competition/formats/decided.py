"""Who goes on from a knockout's game: decided by evidence, or, when that takes too long, on points."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from arena.anytime.bet import ALPHA
from arena.anytime.verdict import evidence_path

LEAST: Final = 10
"""Deal-sets that every game has."""
MOST: Final = 200
"""Deal-sets after which points decide."""
EXTRA: Final = 10
"""Deal-sets that are added when points are equal then."""


class How(StrEnum):
    """What decided a game."""

    EVIDENCE = "decided"
    POINTS = "on points"
    SEED = "by seed"


@dataclass(frozen=True, slots=True)
class Decided:
    """Who won a game, and how."""

    first_won: bool
    how: How
    deal_sets: int
    """Those that it took; later ones count for nothing here."""


def decided(
    margins: Sequence[float], bound: float | None, *, first_is_seeded_higher: bool, most: int = MOST
) -> Decided | None:
    """Who won a game of these margins of the first against the second; None while it goes on.

    `bound` is the most that the rules allow, None if they allow any.

    Raises:
      BeyondBound: if a margin is larger.
    """
    path = evidence_path(margins, bound)
    for number in range(LEAST, min(len(margins), most) + 1):
        if path[number - 1] >= -math.log(ALPHA):
            return Decided(math.fsum(margins[:number]) > 0.0, How.EVIDENCE, number)
    for number in (most, most + EXTRA):
        if len(margins) < number:
            return None
        lead = math.fsum(margins[:number])
        if lead != 0.0:
            return Decided(lead > 0.0, How.POINTS, number)
    return Decided(first_is_seeded_higher, How.SEED, most + EXTRA)
