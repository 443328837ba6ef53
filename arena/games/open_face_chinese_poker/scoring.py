"""Scoring of Open-Face Chinese Poker: royalties, settlement and Fantasyland.

Hands are ranked, and fouls defined, as in Chinese Poker. O1 to O14 are rulings of this game.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.games import poker
from arena.games.cards import RANKS, Card
from arena.games.chinese.hands import Strengths, is_foul, strengths
from arena.games.poker import HandClass

FOUL_UNITS: Final = 6
"""Paid for a foul instead of rows and sweep (O4)."""
SWEEP_UNITS: Final = 3

_BACK_ROYALTIES: Final = {
    HandClass.STRAIGHT: 2,
    HandClass.FLUSH: 4,
    HandClass.FULL_HOUSE: 6,
    HandClass.QUADS: 10,
    HandClass.STRAIGHT_FLUSH: 15,
    HandClass.ROYAL_FLUSH: 25,
}
_MIDDLE_ROYALTIES: Final = {kind: 2 * units for kind, units in _BACK_ROYALTIES.items()}
_FRONT_TRIPS: Final = 20  # whatever the rank (O1)
_LOWEST_FRONT_PAIR: Final = RANKS.index("6")

MOST_UNITS: Final = (
    3 + SWEEP_UNITS + _FRONT_TRIPS + max(_MIDDLE_ROYALTIES.values()) + max(_BACK_ROYALTIES.values())
)
"""The most that one seat can win from another: all rows with the sweep, and all royalties."""

_FRONT_QUEENS: Final = poker.least(HandClass.PAIR, "Q")
_FRONT_AT_LEAST_TRIPS: Final = poker.least(HandClass.TRIPS)
_MIDDLE_STAYS: Final = poker.least(HandClass.FULL_HOUSE)
_BACK_STAYS: Final = poker.least(HandClass.QUADS)


@dataclass(frozen=True, slots=True)
class Scoring:
    """The score of one seat's thirteen cards."""

    values: Strengths
    foul: bool
    royalties: tuple[int, int, int]
    """Royalties of front, middle and back; 0 in a foul."""

    @property
    def royalty_units(self) -> int:
        return sum(self.royalties)


def score_rows(front: Sequence[Card], middle: Sequence[Card], back: Sequence[Card]) -> Scoring:
    """Score three complete rows."""
    values = strengths(front, middle, back)
    if is_foul(values):
        return Scoring(values, foul=True, royalties=(0, 0, 0))
    royalties = (
        _front_royalty(front),
        _MIDDLE_ROYALTIES.get(poker.hand_class(values.middle), 0),
        _BACK_ROYALTIES.get(poker.hand_class(values.back), 0),
    )
    return Scoring(values, foul=False, royalties=royalties)


def _front_royalty(front: Sequence[Card]) -> int:
    ranks = [card[0] for card in front]
    paired = [rank for rank in ranks if ranks.count(rank) > 1]
    if len(paired) == len(ranks):
        return _FRONT_TRIPS
    if not paired:
        return 0
    return max(0, RANKS.index(paired[0]) - _LOWEST_FRONT_PAIR + 1)


def pair_units(ours: Scoring, theirs: Scoring) -> int:
    """Return the units that the second of two seats pays to the first; negative if it wins."""
    if ours.foul or theirs.foul:
        if ours.foul and theirs.foul:
            return 0
        winner = theirs if ours.foul else ours
        units = FOUL_UNITS + winner.royalty_units
        return -units if ours.foul else units
    rows = rows_won(ours, theirs)
    sweep = SWEEP_UNITS * ((min(rows) > 0) - (max(rows) < 0))
    return sum(rows) + sweep + ours.royalty_units - theirs.royalty_units


def rows_won(ours: Scoring, theirs: Scoring) -> tuple[int, int, int]:
    """Return 1, 0 or -1 for front, middle and back won, tied or lost, without fouls and the sweep."""
    front, middle, back = [
        (mine > other) - (mine < other)
        for mine, other in zip(ours.values, theirs.values, strict=True)
    ]
    return front, middle, back


def reaches_fantasyland(scoring: Scoring, *, in_fantasyland: bool) -> bool:
    """Return whether a seat plays the next hand in Fantasyland, which it cannot refuse (O6).

    Staying in Fantasyland needs a stronger hand than entering it, where queens in front suffice (O8).
    """
    if scoring.foul:
        return False
    values = scoring.values
    if not in_fantasyland:
        return values.front >= _FRONT_QUEENS
    return (
        values.back >= _BACK_STAYS
        or values.middle >= _MIDDLE_STAYS
        or values.front >= _FRONT_AT_LEAST_TRIPS
    )
