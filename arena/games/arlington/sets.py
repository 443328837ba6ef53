"""The sets of Arlington: which cards make a set, how sets are compared and what they score.

Source: D. P. Himes's rules of 1998, numbered R1 to R7 and R20.

| spectrum  | pure sets                                                       |
|-----------|-----------------------------------------------------------------|
| aces      | 1 to 4 aces                                                     |
| multiples | 2 to 4 cards of one rank                                        |
| couples   | king and queen, queen and jack, of any suits; the 2h alone      |
| runs      | 2 to 13 cards of one suit in sequence, the ace high             |

A jokered set is a pure set with one or two cards replaced by jokers. There are about six thousand sets.
They are computed on first use: the readings of each set, and for each part of the pack the sets of its
cards.

A set is a tuple in canonical order (`set_of`), so that equal sets are equal tuples.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from itertools import combinations
from typing import Final, NamedTuple, TypeAlias

from arena.games.cards import CANONICAL, JOKER, PACK_52, RANKS, SUITS, Card, as_named, in_order

JOKERS: Final = 2
"""The number of jokers in the pack, which are all equal."""
TWO_OF_HEARTS: Final[Card] = "2h"
TWO_OF_SPADES: Final[Card] = "2s"
"""The card that buries a set."""

CardSet: TypeAlias = tuple[Card, ...]
"""Cards in canonical order: by rank, then clubs to spades, jokers last."""


class Spectrum(StrEnum):
    """A kind of set, in the order in which a lead without spectrum is read (R12)."""

    ACES = "aces"
    MULTIPLES = "multiples"
    COUPLES = "couples"
    RUNS = "runs"


def set_of(cards: Iterable[Card]) -> CardSet:
    """Return the cards in canonical order; texts that are no cards are last and make no set."""
    return as_named(cards)


def spectra_of(cards: CardSet) -> tuple[Spectrum, ...]:
    """Return the spectra that the cards fit; none if they are no set (R1 to R4)."""
    return tuple(_readings().strengths.get(cards, ()))


def strength_of(cards: CardSet, spectrum: Spectrum) -> int | None:
    """Return the rank of a set in a spectrum, or None if it does not fit.

    A jokered set counts as the highest pure set that it can be (R6). Equal numbers are equally strong
    sets; numbers of different spectra cannot be compared.
    """
    strengths = _readings().strengths.get(cards)
    return None if strengths is None else strengths.get(spectrum)


def points_of(cards: CardSet) -> int:
    """Return the points of a set: the most over all spectra and readings of jokers (R20)."""
    return _readings().points[cards]


def reading_of(cards: CardSet) -> Spectrum:
    """Return the spectrum in which a set scores most; of equals the first (R20)."""
    return _readings().read_as[cards]


def is_set(cards: CardSet) -> bool:
    return cards in _readings().strengths


@lru_cache(maxsize=1 << 11)
def additions_to(cards: CardSet) -> frozenset[Card]:
    """Return the cards, perhaps with a joker, that can be added to a set (R16)."""
    first = cards[0]
    # A single suit card that is a set cannot become a couple, so rank or suit must agree.
    near = PACK_52 if first == JOKER else _NEAR[first]
    absent = [card for card in near if card not in cards]
    return frozenset([card for card in (*absent, JOKER) if is_set(_with(cards, card))])


@lru_cache(maxsize=1 << 11)
def joker_swaps_of(cards: CardSet) -> frozenset[Card]:
    """Return the suit cards that can replace a joker of a set (R17).

    A joker cannot be replaced by a joker, which could be repeated forever (ruling 3).
    """
    if JOKER not in cards:
        return frozenset()
    rest = cards[:-1]  # jokers are last
    return frozenset([card for card in PACK_52 if card not in rest and is_set(_with(rest, card))])


def sets_within(spectrum: Spectrum, hand: Iterable[Card], jokers: int) -> Iterator[CardSet]:
    """Yield the sets of a spectrum in a hand with exactly `jokers` jokers.

    Within a rank or suit, higher sets are first. The caller checks that the hand has these jokers.
    """
    held = 0
    for card in hand:
        held |= _BIT[card]
    for part, mask in _PARTS[spectrum].items():
        here = held & mask
        if here or not mask:
            yield from _within(spectrum, part, here, jokers)


def _with(cards: CardSet, card: Card) -> CardSet:
    return in_order((*cards, card))


def _ladder(spectrum: Spectrum) -> list[CardSet]:
    """Return the pure sets of a spectrum from low to high, all of different strength (R5)."""
    match spectrum:
        case Spectrum.ACES:
            return sorted(_of_one_rank("A", 1), key=_by_size)
        case Spectrum.MULTIPLES:
            return sorted((one for rank in RANKS for one in _of_one_rank(rank, 2)), key=_by_size)
        case Spectrum.COUPLES:
            pairs = [
                (low + suit, high + other)
                for low, high in ("JQ", "QK")
                for suit in SUITS
                for other in SUITS
            ]
            return sorted([*pairs, (TWO_OF_HEARTS,)], key=_by_class)
        case Spectrum.RUNS:
            return sorted(_runs(), key=_by_size)


def _of_one_rank(rank: str, fewest: int) -> Iterator[CardSet]:
    cards = [rank + suit for suit in SUITS]
    for size in range(fewest, len(SUITS) + 1):
        yield from combinations(cards, size)


def _runs() -> Iterator[CardSet]:
    for suit in SUITS:
        for first in range(len(RANKS)):
            for last in range(first + 2, len(RANKS) + 1):
                yield tuple(rank + suit for rank in RANKS[first:last])


def _high_to_low(cards: CardSet) -> tuple[int, ...]:
    return tuple(CANONICAL[card] for card in reversed(cards))


def _by_size(cards: CardSet) -> tuple[int, tuple[int, ...]]:
    """Sort key: more cards are higher, then the first difference from the top decides."""
    return len(cards), _high_to_low(cards)


def _by_class(cards: CardSet) -> tuple[int, tuple[int, ...]]:
    """Sort key: suited couples above the 2h above unsuited couples, then from the top."""
    height = 1 if len(cards) == 1 else 2 if _is_suited(cards) else 0
    return height, _high_to_low(cards)


def _is_suited(cards: CardSet) -> bool:
    return cards[0][1] == cards[1][1]


def _pure_points(cards: CardSet, spectrum: Spectrum) -> int:
    """Return the points of a set without jokers in one spectrum (R20)."""
    if spectrum is Spectrum.RUNS:
        return 2 * (len(cards) - 1)
    if spectrum is not Spectrum.COUPLES:
        return 1 << (len(cards) - 1)
    if len(cards) == 1:
        return 2
    with_king = cards[1][0] == "K"
    return (8 if with_king else 4) if _is_suited(cards) else (2 if with_king else 1)


class _Readings(NamedTuple):
    """All sets, with their strengths by spectrum, their points, and the spectrum that scores most."""

    strengths: dict[CardSet, dict[Spectrum, int]]
    points: dict[CardSet, int]
    read_as: dict[CardSet, Spectrum]


@cache
def _readings() -> _Readings:
    strengths: dict[CardSet, dict[Spectrum, int]] = {}
    points: dict[CardSet, int] = {}
    read_as: dict[CardSet, Spectrum] = {}
    for spectrum in Spectrum:
        for strength, pure in enumerate(_ladder(spectrum)):
            worth = _pure_points(pure, spectrum)
            for jokers in range(min(JOKERS, len(pure)) + 1):
                for kept in combinations(pure, len(pure) - jokers):
                    cards = kept + (JOKER,) * jokers
                    # From low to high, so the highest reading remains (R6).
                    strengths.setdefault(cards, {})[spectrum] = strength
                    if worth > points.get(cards, 0):
                        points[cards], read_as[cards] = worth, spectrum
    return _Readings(strengths, points, read_as)


_NEAR: Final = {
    card: tuple(other for other in PACK_52 if card[0] == other[0] or card[1] == other[1])
    for card in PACK_52
}
"""By card, the cards of its rank or suit."""

_BIT: Final = {card: 1 << at for at, card in enumerate(PACK_52)} | {JOKER: 0}


def _mask(cards: Iterable[Card]) -> int:
    return sum(_BIT[card] for card in cards)


# All suit cards of a set belong to one part of the pack: a rank, a suit or the court cards. The sets that
# a hand can make in a part depend only on its few cards there, so they are cached. The part "" is for sets
# of jokers only.
_PARTS: Final[Mapping[Spectrum, Mapping[str, int]]] = {
    Spectrum.ACES: {"A": _mask("A" + suit for suit in SUITS), "": 0},
    Spectrum.MULTIPLES: {rank: _mask(rank + suit for suit in SUITS) for rank in RANKS} | {"": 0},
    Spectrum.COUPLES: {
        "court": _mask([TWO_OF_HEARTS, *(rank + suit for rank in "JQK" for suit in SUITS)]),
        "": 0,
    },
    Spectrum.RUNS: {suit: _mask(rank + suit for rank in RANKS) for suit in SUITS} | {"": 0},
}


def _part_of(cards: CardSet, spectrum: Spectrum) -> str:
    if cards[0] == JOKER:
        return ""
    if spectrum is Spectrum.COUPLES:
        return "court"
    return cards[0][1] if spectrum is Spectrum.RUNS else cards[0][0]


@cache
def _index(spectrum: Spectrum) -> dict[tuple[str, int], list[tuple[int, CardSet]]]:
    """Return the sets of a spectrum by part and number of jokers, as bit masks, higher ones first."""
    index: dict[tuple[str, int], list[tuple[int, CardSet]]] = {}
    strength = {
        cards: strengths[spectrum]
        for cards, strengths in _readings().strengths.items()
        if spectrum in strengths
    }
    for cards in strength:
        key = (_part_of(cards, spectrum), cards.count(JOKER))
        index.setdefault(key, []).append((_mask(cards), cards))
    for rows in index.values():
        rows.sort(key=lambda row: (strength[row[1]], row[0]), reverse=True)
    return index


def most_points(cards: int) -> int:
    """Return an upper bound of the points of sets with so many cards.

    That is two points for each card, and four for each king, queen and joker, as a suited couple of king
    and queen scores eight.
    """
    return 2 * cards + 2 * min(cards, _COURT)


_COURT: Final = 10  # kings, queens and jokers


@lru_cache(maxsize=1 << 12)
def _within(spectrum: Spectrum, part: str, held: int, jokers: int) -> tuple[CardSet, ...]:
    rows = _index(spectrum).get((part, jokers), ())
    return tuple([cards for mask, cards in rows if mask & held == mask])
