"""What the rows of Open-Face Chinese Poker are worth: royalties, settlement, Fantasyland.

The order of hands and the foul are those of Chinese Poker. Rulings cited as
O1 to O14 are the digest's of Open-Face Chinese Poker.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena import poker
from arena.cards import RANKS, Card
from arena.games.chinese.hands import Strengths, is_foul, strengths
from arena.poker import HandClass

FOUL_UNITS: Final = 6
"""The flat price of a foul; the sweep does not come on top (O4)."""
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
"""What one seat wins of another at most: all rows with the sweep, or a foul, and all royalties."""

_FRONT_QUEENS: Final = poker.least(HandClass.PAIR, "Q")
_FRONT_AT_LEAST_TRIPS: Final = poker.least(HandClass.TRIPS)
_MIDDLE_STAYS: Final = poker.least(HandClass.FULL_HOUSE)
_BACK_STAYS: Final = poker.least(HandClass.QUADS)


@dataclass(frozen=True, slots=True)
class Scoring:
    """What one seat's thirteen cards come to."""

    values: Strengths
    foul: bool
    royalties: tuple[int, int, int]
    """Of front, middle and back; nothing counts in a foul."""

    @property
    def royalty_units(self) -> int:
        """All royalties together."""
        return sum(self.royalties)


def score_rows(front: Sequence[Card], middle: Sequence[Card], back: Sequence[Card]) -> Scoring:
    """Judge three complete rows."""
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


def settle(scorings: Sequence[Scoring]) -> tuple[int, ...]:
    """Units won (+) or lost (-) by each seat: every pair of seats settles once."""
    net = [0] * len(scorings)
    for at, ours in enumerate(scorings):
        for other in range(at + 1, len(scorings)):
            units = pair_units(ours, scorings[other])
            net[at] += units
            net[other] -= units
    return tuple(net)


def pair_units(ours: Scoring, theirs: Scoring) -> int:
    """Units that the second of two seats pays the first; negative the other way."""
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
    """A unit for front, middle and back, won (+) or lost (-), fouls and the sweep apart."""
    front, middle, back = [
        (mine > other) - (mine < other)
        for mine, other in zip(ours.values, theirs.values, strict=True)
    ]
    return front, middle, back


def reaches_fantasyland(scoring: Scoring, *, in_fantasyland: bool) -> bool:
    """Whether the next hand is one in Fantasyland; it is never refused (O6).

    Staying there asks for more than coming there: queens in front are not
    enough (O8).
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
