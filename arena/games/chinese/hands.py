"""Three rows of thirteen cards: their strength, fouls, and the settlement of two seats.

Chinese Poker and Open-Face Chinese Poker share this module. C1 to C13 are rulings of Chinese Poker.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias, TypeVar

from arena.games import poker
from arena.games.cards import CANONICAL, Card
from arena.games.chinese.naturals import NATURAL_UNITS, NaturalHand
from arena.games.chinese.unit_values import UnitValues
from arena.games.frozen import Frozen
from arena.games.poker import HandClass

H = TypeVar("H")

FRONT_SIZE: Final = 3
MIDDLE_SIZE: Final = 5
BACK_SIZE: Final = 5
SIZES: Final = (FRONT_SIZE, MIDDLE_SIZE, BACK_SIZE)
HAND_SIZE: Final = sum(SIZES)

SURRENDER_UNITS: Final = 2
SCOOP_UNITS: Final = 3
"""The bonus for winning all three rows; a tied row prevents it (C11)."""

# Units of a winning row; other classes are worth 1 (C1).
_BACK_UNITS: Final = {HandClass.QUADS: 4, HandClass.STRAIGHT_FLUSH: 5, HandClass.ROYAL_FLUSH: 5}
_MIDDLE_UNITS: Final = _BACK_UNITS | {HandClass.FULL_HOUSE: 2}
_FRONT_UNITS: Final = {HandClass.TRIPS: 3}

MOST_UNITS: Final = max(
    *NATURAL_UNITS.values(),
    SCOOP_UNITS + sum(max(units.values()) for units in (_BACK_UNITS, _MIDDLE_UNITS, _FRONT_UNITS)),
)
"""The most that one seat can win from another in a hand."""


_FROM_HIGH: Final = {card: -place for card, place in CANONICAL.items()}


def high_first(cards: Sequence[Card]) -> tuple[Card, ...]:
    """Return the cards from ace to two, each rank in the order spades, hearts, diamonds, clubs (C13)."""
    try:
        return tuple(sorted(cards, key=_FROM_HIGH.__getitem__))
    except KeyError:
        # A move from the wire may contain any text; texts that are not cards are last.
        return tuple(sorted(cards, key=lambda card: (_FROM_HIGH.get(card, 1), card)))


class Rows(Frozen):
    """Thirteen cards, set as three rows. Each row is ordered from high to low."""

    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]


class Strengths(NamedTuple):
    """The poker values of three rows, which can be compared with each other."""

    front: int
    middle: int
    back: int


def strengths(front: Sequence[Card], middle: Sequence[Card], back: Sequence[Card]) -> Strengths:
    """Return the strengths of three rows; the front has no straights and flushes."""
    return Strengths(poker.front(front), poker.standard(middle), poker.standard(back))


def is_foul(rows: Strengths) -> bool:
    """Return whether a row is stronger than the row behind it; equal rows are no foul (C2)."""
    return rows.front > rows.middle or rows.middle > rows.back


def front_units(value: int) -> int:
    """Return the units of a winning front with this poker value."""
    return _FRONT_UNITS.get(poker.hand_class(value), 1)


def middle_units(value: int) -> int:
    """Return the units of a winning middle with this poker value."""
    return _MIDDLE_UNITS.get(poker.hand_class(value), 1)


def back_units(value: int) -> int:
    """Return the units of a winning back with this poker value."""
    return _BACK_UNITS.get(poker.hand_class(value), 1)


def row_units(rows: Strengths) -> tuple[int, int, int]:
    """Return the units of front, middle and back if they win."""
    return front_units(rows.front), middle_units(rows.middle), back_units(rows.back)


class Surrendered(Frozen):
    """Takes the place of the rows of a seat that surrendered."""


SURRENDERED: Final = Surrendered()

Standing: TypeAlias = Strengths | Surrendered | NaturalHand
"""The rows, the natural or the surrender that a seat settles with."""


def settle_pairs(
    hands: Sequence[H], pair_units: Callable[[H, H], int], values: UnitValues
) -> tuple[int, ...]:
    """Return what each seat won (+) or lost (-), if every pair of seats settles once.

    `pair_units` returns the units that the second of two seats pays to the first.
    """
    net = [0] * len(hands)
    for at, ours in enumerate(hands):
        for other in range(at + 1, len(hands)):
            won = values[at][other] * pair_units(ours, hands[other])
            net[at] += won
            net[other] -= won
    return tuple(net)


def pair_units(ours: Standing, theirs: Standing) -> int:
    """Return the units that the second of two seats pays to the first; negative if it wins."""
    if isinstance(ours, NaturalHand) or isinstance(theirs, NaturalHand):
        return _natural_units(ours, theirs)
    # A surrender is paid once, even to a foul; between two surrenders nothing is paid (C4, C10).
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
    """Return what a natural wins: every seat without an equal or higher one pays it."""
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
    """Return what a foul pays: it loses all three rows, at the units of the winner's rows (C3)."""
    return sum(row_units(winner)) + SCOOP_UNITS


def rows_won(ours: Strengths, theirs: Strengths) -> tuple[int, int, int]:
    """Return the units that front, middle and back win (+) or lose (-), without fouls and the scoop."""
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
