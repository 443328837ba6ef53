"""Plays Oklahoma Rummy: takes small piles, melds what scores, and keeps its hand light."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from arena.games.cards import PACK_52, Card
from arena.games.contract import Seat
from arena.games.oklahoma_rummy.legal_moves import twos_of
from arena.games.oklahoma_rummy.melds import (
    HELD_POINTS,
    LADDER,
    QUEEN_OF_SPADES,
    SIZES,
    TWOS,
    CardList,
    additions_to,
    melds_within,
)
from arena.games.oklahoma_rummy.messages import DISCARDS, NO_DISCARD, Extend, Move, Phase, TakePile
from arena.games.oklahoma_rummy.rules import Deal, State, moves

_GOOD_PILE: Final = 6
"""The length of a pile above which it is left to others, unless most of it can be melded."""
_TWO: Final = 45
"""The worth of a 2 in the hand or in another meld, in points."""
_KEPT_TWO: Final = 60
_PARTNER: Final = 12


def _fits(card: Card, other: Card) -> int:
    """Return how well two cards go together: 2 for a set, 1 for a run with at most one card between."""
    if card[0] == other[0]:
        return 2
    gap = abs(LADDER.index(card[0]) - LADDER.index(other[0]))
    return int(card[1] == other[1] and gap in (1, 2, 11, 12))  # queen or king with the ace


_PARTNERS: Final = {
    card: tuple(
        (other, _fits(card, other)) for other in PACK_52 if other not in TWOS and _fits(card, other)
    )
    for card in PACK_52
}
"""By card, the natural cards that go with it, and how well."""


def policy(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    deal = state.deal
    hand = deal.hands[seat]
    if deal.phase is Phase.DRAW:
        return _draw(state, seat)
    sizes = [len(other) for at, other in enumerate(deal.hands) if at != seat]
    # 2s are melded when a seat may soon go out, or when the hand is nearly empty.
    hurry = min(sizes) <= 5 or len(hand) <= 6
    return _meld(state, seat, hurry) or _extend(deal, seat, hurry) or _discard(hand)


def _worth(cards: Iterable[Card]) -> int:
    return sum([HELD_POINTS[card] - (_TWO if card in TWOS else 0) for card in cards])


def _draw(state: State, seat: Seat) -> Move:
    offered = moves(state, seat).offered
    takes = [move for move in offered if isinstance(move, TakePile)]
    if takes and _is_good(state.deal, seat):
        return max(takes, key=lambda move: _worth(move.cards))
    return offered[0]  # draw, or decline if there is nothing to draw


def _is_good(deal: Deal, seat: Seat) -> bool:
    """Return whether the pile is short, or has much that can be melded with the hand."""
    pile = deal.piles.pile
    if len(pile) <= _GOOD_PILE:
        return True
    counts = Counter((*deal.hands[seat], *pile))
    matched = sum([card in TWOS or _partners(card, counts) >= 4 for card in pile])
    return matched * 2 >= len(pile) and min(map(len, deal.hands)) > 3


def _partners(card: Card, counts: Mapping[Card, int]) -> int:
    return sum([fit * counts[other] for other, fit in _PARTNERS[card] if other in counts]) - 2


def _meld(state: State, seat: Seat, hurry: bool) -> Move | None:
    """Return the meld of most points; without a hurry, with at most one 2."""
    hand = state.deal.hands[seat]
    twos = twos_of(hand)
    possible = melds_within(hand, twos if hurry else twos[:1])
    melds = [meld for some in possible for meld in some]
    if not melds:
        return None
    return moves(state, seat).laying(*max(melds, key=lambda meld: _worth(meld[1])))


def _extend(deal: Deal, seat: Seat, hurry: bool) -> Move | None:
    cards = [card for card in deal.hands[seat] if hurry or card not in TWOS]
    extensions = [
        Extend(index, card, end)
        for index, meld in enumerate(deal.tables[seat].melds)
        if len(meld.cards) < SIZES[-1]
        for end, fitting in additions_to(meld)
        for card in cards
        if card in fitting
    ]
    return max(extensions, key=lambda move: HELD_POINTS[move.card], default=None)


def _discard(hand: CardList) -> Move:
    """Return the discard that costs most in hand and goes least with the rest."""
    counts = Counter(hand)
    losses = {
        card: _KEPT_TWO if card in TWOS else _PARTNER * _partners(card, counts) - HELD_POINTS[card]
        for card in counts
        if card != QUEEN_OF_SPADES
    }
    return DISCARDS[min(losses, key=losses.__getitem__)] if losses else NO_DISCARD
