"""What cards of Oklahoma Rummy are worth, melded or held, and what going out is."""

from typing import Final

from arena.cards import SUITS, Card, pack

QUEEN_OF_SPADES: Final[Card] = "Qs"
TWO: Final = "2"
TWOS: Final = frozenset(TWO + suit for suit in SUITS)

_LOW_POINTS: Final = dict.fromkeys("234567", 5)
RANK_POINTS: Final = dict.fromkeys("89TJQK", 10) | _LOW_POINTS | {"A": 20}
"""What a rank counts, the queen of spades and the 2s apart."""
CARD_POINTS: Final = {card: RANK_POINTS[card[0]] for card in pack()} | {QUEEN_OF_SPADES: 50}
"""What a card counts in a meld, by the card that it stands for (R1)."""
HELD_POINTS: Final = CARD_POINTS | dict.fromkeys(TWOS, 20) | {QUEEN_OF_SPADES: 100}
"""What a card costs that is left in hand."""
ALL_TWOS_POINTS: Final = 25
"""What each 2 counts in a set of nothing else."""
OUT_POINTS: Final = 100
_PACKS: Final = 2

MOST_MELDED: Final = _PACKS * sum(
    max(CARD_POINTS.values()) if card in TWOS else points for card, points in CARD_POINTS.items()
)
"""More than all cards are worth in melds: no 2 stands for more than the dearest card."""

MOST_HELD: Final = _PACKS * sum(HELD_POINTS.values())
"""What all cards together would cost."""
