"""Which moves there are in Open-Face Chinese Poker: one, five or thirteen cards into rows."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Final

from arena.cards import Card
from arena.games.chinese.hands import BACK_SIZE, FRONT_SIZE, MIDDLE_SIZE
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
    rows: tuple[list[Card], list[Card], list[Card]] = ([], [], [])
    for card, row in zip(cards, way, strict=True):
        rows[row].append(card)
    return Place(tuple(rows[0]), tuple(rows[1]), tuple(rows[2]))
