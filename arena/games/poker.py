"""The order of poker hands, as integers: of two hands the higher value wins, equal values tie.

| function          | cards  | order                                                   |
|-------------------|--------|---------------------------------------------------------|
| `standard`        | 5 to 7 | the best five; the ace high, or low in A-2-3-4-5        |
| `front`           | 3      | trips, pair, high card; no straights, no flushes        |
| `soko`            | 5      | standard, with the Canadian flush and straight (S1-S5)  |
| `soko_upcards`    | 1 to 4 | what is exposed at Soko (S8)                            |
| `eight_or_better` | 5 to 7 | the best ace-to-five low, or None without five to eight |

For speed the cards are not checked: they must be different, and of the number in the table. All values except lows
are on one scale: the upper bits are the class of the hand (`hand_class`), then there is a hexadecimal digit for each
rank that counts, in order of importance: 0x9_7c000 is sevens full of queens. So a front compares with a five-card
hand as Chinese Poker requires: if all its ranks are equal, the hand with further cards is stronger.

Each card has an integer key, which adds one to the count of its rank and one to that of its suit. Without five of a
suit, the counts of the ranks determine the value, which is looked up in a table; entries are computed at first use.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from functools import reduce
from operator import or_
from typing import Final

from arena.games.cards import PACK_52, RANKS, SUITS, Card


class HandClass(IntEnum):
    """The class of a hand, from low to high."""

    HIGH_CARD = 1
    PAIR = 2
    CANADIAN_STRAIGHT = 3
    """Four ranks in a row; in Soko only."""
    CANADIAN_FLUSH = 4
    """Four cards of a suit; in Soko only."""
    TWO_PAIR = 5
    TRIPS = 6
    STRAIGHT = 7
    FLUSH = 8
    FULL_HOUSE = 9
    QUADS = 10
    STRAIGHT_FLUSH = 11
    ROYAL_FLUSH = 12

    @property
    def label(self) -> str:
        """The class in words, as `full house`."""
        return self.name.lower().replace("_", " ")


_RANK_DIGITS: Final = 5
_CLASS_SHIFT: Final = 4 * _RANK_DIGITS

_TWO: Final = 2
_ACE: Final = 14
_RANK_NUMBER: Final = {rank: number for number, rank in enumerate(RANKS, start=_TWO)}

# The key of a card: an octal digit for each rank, then a hexadecimal one for each suit.
_SUIT_SHIFT: Final = 3 * len(RANKS)
_KEY: Final = {
    card: (1 << 3 * RANKS.index(card[0])) + (1 << _SUIT_SHIFT + 4 * SUITS.index(card[1]))
    for card in PACK_52
}
_key_of: Final = _KEY.__getitem__
_RANK_COUNTS: Final = (1 << _SUIT_SHIFT) - 1
# A suit's digit starts at 3, so that the fifth card of the suit sets its top bit.
_NO_CARDS: Final = 0x3333 << _SUIT_SHIFT
_FIVE_SUITED: Final = 0x8888 << _SUIT_SHIFT

RANK_BIT: Final = {card: 1 << RANKS.index(card[0]) for card in PACK_52}
"""The bit of the card's rank, the deuce's the lowest."""


def standard(cards: Sequence[Card]) -> int:
    """Return the value of the best five-card hand among 5 to 7 different cards."""
    key = sum(map(_key_of, cards), _NO_CARDS)
    if key & _FIVE_SUITED:
        suit = SUITS[((key & _FIVE_SUITED) >> _SUIT_SHIFT).bit_length() // 4 - 1]
        return BY_SUITED_RANKS[sum(RANK_BIT[card] for card in cards if card[1] == suit)]
    return BY_RANK_COUNTS[key & _RANK_COUNTS]


def front(cards: Iterable[Card]) -> int:
    """Return the value of three cards on the scale of `standard`; only sets and high cards count."""
    # The table of `standard` also holds three cards, as they have no straight and no five of a suit.
    return BY_RANK_COUNTS[sum(map(_key_of, cards)) & _RANK_COUNTS]


def soko(cards: Sequence[Card]) -> int:
    """Return the value of five cards by Soko's order; the highest class that fits counts (S4)."""
    value = standard(cards)
    # Two pair and more leave no room for four of a suit or four in a row.
    return value if value >= _AT_LEAST_TWO_PAIR else max(value, _canadian(cards))


