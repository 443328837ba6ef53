"""Legal replies to a lead of Klaberjass, and the winner of a trick."""

from typing import Final

from arena.games.cards import SUITS, Card
from arena.games.klaberjass.scoring import PACK_32

PLAIN: Final = "789JQKTA"
"""Ranks of a plain suit from low to high, in tricks."""
TRUMPS: Final = "78QKTA9J"
"""Ranks of trump from low to high, in tricks."""

# By trump suit and card. Only cards of one suit are compared.
_RANK: Final = {
    trump: {card: (TRUMPS if card[1] == trump else PLAIN).index(card[0]) for card in PACK_32}
    for trump in SUITS
}


def legal_replies(hand: tuple[Card, ...], led: Card, trump: str) -> tuple[Card, ...]:
    """Return the cards that the second player may play (R11).

    It must follow suit, and beat a trump if it can. Without the suit it must play a trump, and without
    a trump it may play any card.
    """
    suit = led[1]
    same = tuple([card for card in hand if card[1] == suit])
    if suit == trump:
        rank = _RANK[trump]
        height = rank[led]
        return tuple([card for card in same if rank[card] > height]) or same or hand
    return same or tuple([card for card in hand if card[1] == trump]) or hand


def follower_wins(led: Card, reply: Card, trump: str) -> bool:
    if reply[1] == led[1]:
        rank = _RANK[trump]
        return rank[reply] > rank[led]
    return reply[1] == trump
