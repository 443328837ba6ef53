"""The moves of Open-Face Chinese Poker that place the first five cards."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Final

from arena.cards import Card
from arena.games.chinese.hands import FRONT_SIZE, SIZES, high_first
from arena.games.open_face_chinese_poker.messages import Place


class Spreads:
    """The moves that place the first five cards into empty rows; each is made when it is needed."""

    __slots__ = ("_held", "_offered", "_ways")
    complete: Final = True

    def __init__(self, held: tuple[Card, ...]) -> None:
        self._held = high_first(held)
        self._ways = ways(len(held))
        self._offered: tuple[Place, ...] = ()

    @property
    def offered(self) -> tuple[Place, ...]:
        """All of the moves."""
        if not self._offered:
            self._offered = tuple([spread(self._held, way) for way in self._ways])
        return self._offered

    def __contains__(self, move: object) -> bool:
        # Five cards fit if no row overflows, and only the front can.
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
    """Return every assignment of cards to empty rows that fits, as the row of each card."""
    return tuple(
        way
        for way in product(range(3), repeat=cards)
        if all(way.count(row) <= size for row, size in enumerate(SIZES))
    )


def spread(cards: Sequence[Card], way: Sequence[int]) -> Place:
    """Return the move that places each card into its row; the cards are ordered from high to low."""
    rows: tuple[list[Card], list[Card], list[Card]] = ([], [], [])
    for card, row in zip(cards, way, strict=True):
        rows[row].append(card)
    return Place.in_order(tuple(rows[0]), tuple(rows[1]), tuple(rows[2]))