def soko_upcards(cards: Sequence[Card]) -> int:
    """Return the value of one to four exposed cards at Soko, on the same scale (S8).

    Sets and high cards count; with four cards a complete Canadian flush or straight also counts.
    """
    value = BY_RANK_COUNTS[sum(map(_key_of, cards)) & _RANK_COUNTS]
    return value if len(cards) < 4 else max(value, _canadian(cards))


def eight_or_better(cards: Iterable[Card]) -> int | None:
    """Return the value of the best low of five different ranks from ace to eight, or None without one.

    Straights and flushes do not count against it. The higher value is the better low: the wheel is best, 8-7-6-5-4 the
    worst. The values are not on the scale of `standard`.
    """
    return _LOWS[reduce(or_, map(_low_bit_of, cards), 0)]


def hand_class(value: int) -> HandClass:
    """Return the class of a value that is not a low."""
    return HandClass(value >> _CLASS_SHIFT)


def least(kind: HandClass, ranks: str = "") -> int:
    """Return a lower bound of all values of a class whose first ranks are at least `ranks`.

    `least(PAIR, "Q")` separates pairs of queens and higher from lower ones.
    """
    return _value(kind, [_RANK_NUMBER[rank] for rank in ranks])


def _value(kind: HandClass, ranks: Sequence[int]) -> int:
    digits = 0
    for rank in ranks:
        digits = digits << 4 | rank
    return kind << _CLASS_SHIFT | digits << 4 * (_RANK_DIGITS - len(ranks))


class _Table(dict[int, int]):
    def __init__(self, compute: Callable[[int], int]) -> None:
        self._compute = compute

    def __missing__(self, key: int) -> int:
        value = self[key] = self._compute(key)
        return value


def _of_rank_counts(counts: int) -> int:
    """Return the value of 1 to 7 cards by the number of cards of each rank."""
    by_count: list[list[int]] = [[], [], [], [], []]  # the highest rank first
    size = 0
    for number in range(_ACE, _TWO - 1, -1):
        count = counts >> 3 * (number - _TWO) & 7
        size += count
        if count > 4 or size > 7:
            raise ValueError("a poker hand is of at most seven different cards")
        by_count[count].append(number)
    _, singles, pairs, trips, quads = by_count
    held = sorted(singles + pairs + trips + quads, reverse=True)
    if quads:
        return _value(HandClass.QUADS, [quads[0], *_others(held, quads[:1])[:1]])
    if trips and (pairs or trips[1:]):
        return _value(HandClass.FULL_HOUSE, [trips[0], max(trips[1:] + pairs)])
    top = _straight_top(sum(1 << number - _TWO for number in held), 5)
    if top:
        return _value(HandClass.STRAIGHT, [top])
    if trips:
        return _value(HandClass.TRIPS, [trips[0], *_others(held, trips)[:2]])
    if len(pairs) > 1:
        return _value(HandClass.TWO_PAIR, [*pairs[:2], *_others(held, pairs[:2])[:1]])
    if pairs:
        return _value(HandClass.PAIR, [pairs[0], *_others(held, pairs)[:3]])
    return _value(HandClass.HIGH_CARD, held[:5])


_ONES: Final = sum(1 << 3 * at for at in range(len(RANKS)))
_RUN_OF_FIVE: Final = 0o11111
_WHEEL: Final = 0o1_000_000_001_111


def strongest_five(counts: int) -> int:
    """Return the counts of ranks of the strongest five among about eight cards, without regard to suits.

    Counts are sums of `RANK_COUNT`, of at most four cards of a rank.
    """
    ones = counts & _ONES
    twos = counts >> 1 & _ONES
    fours = counts >> 2 & _ONES
    trips = ones & twos | fours
    ranks = ones | twos | fours
    if fours:
        quad = fours.bit_length() - 1
        return (4 << quad) + (1 << (ranks & ~(1 << quad)).bit_length() - 1)
    pairs = twos
    trip = trips.bit_length() - 1
    if trips:
        pairs &= ~(1 << trip)
        if pairs:
            return (3 << trip) + (1 << pairs.bit_length())
    run = ranks & ranks << 3
    run &= run << 6
    run &= ranks << 12
    if run:
        return _RUN_OF_FIVE << run.bit_length() - 13
    if ranks & _WHEEL == _WHEEL:
        return _WHEEL
    if trips:
        ranks &= ~(1 << trip)
        kicker = 1 << ranks.bit_length() - 1
        return (3 << trip) + kicker + (1 << (ranks ^ kicker).bit_length() - 1)
    five = 0
    wanted = 5
    if pairs:
        pair = 1 << pairs.bit_length() - 1
        five = pair << 1
        ranks ^= pair
        wanted = 3
        pairs ^= pair
        if pairs:
            pair = 1 << pairs.bit_length() - 1
            five += pair << 1
            ranks ^= pair
            wanted = 1
    while wanted:
        kicker = 1 << ranks.bit_length() - 1
        five += kicker
        ranks ^= kicker
        wanted -= 1
    return five


