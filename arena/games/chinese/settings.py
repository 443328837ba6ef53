"""Settings of thirteen cards: all 72,072 by number, and good ones without listing them.

The good ones are for bots that pick among offered moves, and for players' own searches:

    candidates(cards, 8)[0].back

What is good is estimated row by row: how often a row beats the same row of a
sensible opponent, what it then pays, and what a scoop adds.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from heapq import nlargest
from itertools import combinations
from math import comb, inf
from operator import itemgetter
from typing import Final, NamedTuple

from arena import poker
from arena.cards import Card
from arena.games.chinese.hands import (
    BACK_SIZE,
    FRONT_SIZE,
    HAND_SIZE,
    MIDDLE_SIZE,
    SCOOP_UNITS,
    Rows,
    Strengths,
    back_units,
    front_units,
    high_first,
    middle_units,
)
from arena.poker import HandClass, least

SETTINGS: Final = comb(HAND_SIZE, FRONT_SIZE) * comb(HAND_SIZE - FRONT_SIZE, MIDDLE_SIZE)
"""Settings of thirteen cards: 72,072."""

_BACKS_BOUNDED: Final = 150
"""Strongest backs that are looked at; the others are too weak to be worth the time."""
_BACKS_SEARCHED: Final = 32
"""Most promising backs whose every middle is tried, at most."""

# A row of the first candidates of random hands is equally likely between any two
# neighbours. They were fitted by letting the candidates play against themselves;
# tests/games/test_chinese_settings.py measures them.
FRONT_STEPS: Final = (
    least(HandClass.HIGH_CARD, "Q"),
    least(HandClass.HIGH_CARD, "KJ"),
    least(HandClass.HIGH_CARD, "AT"),
    least(HandClass.HIGH_CARD, "AQ"),
    least(HandClass.HIGH_CARD, "AKJ"),
    least(HandClass.PAIR, "5"),
    least(HandClass.PAIR, "8"),
    least(HandClass.PAIR, "T"),
    least(HandClass.PAIR, "JK"),
    least(HandClass.PAIR, "QA"),
    least(HandClass.PAIR, "KQ"),
)
MIDDLE_STEPS: Final = (
    least(HandClass.PAIR, "9"),
    least(HandClass.PAIR, "Q"),
    least(HandClass.PAIR, "KJ"),
    least(HandClass.PAIR, "AJ"),
    least(HandClass.TWO_PAIR, "6"),
    least(HandClass.TWO_PAIR, "96"),
    least(HandClass.TWO_PAIR, "J7"),
    least(HandClass.TRIPS, "3"),
    least(HandClass.TRIPS, "Q"),
    least(HandClass.STRAIGHT, "8"),
    least(HandClass.STRAIGHT, "K"),
)
BACK_STEPS: Final = (
    least(HandClass.TWO_PAIR, "9"),
    least(HandClass.TRIPS, "T"),
    least(HandClass.STRAIGHT, "9"),
    least(HandClass.STRAIGHT, "K"),
    least(HandClass.FLUSH, "JT"),
    least(HandClass.FLUSH, "KJ"),
    least(HandClass.FLUSH, "AJ"),
    least(HandClass.FLUSH, "AK"),
    least(HandClass.FULL_HOUSE, "5"),
    least(HandClass.FULL_HOUSE, "9"),
    least(HandClass.FULL_HOUSE, "K"),
)


class _Found(NamedTuple):
    """A setting by what it is worth; the rows by place among the hand's combinations."""

    units: float
    strengths: Strengths
    front: int
    middle: int
    back: int


def candidates(cards: Sequence[Card], k: int) -> tuple[Rows, ...]:
    """Up to `k` good settings of thirteen cards that do not foul, best first.

    No two of them have three equally strong rows. It takes a few milliseconds.

    Raises:
      ValueError: unless there are thirteen different cards, and `k` is at least 1.
    """
    if len(cards) != HAND_SIZE or len(set(cards)) != HAND_SIZE:
        raise ValueError(f"a setting is of {HAND_SIZE} different cards, not of {len(set(cards))}")
    if k < 1:
        raise ValueError(f"ask for one setting or more, not {k}")
    search = _Search(high_first(cards))
    best: dict[Strengths, _Found] = {}
    least_units = -inf
    for _, bound, back in search.promising_backs():
        if bound <= least_units:
            continue
        for found in search.with_back(back, least_units):
            best.setdefault(found.strengths, found)
        if len(best) >= k:
            best = {found.strengths: found for found in nlargest(k, best.values())}
            least_units = min(best.values()).units
    return tuple(map(search.rows, sorted(best.values(), reverse=True)))


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


