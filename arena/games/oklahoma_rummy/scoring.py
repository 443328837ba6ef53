"""Points of Oklahoma Rummy: of cards in melds and in the hand, and for going out."""

from typing import Final

from arena.cards import SUITS, Card, pack

QUEEN_OF_SPADES: Final[Card] = "Qs"
TWO: Final = "2"
TWOS: Final = frozenset(TWO + suit for suit in SUITS)

_LOW_POINTS: Final = dict.fromkeys("234567", 5)
RANK_POINTS: Final = dict.fromkeys("89TJQK", 10) | _LOW_POINTS | {"A": 20}
"""Points by rank, except the queen of spades and 2s."""
CARD_POINTS: Final = {card: RANK_POINTS[card[0]] for card in pack()} | {QUEEN_OF_SPADES: 50}
"""Points in a meld, by the card that a card represents (R1)."""
HELD_POINTS: Final = CARD_POINTS | dict.fromkeys(TWOS, 20) | {QUEEN_OF_SPADES: 100}
"""Points lost for a card left in the hand."""
ALL_TWOS_POINTS: Final = 25
"""Points of each 2 in a set of 2s."""
OUT_POINTS: Final = 100
_PACKS: Final = 2

MOST_MELDED: Final = _PACKS * sum(
    max(CARD_POINTS.values()) if card in TWOS else points for card, points in CARD_POINTS.items()
)
"""An upper bound of the points of all cards in melds; a 2 counts as the card with most points."""

MOST_HELD: Final = _PACKS * sum(HELD_POINTS.values())
"""The cost of all cards together."""
