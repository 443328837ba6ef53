"""Cards and packs.

A card is a string of two characters, rank then suit (`Td`, `As`); a joker is
`Jk`. Strings are as cheap as enums here, and they are what the wire, the
replays and the notation carry, so no card is ever converted.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias

Card: TypeAlias = str
"""Rank and suit, as `Td`; a joker is `Jk`."""

RANKS: Final = "23456789TJQKA"
"""Ranks from low to high, the ace high."""

SUITS: Final = "cdhs"
"""Suits in canonical order: clubs, diamonds, hearts, spades."""

JOKER: Final[Card] = "Jk"


def pack(ranks: str = RANKS, *, jokers: int = 0, packs: int = 1) -> tuple[Card, ...]:
    """The cards of a pack in canonical order, from which every shuffle starts.

    By rank, then suit, then the jokers; a second pack follows the first. A
    stripped pack is given by the `ranks` it keeps.
    """
    kept = [rank for rank in RANKS if rank in ranks]
    one = tuple(rank + suit for rank in kept for suit in SUITS) + (JOKER,) * jokers
    return one * packs


PACK_52: Final = pack()

CANONICAL: Final[dict[Card, int]] = {card: at for at, card in enumerate((*PACK_52, JOKER))}
"""Place of each card in a full pack with a joker: the key for stable sorting."""


def in_order(cards: Iterable[Card]) -> tuple[Card, ...]:
    """The cards sorted canonically, so that a list shows nothing but its content."""
    return tuple(sorted(cards, key=CANONICAL.__getitem__))


def as_named(cards: Iterable[Card]) -> tuple[Card, ...]:
    """The cards of a move that names a set of them, in canonical order.

    So moves that name the same cards are equal, in whatever order a bot named
    them. A move off the wire may hold any text: what is no card comes last, for
    the rules to refuse.
    """
    named = tuple(cards)
    try:
        return in_order(named)
    except KeyError:
        last = len(CANONICAL)
        return tuple(sorted(named, key=lambda card: (CANONICAL.get(card, last), card)))


def parse_cards(text: str) -> tuple[Card, ...]:
    """Read cards from text, with or without spaces: `AsKd` or `As Kd`.

    Raises:
      ValueError: if the text holds anything but whole cards.
    """
    packed = "".join(text.split())
    cards = tuple(packed[at : at + 2] for at in range(0, len(packed), 2))
    for card in cards:
        if card not in CANONICAL:
            raise ValueError(f"{card!r} is not a card: write rank and suit, as in Td")
    return cards
