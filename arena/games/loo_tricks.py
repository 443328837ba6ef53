"""Tricks and flushes of Loo."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from arena.cards import PACK_52, RANKS, SUITS, Card
from arena.games.contract import Seat

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
    beats the best if possible; without that any card. In a `civil` trick Pam
    stays at home if its holder has another trump (R7).
    """
    height = _HEIGHT[trump]
    best = max([height[card] for card in trick])
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


class FlushKind(IntEnum):
    """The kinds of flush, from low to high."""

    PLAIN = 1
    TRUMP = 2
    MOUCHE = 3
    """Four cards of a suit and Pam."""


@dataclass(frozen=True, slots=True, order=True)
class Flush:
    """A flush, in the order in which flushes beat each other."""

    kind: FlushKind
    heights: tuple[int, ...]
    """Of the cards but Pam, from high to low."""


def flush_of(hand: Sequence[Card], trump: str) -> Flush | None:
    """The flush that five cards make, if any."""
    suited = [card for card in hand if card != PAM]
    suit = suited[0][1]
    for card in suited:
        if card[1] != suit:
            return None
    heights = tuple(sorted([RANKS.index(card[0]) for card in suited], reverse=True))
    if len(suited) < len(hand):
        return Flush(FlushKind.MOUCHE, heights)
    return Flush(FlushKind.TRUMP if suit == trump else FlushKind.PLAIN, heights)


def loo_board(
    hands: Mapping[Seat, Sequence[Card]], trump: str
) -> tuple[Seat, tuple[Seat, ...], tuple[Seat, ...]]:
    """Compare all active hands, in the order of play, once a flush was revealed (R5, R6).

    Returns: the seat that takes the pot, the others that pay nothing for a
    flush or Pam of their own, and those that pay.
    """
    flushes = {seat: flush_of(hand, trump) for seat, hand in hands.items()}
    found = [(flush, seat) for seat, flush in flushes.items() if flush is not None]
    # Of equal flushes the first from the dealer's left: `max` keeps the first.
    winner = max(found, key=lambda each: each[0])[1]
    others = [seat for seat in hands if seat != winner]
    exempt = tuple(seat for seat in others if flushes[seat] is not None or PAM in hands[seat])
    return winner, exempt, tuple(seat for seat in others if seat not in exempt)
