"""Plays Abstrac: takes what leaves the best margin after the best answer."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

from arena.cards import JOKER, RANKS, SUITS, Card
from arena.games.abstrac.messages import CHOICES, HALF, TAKES, Move
from arena.games.abstrac.options import Variant
from arena.games.abstrac.scoring import take_limit
from arena.games.abstrac.state import State
from arena.games.contract import Seat

# Cards of a seat are an integer with a bit for each: thirteen for a suit, and the joker's.
_ORDER: Final = [rank + suit for suit in SUITS for rank in RANKS]
_BIT: Final = {card: 1 << at for at, card in enumerate([*_ORDER, JOKER])}
_SUIT: Final = (1 << len(RANKS)) - 1
_RUN_POINTS: Final = (0, 0, 0, 3, 4, 6, 12)


def policy(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    """The move of `seat`, which is to act."""
    row = state.row
    mine, theirs = _heap(row.taken[seat]), _heap(row.taken[1 - seat])
    margins = list(_margins(state.options.variant, row.cards, row.previous, mine, theirs))
    best = max(range(len(margins)), key=margins.__getitem__)
    if row.first is None:
        # What taking first wins is what taking second loses.
        best, listed = (0 if margins[best] >= 0 else 1), CHOICES
    else:
        listed = TAKES[len(margins)]
    move: Move = listed.all[best]
    return move


def _heap(cards: tuple[Card, ...]) -> int:
    return sum([_BIT[card] for card in cards])


def _margins(
    variant: str, row: tuple[Card, ...], previous: int, mine: int, theirs: int
) -> Iterator[float]:
    """The margin after each take and the best answer to it."""
    margin = _half_margin if variant == Variant.FIFTYTWO else _margin
    for count in range(1, take_limit(variant, row, previous) + 1):
        mine |= _BIT[row[count - 1]]
        left, heap, answers = row[count:], theirs, []
        for answered in range(take_limit(variant, left, count)):
            heap |= _BIT[left[answered]]
            answers.append(margin(mine, heap, len(left) - answered - 1))
        yield min(answers, default=margin(mine, theirs, 0))


def _margin(mine: int, theirs: int, left: int) -> float:
    """Own points less theirs, supposed that the cards left will be shared equally."""
    points, other_points = _combinations(mine), _combinations(theirs)
    count, other_count = mine.bit_count(), theirs.bit_count()
    if not left and not points:  # the misère: the products change hands
        return other_points * count
    if not left and not other_points:
        return -points * other_count
    return points * (other_count + left / 2) - other_points * (count + left / 2)


def _half_margin(mine: int, theirs: int, left: int) -> float:
    """The same for a half of the 52-card game."""
    short, other_short = (HALF // 2 - heap.bit_count() - left / 2 for heap in (mine, theirs))
    return _factors(mine) * max(1, 2 * short) - _factors(theirs) * max(1, 2 * other_short)


def _suits(heap: int) -> tuple[int, int, int, int]:
    return heap & _SUIT, heap >> 13 & _SUIT, heap >> 26 & _SUIT, heap >> 39 & _SUIT


@lru_cache(1 << 13)
def _run(ranks: int) -> int:
    length = 0
    while ranks:
        ranks &= ranks << 1
        length += 1
    return length


@lru_cache(1 << 16)
def _combinations(heap: int) -> int:
    """Points of sets and runs."""
    a, b, c, d = _suits(heap)
    four = a & b & c & d
    three = (a & b & (c | d) | (a | b) & c & d) ^ four
    runs = sum([_RUN_POINTS[_run(suit)] for suit in (a, b, c, d)])
    return 8 * four.bit_count() + 2 * three.bit_count() + runs


@lru_cache(1 << 16)
def _factors(heap: int) -> int:
    """Longest suit, run and group of a rank in a half of the 52-card game, multiplied."""
    a, b, c, d = suits = _suits(heap)
    pair, three = a & b | c & d | (a | b) & (c | d), a & b & (c | d) | (a | b) & c & d
    group = bool(heap) + bool(pair) + bool(three) + bool(a & b & c & d)
    return max([suit.bit_count() for suit in suits]) * _run(a | b | c | d) * group
