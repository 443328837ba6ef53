"""Plays the four Abstracs by searching ahead.

A row is public, so this is a game like chess: the bot searches its takes, the answers to each, and so on, first a few
takes deep and then to the last card (alpha-beta). This usually fits into its time, so most rows are played perfectly
from the first card. It needs only the SDK.
"""

import itertools
from functools import lru_cache
from operator import or_

import cardarena
from cardarena import abstrac

DEPTHS = (4, 8, 12, 26)
"""The numbers of takes ahead of successive searches: a shallow search orders the moves of the next one.

No row has more than 26 cards, so the last search is exact.
"""
MAX_POSITIONS = 120_000
"""The maximal number of positions for one move, which takes half a second.

It is a count, not a time, so that the bot plays equally on slow and fast machines.
"""
RESERVE_S = 0.5
"""The seconds on the clock below which the search ends early."""

SUIT_LIMITS = {"s": 1, "h": 2, "c": 3, "d": 4}
INFINITY = 1_000_000

# A heap of cards is an integer with a bit for each: thirteen for a suit, and the joker's.
RANKS = "23456789TJQKA"
CARDS = [rank + suit for suit in "cdhs" for rank in RANKS] + ["Jk"]
BIT = {card: 1 << place for place, card in enumerate(CARDS)}
SUIT = (1 << len(RANKS)) - 1


def longest_run(ranks):
    length = 0
    while ranks:
        ranks &= ranks << 1
        length += 1
    return length


RUN = [longest_run(ranks) for ranks in range(SUIT + 1)]
RUN_POINTS = [(0, 0, 0, 3, 4, 6, 12)[length] if length < 7 else 12 for length in RUN]


def suits_of(heap):
    return heap & SUIT, heap >> 13 & SUIT, heap >> 26 & SUIT, heap >> 39 & SUIT


@lru_cache(1 << 17)
def combinations(heap):
    """Return the points of sets and runs."""
    a, b, c, d = suits_of(heap)
    four = a & b & c & d
    three = (a & b & (c | d) | (a | b) & c & d) ^ four
    sets = 8 * four.bit_count() + 2 * three.bit_count()
    return sets + RUN_POINTS[a] + RUN_POINTS[b] + RUN_POINTS[c] + RUN_POINTS[d]


@lru_cache(1 << 17)
def factors(heap):
    """Return the product of the longest flush, sequence and set of a half of the 52-card game."""
    a, b, c, d = suits = suits_of(heap)
    pair, three = a & b | c & d | (a | b) & (c | d), a & b & (c | d) | (a | b) & c & d
    same_rank = bool(heap) + bool(pair) + bool(three) + bool(a & b & c & d)
    return max(suit.bit_count() for suit in suits) * RUN[a | b | c | d] * same_rank


def margin(mine, theirs, left):
    """Return my points less theirs, assuming that the cards left will be shared equally."""
    points, other_points = combinations(mine), combinations(theirs)
    count, other_count = mine.bit_count(), theirs.bit_count()
    if not left and not points:  # the misère: the products change hands
        return other_points * count
    if not left and not other_points:
        return -points * other_count
    return points * (other_count + left / 2) - other_points * (count + left / 2)


def half_margin(mine, theirs, left):
    """Return the same for a half of the 52-card game."""
    short, other_short = (13 - heap.bit_count() - left / 2 for heap in (mine, theirs))
    return factors(mine) * max(1, 2 * short) - factors(theirs) * max(1, 2 * other_short)


class OutOfPositions(Exception):
    """The search has to stop; the result of the previous search counts."""


class Search:
    """A row of cards, and the results of searches in it."""

    def __init__(self, game, row):
        self.cards = list(row)
        self.size = len(self.cards)
        self.margin = half_margin if game == "abstrac_fiftytwo" else margin
        self.by_previous = game == "abstrac_unfettered"
        by_suit = game in ("abstrac_suit", "abstrac_fiftytwo")
        self.bits = [BIT[card] for card in self.cards]
        self.limits = [SUIT_LIMITS[card[1]] if by_suit else 3 for card in self.cards] + [0]
        self.best = {}  # the best take found so far, by place in the row and the taker's heap

    def first_limit(self):
        return 12 if self.by_previous else self.limits[0]

    def best_take(self, at, mine, theirs, limit, time_left_s):
        """Return the margin of the seat to take, the take that makes it, and the takes looked ahead."""
        self.positions, self.time_left_s = 0, time_left_s
        found = (0, 1, 0)
        for depth in DEPTHS:
            try:
                value = self.value(at, mine, theirs, limit, depth, -INFINITY, INFINITY)
            except OutOfPositions:
                break
            found = value, self.best[at, mine], depth
            if depth >= self.size - at:
                break
        return found

    def value(self, at, mine, theirs, limit, depth, alpha, beta):
        """Return the margin for the seat to take, if both play as well as `depth` takes show."""
        left = self.size - at
        if not left or not depth:
            return self.margin(mine, theirs, left)
        self.positions += 1
        if self.positions % 1024 == 0 and (
            self.positions > MAX_POSITIONS or self.time_left_s() < RESERVE_S
        ):
            raise OutOfPositions
        heaps = list(itertools.accumulate(self.bits[at : at + limit], or_, initial=mine))
        counts = list(range(1, len(heaps)))
        tried_first = self.best.get((at, mine))
        if tried_first:
            counts.remove(tried_first)
            counts.insert(0, tried_first)
        best = -INFINITY
        for count in counts:
            after = at + count
            next_limit = 1 + count if self.by_previous else self.limits[after]
            value = -self.value(after, theirs, heaps[count], next_limit, depth - 1, -beta, -alpha)
            if value > best:
                best, self.best[at, mine] = value, count
                alpha = max(alpha, value)
                if alpha >= beta:
                    break
        return best


class AbstracBot(abstrac.Bot):
    search = None

    def move(self, ask: abstrac.Ask) -> abstrac.Choice:
        view, row = ask.view, list(ask.view.row)
        if self.search is None or self.search.cards[-len(row) :] != row:
            self.search = Search(self.game, row)
        search = self.search  # the results of earlier takes from this row stay known
        at = search.size - len(row)
        mine, theirs = (
            sum(BIT[card] for card in view.taken[seat].cards) for seat in (self.seat, 1 - self.seat)
        )
        limit = view.limit or search.first_limit()
        value, count, depth = search.best_take(at, mine, theirs, limit, ask.time_left_s)
        if view.phase == abstrac.PHASE_CHOOSE:
            # The gain of taking first is the loss of taking second.
            order = abstrac.FIRST if value >= 0 else abstrac.SECOND
            move = abstrac.Move(verb=abstrac.CHOOSE, order=order)
        else:
            move = abstrac.Move(verb=abstrac.TAKE, count=count)
        return cardarena.Noted(move, f"whoever takes now wins by {value:g}, {depth} takes ahead")


if __name__ == "__main__":
    cardarena.run(AbstracBot)
