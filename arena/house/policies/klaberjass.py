"""Plays Klaberjass: bids on jacks, nines and aces, and counts what a card wins or loses."""

from collections.abc import Callable
from typing import Final

from arena.games.cards import SUITS, Card
from arena.games.contract import Seat
from arena.games.klaberjass.messages import FIRST_BIDS, PASS, REPLIES, Move, Name, Phase, Play
from arena.games.klaberjass.scoring import PACK_32, sequences, trick_points
from arena.games.klaberjass.state import Deal, State, trump_of
from arena.games.klaberjass.tricks import PLAIN, TRUMPS, follower_wins

_TRUMP_WORTH: Final = dict(zip(TRUMPS, (6, 6, 8, 8, 14, 16, 24, 34), strict=True))
"""The points that a maker should make with each trump card."""
_PLAIN_WORTH: Final = dict(zip(PLAIN, (0, 0, 0, 0, 1, 2, 7, 14), strict=True))
_SEQUENCE: Final = 8
_ENOUGH: Final = 62
"""The worth of a hand that should make more than half of the points."""
_HOPELESS: Final = 40
_LEAD: Final = 5
"""The worth of a trick in addition to its points."""
_DRAWN_TRUMP: Final = 6

_BIT: Final = {card: 1 << at for at, card in enumerate(PACK_32)}
_OF_SUIT: Final = {
    suit: sum(bit for card, bit in _BIT.items() if card[1] == suit) for suit in SUITS
}
_HEIGHT: Final = {
    trump: {card: (TRUMPS if card[1] == trump else PLAIN).index(card[0]) for card in PACK_32}
    for trump in SUITS
}
_HIGHER: Final = {
    trump: {
        card: sum(
            bit
            for higher, bit in _BIT.items()
            if higher[1] == card[1] and height[higher] > height[card]
        )
        for card in PACK_32
    }
    for trump, height in _HEIGHT.items()
}
"""By trump and card: the higher cards of its suit."""

STEP_TIME: Final = 0.25


def policy(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    deal, legal = state.deal, state.legal
    hand, suit = deal.sides[seat].hand, deal.talon.upcard[1]
    match deal.phase:
        case Phase.LEAD | Phase.FOLLOW:
            return _play(deal, seat, legal)
        case Phase.FIRST_BID:
            return FIRST_BIDS[0] if _worth(hand, suit) >= _ENOUGH else PASS
        case Phase.SECOND_BID | Phase.NAME:
            return _name(hand, legal)
        case Phase.REPLY:
            other_suits = [other for other in SUITS if other != suit]
            suits = [suit] if deal.auction.passes < 2 else other_suits
            return REPLIES[max(_worth(hand, trump) for trump in suits) >= _HOPELESS]
        case _:
            return legal[-1]  # exchange, announce and contest if possible


def _worth(hand: tuple[Card, ...], trump: str) -> int:
    worth = sum([(_TRUMP_WORTH if card[1] == trump else _PLAIN_WORTH)[card[0]] for card in hand])
    return worth + _SEQUENCE * len(sequences(hand, trump))


def _name(hand: tuple[Card, ...], legal: tuple[Move, ...]) -> Move:
    worth = {move: _worth(hand, move.suit) for move in legal if isinstance(move, Name)}
    best = max(worth, key=worth.__getitem__)
    return best if worth[best] >= _ENOUGH or PASS not in legal else PASS


def _play(deal: Deal, seat: Seat, legal: tuple[Move, ...]) -> Move:
    """Return the cheapest card; of its two moves the one with the bela."""
    unseen = _unseen(deal, seat)
    plays = [move for move in legal if isinstance(move, Play)]
    led, trump = deal.tricks.led, trump_of(deal)
    if led is None:
        drawing = _DRAWN_TRUMP if deal.auction.maker == seat else 0
        return min(plays, key=lambda m: (_cost_of_lead(m.card, trump, unseen, drawing), not m.bela))
    return min(plays, key=lambda m: (_cost_of_reply(led, m.card, trump, unseen), not m.bela))


def _unseen(deal: Deal, seat: Seat) -> int:
    seen = _BIT[deal.talon.upcard]
    one, two = deal.sides
    for cards in (deal.sides[seat].hand, one.played, two.played):
        for card in cards:
            seen |= _BIT[card]
    return ~seen & (1 << len(PACK_32)) - 1


def _beaten(card: Card, trump: str, unseen: int) -> float:
    """Return roughly the chance that the other seat beats a card led, by the cards not seen."""
    risk = min(1.0, (_HIGHER[trump][card] & unseen).bit_count() / 2)
    if card[1] != trump:
        same = (_OF_SUIT[card[1]] & unseen).bit_count()
        trumps = (_OF_SUIT[trump] & unseen).bit_count()
        has_trump = min(1.0, 4 * trumps / max(1, unseen.bit_count()))
        risk = max(risk, 0.5**same * has_trump)
    return risk


def _points(card: Card, trump: str) -> int:
    return trick_points(card, "7" + card[1], trump)


def _cost_of_lead(card: Card, trump: str, unseen: int, drawing: int) -> float:
    points, risk = _points(card, trump), _beaten(card, trump, unseen)
    gain = points + _LEAD + (drawing if card[1] == trump else 0)
    return risk * 2 * points - (1 - risk) * gain


def _cost_of_reply(led: Card, card: Card, trump: str, unseen: int) -> float:
    at_stake = trick_points(led, card, trump)
    if not follower_wins(led, card, trump):
        return at_stake + _HEIGHT[trump][card] / 10
    # A card that would win anyway later is not worth its points now.
    later = 0 if _beaten(card, trump, unseen) else _points(card, trump)
    return later - at_stake
