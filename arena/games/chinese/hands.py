"""Three rows of thirteen cards: their strength, the foul, and what a pair of seats settles.

Shared by Chinese Poker and Open-Face Chinese Poker. Rulings cited as C1 to C13
are those of Chinese Poker.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from arena import poker
from arena.cards import CANONICAL, Card
from arena.games.chinese.naturals import NATURAL_UNITS, NaturalHand
from arena.games.values import value
from arena.poker import HandClass

FRONT_SIZE: Final = 3
MIDDLE_SIZE: Final = 5
BACK_SIZE: Final = 5
HAND_SIZE: Final = FRONT_SIZE + MIDDLE_SIZE + BACK_SIZE

SURRENDER_UNITS: Final = 2
SCOOP_UNITS: Final = 3
"""Paid on top of the rows to a seat that wins all three (not with a tie among them, C11)."""

# What a winning row is worth instead of 1 (C1).
_BACK_UNITS: Final = {
    HandClass.QUADS: 4,
    HandClass.STRAIGHT_FLUSH: 5,
    HandClass.ROYAL_FLUSH: 5,
}
_MIDDLE_UNITS: Final = _BACK_UNITS | {HandClass.FULL_HOUSE: 2}
_FRONT_UNITS: Final = {HandClass.TRIPS: 3}

MOST_UNITS: Final = max(
    *NATURAL_UNITS.values(),
    SCOOP_UNITS + sum(max(units.values()) for units in (_BACK_UNITS, _MIDDLE_UNITS, _FRONT_UNITS)),
)
"""What one seat wins of another in a hand at most."""


_FROM_HIGH: Final = {card: -place for card, place in CANONICAL.items()}


def high_first(cards: Sequence[Card]) -> tuple[Card, ...]:
    """The cards from ace to two, in each rank spades, hearts, diamonds, clubs (C13)."""
    try:
        return tuple(sorted(cards, key=_FROM_HIGH.__getitem__))
    except KeyError:
        # A move off the wire may hold any text; what is not a card comes last.
        return tuple(sorted(cards, key=lambda card: (_FROM_HIGH.get(card, 1), card)))


@value(frozen=True, slots=True)
class Rows:
    """Thirteen cards as they are set. Each row is high first."""

    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]


class Strengths(NamedTuple):
    """The poker values of three rows, on one scale."""

    front: int
    middle: int
    back: int


def strengths(front: Sequence[Card], middle: Sequence[Card], back: Sequence[Card]) -> Strengths:
    """How strong the rows are: the front without straights and flushes."""
    return Strengths(poker.front(front), poker.standard(middle), poker.standard(back))


def is_foul(rows: Strengths) -> bool:
    """Whether a row is stronger than the one behind it; equal rows are none (C2)."""
    return rows.front > rows.middle or rows.middle > rows.back


def front_units(value: int) -> int:
    """What a front of this poker value is worth if it wins."""
    return _FRONT_UNITS.get(poker.hand_class(value), 1)


def middle_units(value: int) -> int:
    """What a middle of this poker value is worth if it wins."""
    return _MIDDLE_UNITS.get(poker.hand_class(value), 1)


def back_units(value: int) -> int:
    """What a back of this poker value is worth if it wins."""
    return _BACK_UNITS.get(poker.hand_class(value), 1)


def row_units(rows: Strengths) -> tuple[int, int, int]:
    """What front, middle and back are worth if they win."""
    return front_units(rows.front), middle_units(rows.middle), back_units(rows.back)


@value(frozen=True, slots=True)
class Surrendered:
    """Stands for the rows of a seat that gave the hand up."""


SURRENDERED: Final = Surrendered()

Standing: TypeAlias = Strengths | Surrendered | NaturalHand
"""What one seat settles with."""


def settle(standings: Sequence[Standing]) -> tuple[int, ...]:
    """Units won (+) or lost (-) by each seat: every pair of seats settles once."""
    net = [0] * len(standings)
    for at, ours in enumerate(standings):
        for other in range(at + 1, len(standings)):
            units = pair_units(ours, standings[other])
            net[at] += units
            net[other] -= units
    return tuple(net)


def pair_units(ours: Standing, theirs: Standing) -> int:
    """Units that the second of two seats pays the first; negative the other way."""
    if isinstance(ours, NaturalHand) or isinstance(theirs, NaturalHand):
        return _natural_units(ours, theirs)
    # A surrender is paid once, even to a fouled setting; two make nothing (C4, C10).
    if isinstance(ours, Surrendered):
        return 0 if isinstance(theirs, Surrendered) else -SURRENDER_UNITS
    if isinstance(theirs, Surrendered):
        return SURRENDER_UNITS
    if is_foul(ours):
        return 0 if is_foul(theirs) else -_against_foul(theirs)
    if is_foul(theirs):
        return _against_foul(ours)
    return _row_by_row(ours, theirs)


def _natural_units(ours: Standing, theirs: Standing) -> int:
    """A natural is paid by everybody but those with an equal or higher one."""
    if not isinstance(theirs, NaturalHand):
        assert isinstance(ours, NaturalHand)
        return NATURAL_UNITS[ours.natural]
    if not isinstance(ours, NaturalHand):
        return -NATURAL_UNITS[theirs.natural]
    if ours.order == theirs.order:
        return 0
    if ours.order > theirs.order:
        return NATURAL_UNITS[ours.natural]
    return -NATURAL_UNITS[theirs.natural]


def _against_foul(winner: Strengths) -> int:
    """A fouled setting has lost all three rows, at the rates of the winner's (C3)."""
    return sum(row_units(winner)) + SCOOP_UNITS


def rows_won(ours: Strengths, theirs: Strengths) -> tuple[int, int, int]:
    """Units that front, middle and back win (+) or lose (-), fouls and the scoop apart."""
    front, middle, back = [
        gain if mine > other else -loss if mine < other else 0
        for mine, other, gain, loss in zip(
            ours, theirs, row_units(ours), row_units(theirs), strict=True
        )
    ]
    return front, middle, back


def _row_by_row(ours: Strengths, theirs: Strengths) -> int:
    rows = rows_won(ours, theirs)
    if min(rows) > 0:
        return sum(rows) + SCOOP_UNITS
    return sum(rows) - SCOOP_UNITS if max(rows) < 0 else sum(rows)
