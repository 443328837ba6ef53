"""Reads and sorts cards: `cards.parse("As Kd")`.

A card is a text of two characters, rank and suit, such as `Td`; a joker is `Jk`. The arena sends and receives cards in
this form.
"""

from collections.abc import Iterable
from typing import Final

RANKS: Final = "23456789TJQKA"
"""Ranks from low to high, the ace high."""
SUITS: Final = "cdhs"
"""Suits in canonical order: clubs, diamonds, hearts, spades."""
JOKER: Final = "Jk"
"""The joker, which has neither rank nor suit."""

_LETTERS: Final = 2


def parse(text: str) -> list[str]:
    """Return the cards of a text, with or without spaces: `AsKd` or `As Kd`.

    Raises:
      ValueError: if a part of it is no card.
    """
    bare = "".join(text.split())
    return [checked(bare[at : at + _LETTERS]) for at in range(0, len(bare), _LETTERS)]


def checked(card: object) -> str:
    """Return the card.

    Raises:
      ValueError: if the text is no card.
    """
    if not isinstance(card, str) or not is_card(card):
        raise ValueError(f"{card!r} is no card: rank and suit are wanted, as 'Td'")
    return card


def is_card(text: str) -> bool:
    """Return whether a text is a card."""
    return text == JOKER or (len(text) == _LETTERS and rank(text) >= 0 and suit(text) >= 0)


def rank(card: str) -> int:
    """Return the index of a card's rank in `RANKS`; -1 for a joker."""
    return -1 if card == JOKER else RANKS.find(card[:1] or " ")


def suit(card: str) -> int:
    """Return the index of a card's suit in `SUITS`; -1 for a joker."""
    return -1 if card == JOKER else SUITS.find(card[1:] or " ")


def order(card: str) -> int:
    """Return the key that orders cards by rank, then suit, the joker last: `hand.sort(key=cards.order)`."""
    return len(RANKS) * len(SUITS) if card == JOKER else rank(card) * len(SUITS) + suit(card)


def of_suit(cards: Iterable[str], letter: str) -> list[str]:
    """Return the cards of a suit, a letter of `SUITS`."""
    return [card for card in cards if card != JOKER and card[1:] == letter]