def strongest_front(counts: int) -> int:
    """Return the strongest front among cards of these counts, as in `strongest_five`."""
    ones = counts & _ONES
    twos = counts >> 1 & _ONES
    fours = counts >> 2 & _ONES
    trips = ones & twos | fours
    if trips:
        return 3 << trips.bit_length() - 1
    ranks = ones | twos
    if twos:
        pair = 1 << twos.bit_length() - 1
        return 2 * pair + (1 << (ranks ^ pair).bit_length() - 1)
    first = 1 << ranks.bit_length() - 1
    ranks ^= first
    second = 1 << ranks.bit_length() - 1
    return first + second + (1 << (ranks ^ second).bit_length() - 1)


def _of_suited_ranks(mask: int) -> int:
    """Return the value of five or more cards of one suit, by their ranks."""
    top = _straight_top(mask, 5)
    if top:
        kind = HandClass.ROYAL_FLUSH if top == _ACE else HandClass.STRAIGHT_FLUSH
        return _value(kind, [top])
    held = [number for number in range(_ACE, _TWO - 1, -1) if mask >> number - _TWO & 1]
    return _value(HandClass.FLUSH, held[:5])


def _straight_top(mask: int, length: int) -> int:
    """Return the highest rank that ends a run of `length` among the ranks, or 0."""
    run = with_low_ace = mask << 1 | mask >> len(RANKS) - 1
    for shift in range(1, length):
        run &= with_low_ace >> shift
    # The lowest bit, an ace's, is the start of a run that ends at rank `length`.
    return run.bit_length() - 1 + length if run else 0


def _others(held: Sequence[int], used: Sequence[int]) -> list[int]:
    return [rank for rank in held if rank not in used]


BY_RANK_COUNTS: Final = _Table(_of_rank_counts)
"""Values of 1 to 7 cards without five of a suit, by the sum of their `RANK_COUNT`s."""
BY_SUITED_RANKS: Final = _Table(_of_suited_ranks)
"""Values of 5 or more cards of one suit, by the sum of their `RANK_BIT`s."""

RANK_COUNT: Final = {card: key & _RANK_COUNTS for card, key in _KEY.items()}
"""One in the octal digit of the card's rank: sums of it count ranks."""


_AT_LEAST_TWO_PAIR: Final = least(HandClass.TWO_PAIR)


def _canadian(cards: Sequence[Card]) -> int:
    """Return the value of the Canadian flush or straight of four or five cards, or 0 (S3 to S5)."""
    suits = [card[1] for card in cards]
    for suit in SUITS:
        if suits.count(suit) == 4:
            by_suit = sorted(cards, key=lambda card: (card[1] == suit, _RANK_NUMBER[card[0]]))
            ranks = [_RANK_NUMBER[card[0]] for card in reversed(by_suit)]
            return _value(HandClass.CANADIAN_FLUSH, ranks)
    top = _straight_top(reduce(or_, map(RANK_BIT.__getitem__, cards)), 4)
    if not top:
        return 0
    left = [_RANK_NUMBER[card[0]] for card in cards]
    for rank in range(top - 3, top + 1):
        left.remove(rank if rank >= _TWO else _ACE)
    return _value(HandClass.CANADIAN_STRAIGHT, [top, *left])


# One bit for each rank from ace to eight; higher ranks have none.
_LOW_BIT: Final = {
    card: 1 << "A2345678".find(card[0]) if card[0] in "A2345678" else 0 for card in PACK_52
}
_low_bit_of: Final = _LOW_BIT.__getitem__


def _low_of(mask: int) -> int | None:
    while mask.bit_count() > 5:
        mask ^= 1 << mask.bit_length() - 1
    # Lows compare from the highest card down, as the masks do; the smaller is better.
    return 0xFF - mask if mask.bit_count() == 5 else None


_LOWS: Final = tuple(map(_low_of, range(1 << 8)))
