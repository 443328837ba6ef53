"""Limits of taking, and points of the cards taken in Abstrac."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from arena.games.abstrac.messages import HALF, Variant
from arena.games.cards import JOKER, RANKS, SUITS, Card


def take_limit(variant: str, row: Sequence[Card], previous: int) -> int:
    """Return how many cards may be taken from `row` (B3 to B5), at most all of them (ruling 2).

    `previous` is the number of cards that the other seat took in the previous turn, 0 at first.
    """
    if not row:
        return 0
    match variant:
        case Variant.BASIC:
            limit = 3
        case Variant.UNFETTERED:
            limit = 1 + previous if previous else 12
        case _:
            limit = _SUIT_LIMITS[row[0][1]]  # of the card on top now (ruling 7)
    return min(limit, len(row))


_SUIT_LIMITS: Final = {"s": 1, "h": 2, "c": 3, "d": 4}

_SET_POINTS: Final = {3: 2, 4: 8}

_RUN_POINTS: Final = {3: 3, 4: 4, 5: 6, 6: 12}


@dataclass(frozen=True, slots=True)
class Combination:
    """A set or a run in the cards of a seat."""

    is_run: bool
    cards: tuple[Card, ...]
    """A run from low to high, or a set by suit."""
    points: int


def combinations(cards: Iterable[Card]) -> tuple[Combination, ...]:
    """Return the sets and runs in the cards (B6); a joker is in none."""
    held = [card for card in cards if card != JOKER]
    combined = []
    for rank in RANKS:
        alike = tuple(rank + suit for suit in SUITS if rank + suit in held)
        if len(alike) in _SET_POINTS:
            combined.append(Combination(is_run=False, cards=alike, points=_SET_POINTS[len(alike)]))
    for suit in SUITS:
        # Only the longest run counts; six ranks cannot have two (ruling 3).
        ranks = _run({card[0] for card in held if card[1] == suit})
        if len(ranks) in _RUN_POINTS:
            run = tuple(rank + suit for rank in ranks)
            combined.append(Combination(is_run=True, cards=run, points=_RUN_POINTS[len(ranks)]))
    return tuple(combined)


def combination_points(cards: Iterable[Card]) -> int:
    """Return the points of the sets and runs in the cards (B6)."""
    return sum(combination.points for combination in combinations(cards))


def deal_points(first: Sequence[Card], second: Sequence[Card]) -> tuple[int, int]:
    """Return the points of a hand for the cards of both seats (B7).

    That is the points of one's combinations times the other's number of cards. If exactly one seat has
    no combination, the products are swapped (the misère, ruling 6).
    """
    a, b = combination_points(first), combination_points(second)
    if a == 0 and b > 0:
        return b * len(first), 0
    if b == 0 and a > 0:
        return 0, a * len(second)
    return a * len(second), b * len(first)


def half_factors(cards: Sequence[Card]) -> tuple[int, int, int]:
    """Return the three factors of a half in the 52-card game (B9, reconstructed).

    They are the size of the longest suit, the length of the longest run of ranks in any suits, and the
    size of the largest group of one rank.
    """
    if not cards:
        return 0, 0, 0
    suits = Counter(card[1] for card in cards)
    ranks = Counter(card[0] for card in cards)
    return max(suits.values()), len(_run(ranks)), max(ranks.values())


def half_points(cards: Sequence[Card]) -> int:
    """Return the points of a half: the product of the factors, times twice the cards under 13 (B9)."""
    flush, run, group = half_factors(cards)
    short = HALF // 2 - len(cards)
    return flush * run * group * (2 * short if short > 0 else 1)


def _run(ranks: Iterable[str]) -> str:
    """Return the longest run of ranks from low to high; of equals the lowest."""
    longest = run = ""
    held = set(ranks)
    for rank in RANKS:
        run = run + rank if rank in held else ""
        if len(run) > len(longest):
            longest = run
    return longest
