"""Legal plays to a trick of Loo, and the winner of a trick."""

from collections.abc import Sequence
from typing import Final

from arena.cards import PACK_52, RANKS, SUITS, Card

PAM: Final[Card] = "Jc"
"""The highest trump of every trump suit; it is a club only if clubs are trump."""

_TRUMP_HEIGHT: Final = 20
_PAM_HEIGHT: Final = 40
# By whether there is Pam, trump suit and card. Trumps are above plain cards, and Pam is above trumps.
_HEIGHT: Final = {
    pam: {
        trump: {
            card: _PAM_HEIGHT
            if pam and card == PAM
            else RANKS.index(card[0]) + (_TRUMP_HEIGHT if card[1] == trump else 0)
            for card in PACK_52
        }
        for trump in SUITS
    }
    for pam in (True, False)
}


def legal_replies(
    hand: tuple[Card, ...], trick: Sequence[Card], trump: str, *, civil: bool, pam: bool = True
) -> tuple[Card, ...]:
    """Return the cards that may be played to the cards of a trick.

    A player must follow suit, and beat the best card of the trick if possible, unless a plain suit was
    trumped. Without the suit it must play a trump, again a higher one if possible. Without a trump it
    may play any card. In a `civil` trick Pam may not be played by a player with another trump (R7).
    Without `pam` the jack of clubs is a card like any other (R11).
    """
    height = _HEIGHT[pam][trump]
    best = height[trick[trick_winner(trick, trump, pam=pam)]]
    trumps = [card for card in hand if height[card] >= _TRUMP_HEIGHT]
    if civil and len(trumps) > 1 and PAM in trumps:
        trumps.remove(PAM)
    led = trick[0]
    if height[led] < _TRUMP_HEIGHT:
        suit = led[1]
        same = [card for card in hand if card[1] == suit and height[card] < _PAM_HEIGHT]
        if same:
            # In a trumped trick no card of the suit is higher, so any may be played (R7).
            return tuple([card for card in same if height[card] > best] or same)
    return tuple([card for card in trumps if height[card] > best] or trumps or hand)


def trick_winner(trick: Sequence[Card], trump: str, *, pam: bool = True) -> int:
    """Return the index of the winning card."""
    height = _HEIGHT[pam][trump]
    suit = trick[0][1]
    best, place = -1, 0
    for at, card in enumerate(trick):
        high = height[card]
        if high > best and (high >= _TRUMP_HEIGHT or card[1] == suit):
            best, place = high, at
    return place
