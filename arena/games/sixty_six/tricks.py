"""Legal replies to a lead of Sixty-Six, and the winner of a trick."""

from typing import Final

from arena.cards import Card, pack

RANKING: Final = "9JQKTA"
"""Ranks from low to high."""

PACK_24: Final = pack(RANKING)
_RANK: Final = {card: RANKING.index(card[0]) for card in PACK_24}


def legal_replies(hand: tuple[Card, ...], led: Card, strict: bool) -> tuple[Card, ...]:
    """Return the cards that may be played to `led`; if `strict`, suit must be followed (R9)."""
    if not strict:
        return hand
    suit = led[1]
    return tuple([card for card in hand if card[1] == suit]) or hand


def follower_wins(led: Card, reply: Card, trump: str) -> bool:
    """Return whether the second card wins the trick: a higher card of the suit, or a trump."""
    if reply[1] == led[1]:
        return _RANK[reply] > _RANK[led]
    return reply[1] == trump
