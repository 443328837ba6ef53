"""Cards, packs, and draws of unseen cards.

A card is a string of two characters, rank then suit (`Td`, `As`); a joker is `Jk`. Strings are as fast as enums, and
messages, replays and notation use the same strings, so cards are never converted.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

Card: TypeAlias = str
"""Rank and suit, as `Td`; a joker is `Jk`."""

RANKS: Final = "23456789TJQKA"
"""Ranks from low to high, the ace high."""

SUITS: Final = "cdhs"
"""Suits in canonical order: clubs, diamonds, hearts, spades."""

JOKER: Final[Card] = "Jk"


def pack(ranks: str = RANKS, *, jokers: int = 0, packs: int = 1) -> tuple[Card, ...]:
    """Return the cards of a pack in canonical order, from which every shuffle starts.

    By rank, then suit, then the jokers; a second pack follows the first. A stripped pack has
    only the given `ranks`.
    """
    used = [rank for rank in RANKS if rank in ranks]
    one = tuple(rank + suit for rank in used for suit in SUITS) + (JOKER,) * jokers
    return one * packs


PACK_52: Final = pack()

CANONICAL: Final[dict[Card, int]] = {card: at for at, card in enumerate((*PACK_52, JOKER))}
"""Place of each card in a full pack with a joker: the key for stable sorting."""


def in_order(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Return the cards in canonical order, so that the order has no information."""
    return tuple(sorted(cards, key=CANONICAL.__getitem__))


def without(cards: Sequence[Card], gone: Iterable[Card]) -> tuple[Card, ...]:
    """Return the cards without one of each card in `gone` that is among them."""
    left = list(cards)
    for card in gone:
        if card in left:
            left.remove(card)
    return tuple(left)


def as_named(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Return the cards of a move that names a set of them, in one order.

    Two moves with the same cards are therefore equal. A message may contain any text: texts that are not cards come
    last, and the rules refuse them.
    """
    named = tuple(cards)
    try:
        return in_order(named)
    except KeyError:
        last = len(CANONICAL)
        return tuple(sorted(named, key=lambda card: (CANONICAL.get(card, last), card)))


def parse_cards(text: str) -> tuple[Card, ...]:
    """Read cards from text, with or without spaces: `AsKd` or `As Kd`.

    Raises `ValueError` if the text holds anything but whole cards.
    """
    packed = "".join(text.split())
    cards = tuple(packed[at : at + 2] for at in range(0, len(packed), 2))
    for card in cards:
        if card not in CANONICAL:
            raise ValueError(f"{card!r} is not a card: write rank and suit, as in Td")
    return cards


def dealt_singly(cards: Sequence[Card], seats: int, dealer: int) -> list[Sequence[Card]]:
    """Return the cards by seat, in the order dealt: one by one around the table from the dealer's left."""
    return [cards[(seat - dealer - 1) % seats :: seats] for seat in range(seats)]


def hands_of(
    unseen: Iterable[Card], sizes: Sequence[int], below: Callable[[int], int]
) -> list[tuple[Card, ...]]:
    """Deal all `unseen` cards into hands of these sizes, uniformly.

    The result depends on the set of cards and on the draws, but not on the order in which the cards are given.
    `below(n)` draws an integer in [0, n).

    Raises `ValueError` unless the sizes sum up to the number of cards.
    """
    cards = sorted(unseen)
    if len(cards) != sum(sizes):
        raise ValueError(f"{len(cards)} unseen cards are not those of hands of {list(sizes)}")
    for last in range(len(cards) - 1, 0, -1):
        at = below(last + 1)
        cards[at], cards[last] = cards[last], cards[at]
    hands, start = [], 0
    for size in sizes:
        hands.append(tuple(cards[start : start + size]))
        start += size
    return hands
