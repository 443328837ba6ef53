"""Which moves there are in Open-Face Chinese Poker: one, five or thirteen cards into rows."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Final

from arena.cards import Card
from arena.games.chinese.hands import BACK_SIZE, FRONT_SIZE, MIDDLE_SIZE, high_first
from arena.games.chinese.settings import SETTINGS, candidates, numbered
from arena.games.open_face_chinese_poker.words import Place

OFFERED_SETTINGS: Final = 8
_SIZES: Final = (FRONT_SIZE, MIDDLE_SIZE, BACK_SIZE)


class Settings:
    """All settings of a seat in Fantasyland; far too many to list."""

    __slots__ = ("_fallback", "_held", "_offered")

    def __init__(self, held: tuple[Card, ...], fallback: Place) -> None:
        self._held = held
        self._fallback = fallback
        self._offered: tuple[Place, ...] = ()

    @property
    def offered(self) -> tuple[Place, ...]:
        """A few settings that do not foul, best first, and the fallback."""
        if not self._offered:
            rows = candidates(self._held, OFFERED_SETTINGS)
            good = [Place(each.front, each.middle, each.back) for each in rows]
            self._offered = tuple(dict.fromkeys((*good, self._fallback)))
        return self._offered

    @property
    def complete(self) -> bool:
        return False

    def __contains__(self, move: object) -> bool:
        if not isinstance(move, Place):
            return False
        sizes = (len(move.front), len(move.middle), len(move.back))
        return sizes == _SIZES and _same_cards(move, self._held)

    def count(self) -> int:
        return SETTINGS

    def sample(self, below: Callable[[int], int]) -> Place:
        rows = numbered(self._held, below(SETTINGS))
        return Place(rows.front, rows.middle, rows.back)


class Spreads:
    """The first five cards into empty rows in every way; each is made when it is asked for."""

    __slots__ = ("_held", "_offered", "_ways")

    def __init__(self, held: tuple[Card, ...]) -> None:
        self._held = high_first(held)
        self._ways = ways(len(held))
        self._offered: tuple[Place, ...] = ()

    @property
    def offered(self) -> tuple[Place, ...]:
        """All of them."""
        if not self._offered:
            self._offered = tuple([spread(self._held, way) for way in self._ways])
        return self._offered

    @property
    def complete(self) -> bool:
        return True

    def __contains__(self, move: object) -> bool:
        # A way fits if no row overflows, and only the front can.
        return (
            isinstance(move, Place)
            and len(move.front) <= FRONT_SIZE
            and _same_cards(move, self._held)
        )

    def count(self) -> int:
        return len(self._ways)

    def sample(self, below: Callable[[int], int]) -> Place:
        return spread(self._held, self._ways[below(len(self._ways))])


def _same_cards(move: Place, held: Sequence[Card]) -> bool:
    return sorted((*move.front, *move.middle, *move.back)) == sorted(held)


@cache
def ways(cards: int) -> tuple[tuple[int, ...], ...]:
    """The row of each card, in every way that fits into empty rows."""
    return tuple(
        way
        for way in product(range(3), repeat=cards)
        if all(way.count(row) <= size for row, size in enumerate(_SIZES))
    )


def spread(cards: Sequence[Card], way: Sequence[int]) -> Place:
    """The cards, which are high first, each into its row."""
    rows: tuple[list[Card], list[Card], list[Card]] = ([], [], [])
    for card, row in zip(cards, way, strict=True):
        rows[row].append(card)
    return Place.in_order(tuple(rows[0]), tuple(rows[1]), tuple(rows[2]))
