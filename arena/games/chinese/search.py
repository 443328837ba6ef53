"""The search for good settings: by ranks first, by suits only where a flush is in reach.

Five cards of equal value are of the same ranks, and what they leave of the hand is
too. So a row is looked at once for each choice of ranks, as a sum of
`poker.RANK_COUNT`; which cards of these ranks it takes is settled at the end. Cards
are places in the hand, ace to two, and some of them a mask of thirteen bits, whose highest is
the first place: of as many places the higher mask comes first in the order
of `combinations`.
"""

from collections.abc import Sequence
from itertools import combinations
from math import inf
from typing import Final, TypeAlias

from arena.cards import SUITS, Card
from arena.games.chinese.hands import (
    BACK_SIZE,
    FRONT_SIZE,
    HAND_SIZE,
    MIDDLE_SIZE,
    SCOOP_UNITS,
    Rows,
)
from arena.games.chinese.odds import BACK, FRONT, MIDDLE, expected_units
from arena.poker import (
    BY_RANK_COUNTS,
    BY_SUITED_RANKS,
    RANK_BIT,
    RANK_COUNT,
    strongest_five,
    strongest_front,
)

_BACKS_BOUNDED: Final = 150
"""Strongest backs that are looked at; the others are too weak to be worth the time."""
_BACKS_SEARCHED: Final = 32
"""Most promising backs whose every middle is tried, at most."""

_BITS: Final = tuple(1 << place for place in reversed(range(HAND_SIZE)))
"""The bit of each place in a mask."""
_WHOLE: Final = (1 << HAND_SIZE) - 1
_DIGIT: Final = 7

_SUBSETS: Final = [
    [
        sorted(sum(bits) for bits in combinations([1 << at for at in range(held)], taken))[::-1]
        for taken in range(held + 1)
    ]
    for held in range(5)
]
"""Masks of so many bits (second index) out of the lowest so many (first), from high to low."""

_Values: TypeAlias = tuple[int, int, int]
"""What front, middle and back are worth at poker."""
_Back: TypeAlias = tuple[float, float, int, int, int]
"""A back: its promise and bound in units, the mask of what it leaves, its value, its counts of ranks."""
_Found: TypeAlias = tuple[float, _Values, int, int, int]
"""A setting: units that it should make, its values, the masks of what is not in the back, and of the middle.

A middle without mask is by counts of ranks alone, which stand last.
"""


