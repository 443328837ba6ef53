"""Plays Abstrac: the row is public, so it is searched like chess, by alpha-beta with increasing depth.

The searches `policy` and `look_ahead` differ only in their depth. Method: negamax with alpha-beta pruning and iterative
deepening (Knuth and Moore, *An analysis of alpha-beta pruning*, Artificial Intelligence 1975), which tries first what a
shallower search found best.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from operator import or_
from typing import Final

from arena.games.abstrac.messages import CHOICES, HALF, TAKES, Choose, Move, Variant
from arena.games.abstrac.rules import State
from arena.games.abstrac.scoring import take_limit
from arena.games.cards import JOKER, RANKS, SUITS, Card
from arena.games.contract import Seat
from arena.house.looked_ahead import LookedAhead

DEPTHS: Final = (2, 4, 6, 8, 10, 12, 14, HALF)
"""The numbers of takes ahead of successive searches. No row is longer than the last number."""
POSITIONS: Final = 20
"""The approximate number of positions that take the time of a step of the rules."""

# Cards of a seat are an integer with a bit for each: thirteen for a suit, and the joker's.
_ORDER: Final = [rank + suit for suit in SUITS for rank in RANKS]
_BIT: Final = {card: 1 << at for at, card in enumerate([*_ORDER, JOKER])}
_SUIT: Final = (1 << len(RANKS)) - 1
_RUN_POINTS: Final = (0, 0, 0, 3, 4, 6, 12)


def policy(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    """Return the move of `seat`, which is to act: the best move if the other seat answers once."""
    return _Search(state, seat, math.inf).best(DEPTHS[0])[0]


def look_ahead(state: State, seat: Seat, steps: int, played: Move) -> LookedAhead:
    """Return the best move by a search of as much time as `steps`, compared with the move `played`.

    If there is no time for a search, `played` is returned.
    """
    search, best = (
        _Search(state, seat, steps * POSITIONS),
        LookedAhead(played, 0.0, is_sure=False),
    )
    for depth in DEPTHS:
        try:
            move, margin = search.best(depth)
            margin_of_played = margin if played == move else search.margin_after(played, depth)
        except _OutOfPositions:
            break
        best = LookedAhead(move, margin - margin_of_played, is_sure=depth >= len(state.row.cards))
        if best.is_sure:
            break
    return best


class _OutOfPositions(Exception):
    """A search has examined the maximal number of positions."""


class _Search:
    """Searches from one position. A margin is the points of the seat to take, less the other's, in this row."""

    def __init__(self, state: State, seat: Seat, positions: float) -> None:
        row, variant = state.row, state.options.variant
        self._row, self._variant = row, variant
        self._left = positions
        self._mine, self._theirs = _heap(row.taken[seat]), _heap(row.taken[1 - seat])
        self._bits = [_BIT[card] for card in row.cards]
        self._margin = _half_margin if variant == Variant.FIFTYTWO else _combined_margin
        self._limits = [
            take_limit(variant, row.cards[at:], previous=0) for at in range(len(row.cards))
        ]
        self._best: dict[tuple[int, int], int] = {}
        """The best take that was found, by place in the row and the taker's cards."""
        self._latest = [1] * len(row.cards)
        """The latest best take that was found, by place in the row."""

    def best(self, depth: int) -> tuple[Move, float]:
        """Return the best move `depth` takes ahead, and its margin.

        Raises:
          _OutOfPositions: when it has examined the maximal number.
        """
        limit = self._limit(0, self._row.previous)
        value = self._value(0, self._mine, self._theirs, limit, depth, -math.inf, math.inf)
        if self._row.first is not None:
            take: Move = TAKES[limit].all[self._best[0, self._mine] - 1]
            return take, value
        # The gain of taking first is the loss of taking second.
        choice: Choose = CHOICES.all[0 if value >= 0 else 1]
        return choice, abs(value)

    def margin_after(self, move: Move, depth: int) -> float:
        """Return the margin after a move, `depth` takes ahead; raises as `best` does."""
        if isinstance(move, Choose):
            return -self.best(depth)[1]  # the choice that is not the best
        mine = self._mine
        for bit in self._bits[: move.count]:
            mine |= bit
        limit = self._limit(move.count, move.count)
        window = (-math.inf, math.inf)
        return -self._value(move.count, self._theirs, mine, limit, depth - 1, *window)

    def _limit(self, at: int, previous: int) -> int:
        if self._variant == Variant.UNFETTERED and previous:
            return min(1 + previous, len(self._bits) - at)
        return self._limits[at] if at < len(self._bits) else 0

    def _value(
        self, at: int, mine: int, theirs: int, limit: int, depth: int, alpha: float, beta: float
    ) -> float:
        """Return the margin if both play as well as `depth` takes show."""
        if not limit or not depth:
            return self._margin(mine, theirs, len(self._bits) - at)
        self._left -= 1
        if self._left < 0:
            raise _OutOfPositions
        heaps = list(accumulate(self._bits[at : at + limit], or_, initial=mine))
        counts = list(range(1, limit + 1))
        tried_first = self._best.get((at, mine)) or min(self._latest[at], limit)
        counts.remove(tried_first)
        counts.insert(0, tried_first)
        best = -math.inf
        for count in counts:
            after = self._limit(at + count, count)
            window = (-beta, -alpha)
            value = -self._value(at + count, theirs, heaps[count], after, depth - 1, *window)
            if value > best:
                best, self._best[at, mine], self._latest[at] = value, count, count
                alpha = max(alpha, value)
                if alpha >= beta:
                    break
        return best


def _heap(cards: tuple[Card, ...]) -> int:
    return sum([_BIT[card] for card in cards])


def _combined_margin(mine: int, theirs: int, left: int) -> float:
    """Return the difference in points, if both seats take equally many of the cards left."""
    points, other_points = _combinations(mine), _combinations(theirs)
    count, other_count = mine.bit_count(), theirs.bit_count()
    if not left and not points:  # the misère: the products change hands
        return other_points * count
    if not left and not other_points:
        return -points * other_count
    return points * (other_count + left / 2) - other_points * (count + left / 2)


def _half_margin(mine: int, theirs: int, left: int) -> float:
    """Return the same for a half of the 52-card game."""
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
    a, b, c, d = _suits(heap)
    four = a & b & c & d
    three = (a & b & (c | d) | (a | b) & c & d) ^ four
    runs = sum([_RUN_POINTS[_run(suit)] for suit in (a, b, c, d)])
    return 8 * four.bit_count() + 2 * three.bit_count() + runs


@lru_cache(1 << 16)
def _factors(heap: int) -> int:
    """Return the longest suit, run and group of a rank in a half of the 52-card game, multiplied."""
    a, b, c, d = suits = _suits(heap)
    pair, three = a & b | c & d | (a | b) & (c | d), a & b & (c | d) | (a | b) & c & d
    group = bool(heap) + bool(pair) + bool(three) + bool(a & b & c & d)
    return max([suit.bit_count() for suit in suits]) * _run(a | b | c | d) * group
