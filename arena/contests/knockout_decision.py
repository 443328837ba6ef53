"""Decides a knockout's game: by evidence, or by points after a limit of deal-sets."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

LEAST: Final = 10
"""The fewest deal-sets of a game."""
MOST: Final = 200
"""The number of deal-sets after which points decide."""
EXTRA: Final = 10
"""The number of deal-sets that are added if points are equal then."""


class How(StrEnum):
    """The rule that decided a game."""

    EVIDENCE = "decided"
    POINTS = "on points"
    SEED = "by seed"


@dataclass(frozen=True, slots=True)
class Decided:
    """The winner of a game, and how it was decided."""

    first_won: bool
    how: How
    deal_sets: int
    """The deal-sets up to the decision; later ones do not change it."""


def decided(
    margins: Sequence[float], bound: float | None, *, first_is_seeded_higher: bool, most: int = MOST
) -> Decided | None:
    """Return the decision of a game by the margins of the first bot over the second; None before it is decided.

    `bound` is the largest margin that the rules allow; None if there is no limit.

    Raises `BeyondBound` if a margin is larger.
    """
    # Imported here, because they load numpy, and plans use the limits above.
    from arena.results.anytime.bet import ALPHA
    from arena.results.anytime.verdict import evidence_path

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