class Search:
    """The settings that a hand can make."""

    __slots__ = ("_counts", "_held", "_long_suits", "_ranks", "_units")

    def __init__(self, held: Sequence[Card]) -> None:
        """Take thirteen cards, from ace to two."""
        self._held = held
        self._units = [RANK_COUNT[card] for card in held]
        self._counts = sum(self._units)
        # Of each rank that is held, from high to low: where its digit is, its unit, how many
        # cards, and the bit of the last of them in a mask.
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

    def best(self, k: int) -> tuple[Rows, ...]:
        """The `k` settings that are worth most, of those with promising backs."""
        best: dict[_Values, _Found] = {}
        seen: set[int] = set()
        above_units = -inf
        for back in self._promising_backs():
            _, bound, left, value, _ = back
            if bound <= above_units:
                continue
            if self._has_flush(left):
                self._add_by_cards(best, back, above_units)
            elif value not in seen:
                seen.add(value)
                self._add_by_ranks(best, back, above_units)
            if len(best) >= k:
                kept = sorted(best.values(), reverse=True)[:k]
                best = {found[1]: found for found in kept}
                above_units = kept[-1][0]
        return tuple([self._rows(found) for found in sorted(best.values(), reverse=True)])

    def _promising_backs(self) -> list[_Back]:
        """Some backs, the most promising first.

        The bound is what the strongest middle and the strongest front that the
        back leaves would make if they did not share cards. What the strongest
        middle makes with the front that is left for it is the other half of the
        promise.
        """
        judged: list[tuple[float, float, int, int, list[int]]] = []
        for value, counts, masks in self._strongest_backs():
            alike = []
            for mask in masks:
                left = _WHOLE ^ mask
                if self._has_flush(left):
                    promise, bound = self._promise(value, counts, self._best_flush(left))
                    judged.append((promise, bound, value, counts, [left]))
                else:
                    alike.append(left)
            if alike:
                promise, bound = self._promise(value, counts, _NO_FLUSH)
                judged.append((promise, bound, value, counts, alike))
        judged.sort(reverse=True)
        backs: list[_Back] = []
        for promise, bound, value, counts, lefts in judged:
            if len(backs) >= _BACKS_SEARCHED and promise < backs[-1][0]:
                break
            backs += [(promise, bound, left, value, counts) for left in lefts]
        backs.sort(reverse=True)
        return backs[:_BACKS_SEARCHED]

    def _strongest_backs(self) -> list[tuple[int, int, list[int]]]:
        """Values from high to low, the counts of ranks, and the masks of the backs of this value."""
        flushes: dict[int, list[int]] = {}
        by_ranks: dict[int, int] = {}
        for counts in self._choices(self._counts, BACK_SIZE):
            by_ranks[BY_RANK_COUNTS[counts]] = counts
        for suit in self._long_suits:
            for value, counts, mask in self._suited(suit):
                by_ranks[value] = counts
                flushes.setdefault(value, []).append(mask)
        strongest: list[tuple[int, int, list[int]]] = []
        left = _BACKS_BOUNDED
        for value in sorted(by_ranks, reverse=True):
            counts = by_ranks[value]
            if value in flushes:
                masks = sorted(flushes[value], reverse=True)
            else:
                masks = self._takes(counts)
                for suit in self._long_suits:
                    masks = [mask for mask in masks if mask & ~suit]
            strongest.append((value, counts, masks[:left]))
            left -= len(masks)
            if left <= 0:
                break
        return strongest

    def _choices(self, counts: int, size: int) -> list[int]:
        """The counts of ranks of so many cards out of these."""
        # By how many cards: what can be chosen of the ranks so far.
        chosen: list[list[int]] = [[0], *([] for _ in range(size))]
        for shift, unit, _, _ in self._ranks:
            held = counts >> shift & _DIGIT
            if held:
                for longer in range(size, 0, -1):
                    added = 0
                    for taken in range(1, min(held, longer) + 1):
                        added += unit
                        fewer = chosen[longer - taken]
                        if fewer:
                            chosen[longer] += [each + added for each in fewer]
        return chosen[size]

    def _takes(self, counts: int) -> list[int]:
        """The masks of cards with these counts of ranks, from high to low."""
        masks = [0]
        for shift, _, held, below in self._ranks:
            taken = counts >> shift & _DIGIT
            if taken:
                subsets = _SUBSETS[held][taken]
                masks = [mask | subset << below for mask in masks for subset in subsets]
        return masks

    def _suited(self, suit: int) -> list[tuple[int, int, int]]:
        """Of every five cards among these of one suit: value, counts of ranks, and mask."""
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
        """Whether a mask has five of a suit."""
        for suit in self._long_suits:  # noqa: SIM110 - any() over so few takes three times as long
            if (suit & cards).bit_count() >= MIDDLE_SIZE:
                return True
        return False

    def _best_flush(self, cards: int) -> tuple[int, int, int]:
        """The strongest five of a suit in a mask that has them: value, counts of ranks, mask."""
        return max([five for suit in self._long_suits for five in self._suited(suit & cards)])

    def _promise(self, value: int, counts: int, flush: tuple[int, int, int]) -> tuple[float, float]:
        """The promise of a back, and its bound, if it leaves this flush."""
        left = self._counts - counts
        five = strongest_five(left)
        middle = BY_RANK_COUNTS[five]
        if flush[0] > middle:
            middle, five, _ = flush
        middle = min(middle, value)
        front = min(BY_RANK_COUNTS[strongest_front(left)], middle)
        beside = min(BY_RANK_COUNTS[left - five], middle)
        bound = expected_units(front, middle, value)
        if beside == front:
            return bound + bound, bound
        return bound + expected_units(beside, middle, value), bound

    def _add_by_ranks(self, best: dict[_Values, _Found], back: _Back, above_units: float) -> None:
        """Add what makes more than `above_units` with a back that leaves no flush."""
        _, _, left, value, counts = back
        left_counts = self._counts - counts
        wins_back, back_makes = BACK[value]
        strongest = BY_RANK_COUNTS[strongest_front(left_counts)]
        rows = []
        for three in self._choices(left_counts, FRONT_SIZE):
            middle = BY_RANK_COUNTS[left_counts - three]
            if middle <= value:
                front = BY_RANK_COUNTS[three]
                if front <= middle:
                    rows.append((middle, front, left_counts - three))
        rows.sort(reverse=True)
        failed = 0
        for middle, front, five in rows:
            # `expected_units` written out: this is where the time goes.
            wins_front, front_makes = FRONT[front]
            wins_middle, middle_makes = MIDDLE[middle]
            scoops = wins_front * wins_middle * wins_back
            scooped = (1 - wins_front) * (1 - wins_middle) * (1 - wins_back)
            units = front_makes + middle_makes + back_makes + SCOOP_UNITS * (scoops - scooped)
            if units > above_units:
                values = (front, middle, value)
                if values not in best:
                    best[values] = units, values, left, 0, five
            else:
                failed += 1
                # Weaker middles make no more, with whatever front. To ask each time would cost more.
                if failed % 4 == 0 and above_units >= expected_units(
                    min(strongest, middle), middle, value
                ):
                    break

    def _add_by_cards(self, best: dict[_Values, _Found], back: _Back, above_units: float) -> None:
        """Add what makes more than `above_units` with any back."""
        _, _, left, value, counts = back
        left_counts = self._counts - counts
        flushes = {
            middle: made
            for suit in self._long_suits
            for made, _, middle in self._suited(suit & left)
        }
        places = _places(left)
        middles = map(sum, combinations([_BITS[place] for place in places], MIDDLE_SIZE))
        fives = map(sum, combinations([self._units[place] for place in places], MIDDLE_SIZE))
        for mask, five in zip(middles, fives, strict=True):
            middle = flushes[mask] if mask in flushes else BY_RANK_COUNTS[five]
            front = BY_RANK_COUNTS[left_counts - five]
            if front <= middle <= value:
                units = expected_units(front, middle, value)
                values = (front, middle, value)
                if units > above_units and values not in best:
                    best[values] = units, values, left, mask, 0

    def _rows(self, found: _Found) -> Rows:
        """The cards of a setting."""
        _, _, left, middle, five = found
        # By ranks alone, a middle takes the first cards of each rank that the back leaves.
        if not middle:
            for shift, _, held, below in self._ranks:
                taken = five >> shift & _DIGIT
                if taken:
                    cards = ((1 << held) - 1 << below) & left
                    while cards.bit_count() > taken:
                        cards &= cards - 1
                    middle |= cards
        held_cards = self._held
        return Rows(
            front=tuple([held_cards[place] for place in _places(left & ~middle)]),
            middle=tuple([held_cards[place] for place in _places(middle)]),
            back=tuple([held_cards[place] for place in _places(_WHOLE ^ left)]),
        )


_NO_FLUSH: Final = (0, 0, 0)


def _places(mask: int) -> list[int]:
    """The places of the cards in a mask, from the first."""
    return [place for place, bit in enumerate(_BITS) if mask & bit]
