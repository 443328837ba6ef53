"""Legal plays to a trick of Loo, the winner of a trick, and flushes with their payments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from arena.games.cards import PACK_52, RANKS, SUITS, Card
from arena.games.contract import Seat

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
    height = _HEIGHT[pam][trump]
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
    """A flush; a higher one compares as greater."""

    kind: FlushKind
    heights: tuple[int, ...]
    """The ranks of its cards except Pam, from high to low."""


def flush_of(hand: Sequence[Card], trump: str) -> Flush | None:
    """Return the flush of five cards, or None."""
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
    """Compare the hands of all players, in order of play, after a flush was revealed (R5, R6).

    Returns the seat that takes the pot, the other seats that are exempt because of a flush or Pam, and
    the seats that pay.
    """
    flushes = {player: flush_of(hand, trump) for player, hand in hands.items()}
    ranked = [(flush, player) for player, flush in flushes.items() if flush is not None]
    # Of equal flushes the first from the dealer's left wins, as `max` returns the first.
    winner = max(ranked, key=lambda each: each[0])[1]
    others = [player for player in hands if player != winner]
    exempt = tuple(
        player for player in others if flushes[player] is not None or PAM in hands[player]
    )
    return winner, exempt, tuple(player for player in others if player not in exempt)
