"""Options of Loo."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from arena.games.options import hands_setting, setting

MAX_HANDS: Final = 300


class HandCards(StrEnum):
    """The cards of a hand, which is the number of tricks and of chips of a payment as well."""

    FIVE = "five"
    THREE = "three"
    """Without Pam and without flushes. The source only names this game: it is our own reading (R11)."""


HAND_SIZES: Final = {HandCards.FIVE.value: 5, HandCards.THREE.value: 3}


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_setting(0, "three hands dealt by each seat", maximum=MAX_HANDS)
    cards: str = setting(
        HandCards.FIVE,
        "cards of a hand; with three there are no Pam and no flushes",
        choices=tuple(HandCards),
    )

    @property
    def hand_size(self) -> int:
        """The number of cards in a hand, of tricks, and of chips of every payment (R8)."""
        return HAND_SIZES[self.cards]

    @property
    def has_pam(self) -> bool:
        """Whether there are Pam and flushes."""
        return self.cards == HandCards.FIVE