class _Search:
    """The rows that a hand can make, and the settings made of them."""

    def __init__(self, held: Sequence[Card]) -> None:
        self._held = held
        self._fives = poker.each_five(held)
        self._fronts = tuple(map(poker.front, combinations(held, FRONT_SIZE)))

    def promising_backs(self) -> list[tuple[float, float, int]]:
        """Some backs, the most promising first: promise, bound in units, and the back.

        The bound is what the strongest middle and the strongest front that the
        back leaves would make if they did not share cards. What the strongest
        middle makes with the front that is left for it is the other half of the
        promise.
        """
        fives, fronts = self._fives, self._fronts
        strongest = sorted(range(len(fives)), key=fives.__getitem__, reverse=True)
        backs = []
        for back in strongest[:_BACKS_BOUNDED]:
            splits, value = _splits(back), fives[back]
            middles, left = splits.of_fives(fives), splits.of_threes(fronts)
            middle = max(middles)
            beside = left[middles.index(middle)]
            middle = min(middle, value)
            bound = expected_units(min(max(left), middle), middle, value)
            promise = bound + expected_units(min(beside, middle), middle, value)
            backs.append((promise, bound, back))
        return nlargest(_BACKS_SEARCHED, backs)

    def with_back(self, back: int, above_units: float) -> Iterator[_Found]:
        """Settings with this back that do not foul and are worth more than `above_units`."""
        value = self._fives[back]
        wins_back, back_makes = _BACK[value]
        splits = _splits(back)
        rows = zip(splits.of_threes(self._fronts), splits.of_fives(self._fives), strict=True)
        for at, (front, middle) in enumerate(rows):
            if front <= middle <= value:
                # `expected_units` written out: this is where the time goes.
                wins_front, front_makes = _FRONT[front]
                wins_middle, middle_makes = _MIDDLE[middle]
                scoops = wins_front * wins_middle * wins_back
                scooped = (1 - wins_front) * (1 - wins_middle) * (1 - wins_back)
                units = front_makes + middle_makes + back_makes + SCOOP_UNITS * (scoops - scooped)
                if units > above_units:
                    rows_set = Strengths(front, middle, value)
                    yield _Found(units, rows_set, splits.fronts[at], splits.middles[at], back)

    def rows(self, found: _Found) -> Rows:
        """The cards of a setting."""
        held = self._held
        rows = (FRONT_SIZE, found.front), (MIDDLE_SIZE, found.middle), (BACK_SIZE, found.back)
        return Rows(*(tuple(held[at] for at in _combinations(size)[row]) for size, row in rows))


class _Splits(NamedTuple):
    """The ways to split the eight cards that a back leaves into middle and front."""

    middles: tuple[int, ...]
    fronts: tuple[int, ...]
    of_fives: Callable[[Sequence[int]], tuple[int, ...]]
    """Picks the values of the middles from those of all fives."""
    of_threes: Callable[[Sequence[int]], tuple[int, ...]]
    """Picks the values of the fronts from those of all threes."""


@cache
def _splits(back: int) -> _Splits:
    left = [at for at in range(HAND_SIZE) if at not in _combinations(BACK_SIZE)[back]]
    middles = tuple(map(_places(MIDDLE_SIZE).__getitem__, combinations(left, MIDDLE_SIZE)))
    fronts = tuple(map(_places(FRONT_SIZE).__getitem__, combinations(left, FRONT_SIZE)))
    # What the first middle leaves of them is the last front, and so on.
    fronts = fronts[::-1]
    return _Splits(middles, fronts, itemgetter(*middles), itemgetter(*fronts))


@cache
def _combinations(size: int) -> tuple[tuple[int, ...], ...]:
    return tuple(combinations(range(HAND_SIZE), size))


@cache
def _places(size: int) -> dict[tuple[int, ...], int]:
    return {cards: place for place, cards in enumerate(_combinations(size))}


class _Row(dict[int, tuple[float, float]]):
    """For the value of a row, the share of opponents that it beats, and the units it makes."""

    def __init__(self, steps: Sequence[int], units: Callable[[int], int]) -> None:
        self._steps = (_LOWEST, *steps, _HIGHEST)
        self._units = units

    def __missing__(self, value: int) -> tuple[float, float]:
        at = bisect_right(self._steps, value)
        below, above = self._steps[at - 1 : at + 1]
        beaten = (at - 1 + (value - below) / (above - below)) / (len(self._steps) - 1)
        made = self[value] = beaten, beaten * self._units(value) - (1 - beaten)
        return made


_LOWEST: Final = least(HandClass.HIGH_CARD)
_HIGHEST: Final = least(HandClass.ROYAL_FLUSH, "A") + 1
_FRONT: Final = _Row(FRONT_STEPS, front_units)
_MIDDLE: Final = _Row(MIDDLE_STEPS, middle_units)
_BACK: Final = _Row(BACK_STEPS, back_units)


def expected_units(front: int, middle: int, back: int) -> float:
    """Units that rows of these values make of one opponent, as if each stood by itself."""
    wins_front, front_makes = _FRONT[front]
    wins_middle, middle_makes = _MIDDLE[middle]
    wins_back, back_makes = _BACK[back]
    scoops = wins_front * wins_middle * wins_back
    scooped = (1 - wins_front) * (1 - wins_middle) * (1 - wins_back)
    return front_makes + middle_makes + back_makes + SCOOP_UNITS * (scoops - scooped)
