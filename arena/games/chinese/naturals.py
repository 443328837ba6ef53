"""Naturals of Chinese Poker: hands of thirteen cards that win without being set.

| natural         | thirteen cards with                                | of each opponent |
|-----------------|----------------------------------------------------|------------------|
| dragon          | one card of every rank                             | 13               |
| three flushes   | rows of 5, 5 and 3, each of one suit               | 3                |
| three straights | rows of 5, 5 and 3, each a run, the ace high or low| 3                |
| six pair        | six pairs and an odd card; four alike are two pairs| 3                |
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import combinations
from typing import Final, NamedTuple

from arena.games import poker
from arena.games.cards import CANONICAL, RANKS, SUITS, Card
from arena.games.poker import RANK_COUNT


class Natural(StrEnum):
    """A natural, from low to high."""

    SIX_PAIR = "six_pair"
    THREE_STRAIGHTS = "three_straights"
    THREE_FLUSHES = "three_flushes"
    DRAGON = "dragon"


NATURAL_UNITS: Final = {
    Natural.SIX_PAIR: 3,
    Natural.THREE_STRAIGHTS: 3,
    Natural.THREE_FLUSHES: 3,
    Natural.DRAGON: 13,
}
"""The units that each opponent pays."""

_HEIGHT: Final = {natural: height for height, natural in enumerate(Natural)}


class NaturalHand(NamedTuple):
    """A natural, arranged in the best way for its holder (C5)."""

    natural: Natural
    order: tuple[int, ...]
    """What naturals are compared by: the class, then the tie-break."""
    cards: tuple[Card, ...]
    """Back, middle and front of three flushes or straights; otherwise from ace to two."""


_unit_of: Final = RANK_COUNT.__getitem__
_ONE_OF_EACH: Final = sum(1 << 3 * at for at in range(len(RANKS)))
_PAIR_BITS: Final = _ONE_OF_EACH << 1
_QUAD_BITS: Final = _ONE_OF_EACH << 2

_FLUSH_SHAPES: Final = {(0, 0, 3, 10), (0, 0, 5, 8), (0, 3, 5, 5)}
"""Counts of the suits that split into 5, 5 and 3, without 13 of a suit, which is a dragon (C7)."""


def _runs(length: int) -> Iterator[tuple[int, str]]:
    """Yield each run of ranks with the index of its top card, the lowest run (ace low) first."""
    ladder = "A" + RANKS
    for at in range(len(ladder) - length + 1):
        yield at, ladder[at : at + length]


def _three_runs() -> dict[int, tuple[int, int, int]]:
    """Return the best back, middle and front by the counts of ranks that make three straights."""
    best: dict[int, tuple[int, int, int]] = {}
    for back, long_run in _runs(5):
        for middle, other_run in _runs(5):
            for front, short_run in _runs(3):
                ranks = long_run + other_run + short_run
                if max(map(ranks.count, ranks)) > 4:
                    continue
                counts = sum(RANK_COUNT[rank + "s"] for rank in ranks)
                arrangement = (back, middle, front)
                best[counts] = max(best.get(counts, arrangement), arrangement)
    return best


_THREE_RUNS: Final = _three_runs()
_RUN_OF_FIVE: Final = dict(_runs(5))
_RUN_OF_THREE: Final = dict(_runs(3))


def natural_of(cards: Sequence[Card]) -> Natural | None:
    """Return the highest natural of thirteen cards, or None."""
    counts = sum(map(_unit_of, cards))
    if counts == _ONE_OF_EACH:
        return Natural.DRAGON
    suits = "".join(cards)
    if tuple(sorted(map(suits.count, SUITS))) in _FLUSH_SHAPES:
        return Natural.THREE_FLUSHES
    if counts in _THREE_RUNS:
        return Natural.THREE_STRAIGHTS
    # A digit of the counts has two bits set for three of a rank, which is one pair; four are two (C6).
    pairs = (counts & _PAIR_BITS).bit_count() + 2 * (counts & _QUAD_BITS).bit_count()
    return Natural.SIX_PAIR if pairs == 6 else None


def best_natural(cards: Sequence[Card]) -> NaturalHand | None:
    """Return the highest natural of thirteen cards, arranged to win ties, or None."""
    natural = natural_of(cards)
    if natural is None:
        return None
    height = _HEIGHT[natural]
    held = sorted(cards, key=CANONICAL.__getitem__, reverse=True)
    match natural:
        case Natural.DRAGON:
            return NaturalHand(natural, (height,), tuple(held))
        case Natural.SIX_PAIR:
            return NaturalHand(natural, (height, *_pairs_then_odd(held)), tuple(held))
        case Natural.THREE_STRAIGHTS:
            tops = _THREE_RUNS[sum(map(_unit_of, held))]
            return NaturalHand(natural, (height, *tops), _in_runs(held, tops))
        case Natural.THREE_FLUSHES:
            order, rows = max(_flush_arrangements(held))
            return NaturalHand(natural, (height, *order), rows)


def _pairs_then_odd(held: Sequence[Card]) -> tuple[int, ...]:
    """Return the ranks of the pairs from the top, four of a kind twice, and then of the odd card."""
    ranks = [RANKS.index(card[0]) for card in held]
    pairs = [rank for rank in range(len(RANKS)) for _ in range(ranks.count(rank) // 2)]
    (odd,) = (rank for rank in range(len(RANKS)) if ranks.count(rank) % 2)
    return (*reversed(pairs), odd)


def _in_runs(held: Sequence[Card], tops: tuple[int, int, int]) -> tuple[Card, ...]:
    back, middle, front = tops
    ranks = _RUN_OF_FIVE[back][::-1] + _RUN_OF_FIVE[middle][::-1] + _RUN_OF_THREE[front][::-1]
    left = list(held)
    arranged = []
    for rank in ranks:
        card = next(card for card in left if card[0] == rank)
        left.remove(card)
        arranged.append(card)
    return tuple(arranged)


def _flush_arrangements(
    held: Sequence[Card],
) -> Iterator[tuple[tuple[int, int, int], tuple[Card, ...]]]:
    """Yield every split into suited back, middle and front, after what it is compared by.

    In the greatest the back is at least as strong as the middle, as both have five cards. The front
    is not compared with them (C8).
    """
    for back in _suited(held, 5):
        rest = [card for card in held if card not in back]
        for middle in _suited(rest, 5):
            front = tuple(card for card in rest if card not in middle)
            if len({card[1] for card in front}) == 1:
                values = poker.standard(back), poker.standard(middle), poker.front(front)
                yield values, (*back, *middle, *front)


def _suited(cards: Iterable[Card], size: int) -> Iterator[tuple[Card, ...]]:
    held = list(cards)
    for suit in SUITS:
        yield from combinations([card for card in held if card[1] == suit], size)
