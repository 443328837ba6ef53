"""Settings of thirteen cards: all 72,072 by number, and the best ones by a search.

`candidates` finds good settings, for the moves that are offered and for bots:

    candidates(cards, 8)[0].back

A setting is rated row by row: by the probability that a row beats the same row of a good opponent, the
units that it then wins, and the probability of a scoop.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import combinations
from math import comb
from typing import Final

from arena.games.cards import Card
from arena.games.chinese.hands import FRONT_SIZE, HAND_SIZE, MIDDLE_SIZE, SIZES, Rows, high_first
from arena.games.chinese.search import Search
from arena.games.contract import Move

SETTINGS: Final = comb(HAND_SIZE, FRONT_SIZE) * comb(HAND_SIZE - FRONT_SIZE, MIDDLE_SIZE)
"""The number of settings of thirteen cards: 72,072."""

OFFERED_SETTINGS: Final = 8
"""Good settings that are offered to a bot without a search of its own."""
_HANDS_KEPT: Final = 256
"""The number of hands whose candidates are cached, as all tables of a deal-set have the same hands."""


def candidates(cards: Sequence[Card], k: int) -> tuple[Rows, ...]:
    """Return the `k` best settings of thirteen cards that do not foul, best first; fewer if there are no more.

    Of settings with three equally strong rows only one is returned. The search takes about 1 ms; its
    results for the latest hands are cached.

    Raises `ValueError` unless there are thirteen different cards, and `k` is at least 1.
    """
    if len(cards) != HAND_SIZE or len(set(cards)) != HAND_SIZE:
        raise ValueError(f"a setting is of {HAND_SIZE} different cards, not of {len(set(cards))}")
    if k < 1:
        raise ValueError(f"ask for one setting or more, not {k}")
    return _candidates(high_first(cards), k)


@lru_cache(maxsize=_HANDS_KEPT)
def _candidates(held: tuple[Card, ...], k: int) -> tuple[Rows, ...]:
    return Search(held).best(k)


def by_rank(cards: Sequence[Card]) -> Rows:
    """Return the setting with the highest five cards in the back and the next five in the middle (C13).

    It may foul.
    """
    held = high_first(cards)
    return Rows(front=held[10:], middle=held[5:10], back=held[:5])


def numbered(held: Sequence[Card], number: int) -> Rows:
    """Return setting `number`, from 0 to `SETTINGS` - 1; its rows keep the order of the hand."""
    front_number, middle_number = divmod(number, comb(HAND_SIZE - FRONT_SIZE, MIDDLE_SIZE))
    front, left = _parted(HAND_SIZE, FRONT_SIZE)[front_number]
    middle, back = _parted(HAND_SIZE - FRONT_SIZE, MIDDLE_SIZE)[middle_number]
    rest = [held[at] for at in left]
    return Rows(
        front=tuple([held[at] for at in front]),
        middle=tuple([rest[at] for at in middle]),
        back=tuple([rest[at] for at in back]),
    )


@cache
def _parted(cards: int, taken: int) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Return each choice of `taken` from `cards` places, with the places left."""
    return tuple(
        (places, tuple(at for at in range(cards) if at not in places))
        for places in combinations(range(cards), taken)
    )


class SettingMoves:
    """The moves of a seat that sets thirteen cards: settings, which are too many to list, and other moves.

    Offered are `others`, the best settings that do not foul, best first, and the fallback.
    """

    __slots__ = ("_fallback", "_held", "_move", "_offered", "_others")
    complete: Final = False

    def __init__(
        self,
        held: tuple[Card, ...],
        move: Callable[[tuple[Card, ...], tuple[Card, ...], tuple[Card, ...]], Move],
        fallback: Move,
        others: tuple[Move, ...] = (),
    ) -> None:
        """Take the cards, the class of moves that set front, middle and back, and further moves."""
        self._held = held
        self._move = move
        self._fallback = fallback
        self._others = others
        self._offered: tuple[Move, ...] = ()

    @property
    def offered(self) -> tuple[Move, ...]:
        """Some of the moves, computed on first access in about 1 ms."""
        if not self._offered:
            good = map(self._set, candidates(self._held, OFFERED_SETTINGS))
            self._offered = (*self._others, *dict.fromkeys((*good, self._fallback)))
        return self._offered

    def __contains__(self, move: object) -> bool:
        if not isinstance(move, type(self._fallback)):
            return move in self._others
        sizes = (len(move.front), len(move.middle), len(move.back))
        return sizes == SIZES and {*move.front, *move.middle, *move.back} == set(self._held)

    def count(self) -> int:
        return SETTINGS + len(self._others)

    def sample(self, below: Callable[[int], int]) -> Move:
        number = below(self.count())
        if number < SETTINGS:
            return self._set(numbered(self._held, number))
        return self._others[number - SETTINGS]

    def _set(self, rows: Rows) -> Move:
        return self._move(rows.front, rows.middle, rows.back)
