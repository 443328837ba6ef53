"""Settings of thirteen cards: all 72,072 by number, and good ones without listing them.

The good ones are for bots that pick among offered moves, and for players' own searches:

    candidates(cards, 8)[0].back

What is good is estimated row by row: how often a row beats the same row of a
sensible opponent, what it then pays, and what a scoop adds.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import combinations
from math import comb
from typing import Final

from arena.cards import Card
from arena.games.chinese.hands import FRONT_SIZE, HAND_SIZE, MIDDLE_SIZE, Rows, high_first
from arena.games.chinese.search import Search

SETTINGS: Final = comb(HAND_SIZE, FRONT_SIZE) * comb(HAND_SIZE - FRONT_SIZE, MIDDLE_SIZE)
"""Settings of thirteen cards: 72,072."""

_HANDS_KEPT: Final = 256
"""Hands whose candidates are kept: the tables of a deal-set deal the same ones."""


def candidates(cards: Sequence[Card], k: int) -> tuple[Rows, ...]:
    """The `k` best settings of thirteen cards that do not foul, best first, or fewer if there are no more.

    No two of them have three equally strong rows. It takes about a millisecond;
    what was found for the last hands is kept.

    Raises:
      ValueError: unless there are thirteen different cards, and `k` is at least 1.
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
    """The highest five cards in the back, the next in the middle; it may well foul (C13)."""
    held = high_first(cards)
    return Rows(front=held[10:], middle=held[5:10], back=held[:5])


def numbered(held: Sequence[Card], number: int) -> Rows:
    """The setting of that number, from 0 to `SETTINGS` - 1; rows in the order of the hand."""
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
    """Each way to take some of the places of so many cards, and the places left."""
    return tuple(
        (places, tuple(at for at in range(cards) if at not in places))
        for places in combinations(range(cards), taken)
    )
