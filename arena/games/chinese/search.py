"""Exact search for the settings with the highest expected units, by branch and bound.

Five cards without a flush have a value that depends on their ranks only. So the search tries each choice
of ranks once, as a sum of `poker.RANK_COUNT`, and picks cards of these ranks at the end. Suits matter
only where a flush is possible. A card is its place in the hand, which is sorted from ace to two. Cards
are a mask of thirteen bits, whose highest bit is the first place.

A choice of ranks is one number: the counts of ranks, and above them a mask of cards. The back takes the
first cards of a rank and the front the last ones, so two choices are compatible if their masks are
disjoint.

The search is exhaustive. For each back it computes an upper bound of the units before it tries middles.
It starts with the backs of the highest bounds and skips those whose bound is too low.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import combinations
from math import inf
from typing import Final, TypeAlias

from arena.games.cards import SUITS, Card
from arena.games.chinese.hands import (
    BACK_SIZE,
    FRONT_SIZE,
    HAND_SIZE,
    MIDDLE_SIZE,
    SCOOP_UNITS,
    Rows,
)
from arena.games.chinese.odds import BACK, FRONT, MIDDLE, expected_units
from arena.games.poker import (
    BY_RANK_COUNTS,
    BY_SUITED_RANKS,
    RANK_BIT,
    RANK_COUNT,
    strongest_five,
    strongest_front,
)

_FIRST: Final = 12
"""The number of strongest backs that are tried first."""
_BITS: Final = tuple(1 << place for place in reversed(range(HAND_SIZE)))
_WHOLE: Final = (1 << HAND_SIZE) - 1
_DIGIT: Final = 7
_MASK_SHIFT: Final = 39
"""The lowest bit of the mask in a choice; below it are three bits for each rank."""
_COUNTS: Final = (1 << _MASK_SHIFT) - 1

_Values: TypeAlias = tuple[int, int, int]
"""Poker values of front, middle and back."""
_Found: TypeAlias = tuple[float, _Values, int, int]
"""A setting: its expected units, its values, the masks of its back and its front."""
_Back: TypeAlias = tuple[int, int, int, bool]
"""A back: its value, its counts of ranks, its mask, and whether it is a flush of exactly these cards."""
_Promising: TypeAlias = tuple[float, int, _Back]
"""An upper bound of the units, the value of the strongest middle without a flush, and the back."""
_Front: TypeAlias = tuple[int, int, float, float]
"""A front: its value, its choice, the probability that it wins, its expected units."""


class Search:
    """A search for the settings of one hand."""

    __slots__ = (
        "_backs",
        "_best",
        "_counts",
        "_flushes",
        "_fronts",
        "_held",
        "_least_units",
        "_long_suits",
        "_ranks",
        "_units",
    )

    def __init__(self, held: Sequence[Card]) -> None:
        """Take thirteen cards, from ace to two."""
        self._held = held
        self._units = [RANK_COUNT[card] for card in held]
        self._counts = sum(self._units)
        # For each rank in the hand, from high to low: the shift of its digit, its unit, the number
        # of cards, and the bit of the last of them in a mask.
        self._ranks: list[tuple[int, int, int, int]] = []
        below = HAND_SIZE
        for unit in dict.fromkeys(self._units):
            shift = unit.bit_length() - 1
            count = self._counts >> shift & _DIGIT
            below -= count
            self._ranks.append((shift, unit, count, below))
        suits = "".join(held)[1::2]
        self._long_suits = [
            sum([_BITS[place] for place, other in enumerate(suits) if other == suit])
            for suit in SUITS
            if suits.count(suit) >= MIDDLE_SIZE
        ]
        self._fronts = self._all_fronts()
        self._backs = {
            BY_RANK_COUNTS[choice & _COUNTS]: choice
            for choice in self._choices(BACK_SIZE, first=True)
        }
        """The choices for a back without a flush, by value."""
        self._flushes: dict[int, list[_Back]] = {}
        for suit in self._long_suits:
            for value, counts, mask in self._suited(suit):
                self._flushes.setdefault(value, []).append((value, counts, mask, True))
        self._best: dict[_Values, _Found] = {}
        self._least_units = -inf
        """The units that a setting needs to be among the best."""

    def best(self, k: int) -> tuple[Rows, ...]:
        """Return the `k` settings with the most units; no two have three equally strong rows."""
        self._best = {}
        self._least_units = -inf
        values = sorted(self._flushes.keys() | self._backs, reverse=True)
        # The settings that the strongest backs give exclude most other backs by their bounds.
        for some in (values[:_FIRST], values[_FIRST:]):
            for most, middle, back in self._promising(some):
                if most < self._least_units:
                    break
                self._look_into(back, middle)
                self._keep(k)
        for suit in self._long_suits:
            self._add_flush_middles(suit)
        best = sorted(self._best.values(), reverse=True)[:k]
        return tuple([self._rows(back, front) for _, _, back, front in best])

    def _all_fronts(self) -> list[_Front]:
        choices = {
            BY_RANK_COUNTS[choice & _COUNTS]: choice
            for choice in self._choices(FRONT_SIZE, first=False)
        }
        fronts: list[_Front] = []
        for value in sorted(choices, reverse=True):
            wins, makes = FRONT[value]
            fronts.append((value, choices[value], wins, makes))
        return fronts

    def _choices(self, size: int, *, first: bool) -> list[int]:
        """Return the choices of `size` cards that take the first, or the last, cards of each rank."""
        # By number of cards: the choices from the ranks so far.
        chosen: list[list[int]] = [[0], *([] for _ in range(size))]
        for _, unit, held, below in self._ranks:
            parts = []
            for taken in range(1, min(held, size) + 1):
                mask = (1 << taken) - 1 << (below + held - taken if first else below)
                parts.append(taken * unit + (mask << _MASK_SHIFT))
            for longer in range(size, 0, -1):
                shorter = longer
                for part in parts:
                    shorter -= 1
                    if shorter < 0:
                        break
                    fewer = chosen[shorter]
                    if fewer:
                        chosen[longer] += [cards + part for cards in fewer]
        return chosen[size]

    def _promising(self, values: Sequence[int]) -> list[_Promising]:
        """Return the backs of these values whose bounds are high enough, the highest bound first.

        `values` are in descending order. The bound of a back is the units with the strongest middle and
        the strongest front of the cards left, as if these could share cards.
        """
        strongest = self._fronts[0][0]
        worth = bisect_left(
            values,
            -self._least_units,
            key=lambda value: -expected_units(min(strongest, value), value, value),
        )
        promising: list[_Promising] = []
        for value in values[:worth]:
            if value in self._backs:
                choice = self._backs[value]
                back = value, choice & _COUNTS, choice >> _MASK_SHIFT, False
                self._judge(back, promising)
            if value in self._flushes:
                for back in self._flushes[value]:
                    self._judge(back, promising)
        promising.sort(reverse=True)
        return promising

    def _judge(self, back: _Back, promising: list[_Promising]) -> None:
        """Append a back to `promising` if its bound is high enough."""
        value, counts, mask, is_suited = back
        left = self._counts - counts
        middle = min(BY_RANK_COUNTS[strongest_five(left)], value)
        most = value if is_suited and self._has_flush(_WHOLE ^ mask) else middle
        front = min(BY_RANK_COUNTS[strongest_front(left)], most)
        units = expected_units(front, most, value)
        if units >= self._least_units:
            promising.append((units, middle, back))

    def _look_into(self, back: _Back, strongest: int) -> None:
        """Add the good settings of a back, except those with a flush in the middle and none in the back."""
        value, counts, mask, is_suited = back
        left_counts = self._counts - counts
        taken = mask
        if is_suited:
            free = _WHOLE ^ mask
            if self._has_flush(free):
                self._add_two_flushes(value, mask, left_counts)
            taken = _WHOLE ^ self._last_places(free)
        taken <<= _MASK_SHIFT
        least_units = self._least_units
        wins_back, back_makes = BACK[value]
        wins_most, most_makes = MIDDLE[strongest]
        both = wins_most * wins_back
        neither = (1 - wins_most) * (1 - wins_back)
        most = most_makes + back_makes
        for front, choice, wins_front, front_makes in self._fronts:
            # `expected_units`, inlined, as most of the time is spent here.
            scoops = wins_front * both - (1 - wins_front) * neither
            if front_makes + most + SCOOP_UNITS * scoops < least_units:
                break  # weaker fronts have fewer units
            if choice & taken:
                continue
            three = choice & _COUNTS
            middle = BY_RANK_COUNTS[left_counts - three]
            if front <= middle <= value:
                units = expected_units(front, middle, value)
                if units >= least_units:
                    self._add(units, (front, middle, value), back, three)

    def _add(self, units: float, values: _Values, back: _Back, front_counts: int) -> None:
        """Add rows given by their ranks, if there are cards of these ranks that make no flush."""
        if values in self._best:
            return
        _, back_counts, mask, is_suited = back
        free = _WHOLE ^ mask
        front = self._last_of(free, front_counts)
        if not self._is_flush(free ^ front) and (is_suited or not self._is_flush(mask)):
            self._best[values] = units, values, mask, front
            return
        for other in [mask] if is_suited else self._takes(back_counts, _WHOLE):
            if is_suited or not self._is_flush(other):
                for front in self._takes(front_counts, _WHOLE ^ other):
                    if not self._is_flush(_WHOLE ^ other ^ front):
                        self._best[values] = units, values, other, front
                        return

    def _add_two_flushes(self, value: int, back: int, left_counts: int) -> None:
        for suit in self._long_suits:
            for middle, counts, mask in self._suited(suit & ~back):
                if middle <= value:
                    values = BY_RANK_COUNTS[left_counts - counts], middle, value
                    self._add_cards(values, back, _WHOLE ^ back ^ mask)

    def _add_flush_middles(self, suit: int) -> None:
        for middle, counts, mask in self._suited(suit):
            left = _WHOLE ^ mask
            left_counts = self._counts - counts
            if BY_RANK_COUNTS[strongest_five(left_counts)] < middle:
                continue
            for three in combinations([bit for bit in _BITS if left & bit], FRONT_SIZE):
                front = sum(three)
                front_counts = self._counts_of(front)
                back = BY_RANK_COUNTS[left_counts - front_counts]
                if back >= middle:
                    values = BY_RANK_COUNTS[front_counts], middle, back
                    self._add_cards(values, left ^ front, front)

    def _add_cards(self, values: _Values, back: int, front: int) -> None:
        units = expected_units(*values)
        if units >= self._least_units and values not in self._best:
            self._best[values] = units, values, back, front

    def _keep(self, k: int) -> None:
        """Keep the `k` best settings only."""
        if len(self._best) > k or (len(self._best) == k and self._least_units == -inf):
            kept = sorted(self._best.values(), reverse=True)[:k]
            self._best = {found[1]: found for found in kept}
            self._least_units = kept[-1][0]

    def _suited(self, suit: int) -> list[tuple[int, int, int]]:
        """Return value, counts of ranks and mask of every five cards among these of one suit."""
        held, units = self._held, self._units
        return [
            (
                BY_SUITED_RANKS[sum([RANK_BIT[held[place]] for place in five])],
                sum([units[place] for place in five]),
                sum([_BITS[place] for place in five]),
            )
            for five in combinations(_places(suit), MIDDLE_SIZE)
        ]

    def _has_flush(self, cards: int) -> bool:
        for suit in self._long_suits:  # noqa: SIM110 - any() over so few takes three times as long
            if (suit & cards).bit_count() >= MIDDLE_SIZE:
                return True
        return False

    def _is_flush(self, cards: int) -> bool:
        for suit in self._long_suits:  # noqa: SIM110 - as above
            if not cards & ~suit:
                return True
        return False

    def _counts_of(self, cards: int) -> int:
        return sum([self._units[place] for place in _places(cards)])

    def _last_places(self, cards: int) -> int:
        last = 0
        for _, _, held, below in self._ranks:
            last |= (1 << (cards >> below & (1 << held) - 1).bit_count()) - 1 << below
        return last

    def _last_of(self, cards: int, counts: int) -> int:
        last = 0
        for shift, _, held, below in self._ranks:
            taken = counts >> shift & _DIGIT
            if taken:
                group = cards >> below & (1 << held) - 1
                more = group
                for _ in range(taken):
                    more &= more - 1
                last |= (group ^ more) << below
        return last

    def _takes(self, counts: int, cards: int) -> list[int]:
        masks = [0]
        for shift, _, held, below in self._ranks:
            taken = counts >> shift & _DIGIT
            if taken:
                group = [bit for bit in _BITS if cards & ((1 << held) - 1 << below) & bit]
                parts = [sum(some) for some in combinations(group, taken)]
                masks = [mask | part for mask in masks for part in parts]
        return masks

    def _rows(self, back: int, front: int) -> Rows:
        held = self._held
        return Rows(
            front=tuple([held[place] for place in _places(front)]),
            middle=tuple([held[place] for place in _places(_WHOLE ^ back ^ front)]),
            back=tuple([held[place] for place in _places(back)]),
        )


def _places(mask: int) -> list[int]:
    return [place for place, bit in enumerate(_BITS) if mask & bit]
