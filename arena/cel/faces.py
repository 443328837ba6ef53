"""Cards as rules see them. Cards of two packs with the same face are the same."""

from typing import Final

from arena.cards import Card

SUIT_ORDER: Final = "shdc"
RANK_ORDER: Final = "A23456789TJQK"
COLORS: Final = {"s": "B", "h": "R", "d": "R", "c": "B"}


class CardFace:
    """One of the 52 faces, with the fields that a rule may use (R1).

    There is one object for each face, so faces are compared by identity.
    """

    __slots__ = ("card", "color", "face", "parity", "rank", "suit")

    def __init__(self, card: Card) -> None:
        self.card = card
        self.rank = 1 + RANK_ORDER.index(card[0])
        """From 1 for an ace to 13 for a king."""
        self.suit = card[1]
        self.color = COLORS[card[1]]
        self.parity = self.rank % 2
        self.face = self.rank >= 11

    def __reduce__(self) -> tuple[type, tuple[()]]:
        raise TypeError("a face is not to be copied: keep the card")


DECK_ORDER: Final[tuple[Card, ...]] = tuple(
    rank + suit for suit in SUIT_ORDER for rank in RANK_ORDER
)
"""The order of cards in Eleusis: spades, hearts, diamonds, clubs, each from ace to king."""

FACES: Final[dict[Card, CardFace]] = {card: CardFace(card) for card in DECK_ORDER}
"""The face of each card."""

ALL_FACES: Final[tuple[CardFace, ...]] = tuple(FACES.values())
