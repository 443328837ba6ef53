"""Which cards may be played to a trick of Loo, and which takes it."""

from collections.abc import Sequence
from typing import Final

from arena.cards import PACK_52, RANKS, SUITS, Card

PAM: Final[Card] = "Jc"
"""The highest trump, whatever the trump suit; no club unless clubs are trump."""

_TRUMP_HEIGHT: Final = 20
_PAM_HEIGHT: Final = 40
# By trump suit, then card: any trump is higher than any plain card, and Pam than any trump.
_HEIGHT: Final = {
    trump: {
        card: _PAM_HEIGHT
        if card == PAM
        else RANKS.index(card[0]) + (_TRUMP_HEIGHT if card[1] == trump else 0)
        for card in PACK_52
    }
    for trump in SUITS
}


def legal_replies(
    hand: tuple[Card, ...], trick: Sequence[Card], trump: str, *, civil: bool
) -> tuple[Card, ...]:
    """Cards that may be played to the cards of a trick.

    Suit is followed, with a card that beats the best if there is one and the
    trick is not trumped; without the suit a trump is played, again one that
    beats the best if possible; without that any card. Cards thrown off in other
    plain suits are nothing to beat. In a `civil` trick Pam stays at home if its
    holder has another trump (R7).
    """
    height = _HEIGHT[trump]
    best = height[trick[trick_winner(trick, trump)]]
    trumps = [card for card in hand if height[card] >= _TRUMP_HEIGHT]
    if civil and len(trumps) > 1 and PAM in trumps:
        trumps.remove(PAM)
    led = trick[0]
    if height[led] < _TRUMP_HEIGHT:
        suit = led[1]
        same = [card for card in hand if card[1] == suit and card != PAM]
        if same:
            # In a trumped trick no card of the suit is higher, so any will do (R7).
            return tuple([card for card in same if height[card] > best] or same)
    return tuple([card for card in trumps if height[card] > best] or trumps or hand)


def trick_winner(trick: Sequence[Card], trump: str) -> int:
    """The place in the trick of the card that takes it."""
    height = _HEIGHT[trump]
    suit = trick[0][1]
    best, place = -1, 0
    for at, card in enumerate(trick):
        high = height[card]
        if high > best and (high >= _TRUMP_HEIGHT or card[1] == suit):
            best, place = high, at
    return place
