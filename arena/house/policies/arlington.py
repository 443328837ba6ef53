"""Plays Arlington: lays sets that score, leads cards that gather more, and adds to its sets."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from arena.games.arlington.messages import (
    KILL,
    LEAD_CARDS,
    PASS,
    PLAY_CARDS,
    Add,
    LeadSet,
    Move,
    Overplay,
    Phase,
    PlayS2,
    TakeJoker,
)
from arena.games.arlington.rules import State
from arena.games.arlington.sets import (
    TWO_OF_HEARTS,
    TWO_OF_SPADES,
    CardSet,
    additions_to,
    is_set,
    joker_swaps_of,
    points_of,
    reading_of,
    sets_within,
    strength_of,
)
from arena.games.cards import CANONICAL, JOKER, RANKS, Card, in_order
from arena.games.contract import Seat

_IN_HAND: Final = 0.5
"""The worth of a point of a set in the hand, relative to one on the table."""
_STANDS: Final = 0.8
"""The chance that a set led is not beaten."""
_CARD: Final = 0.2
"""The worth of another card in the hand, in points."""
_GATHERED: Final = 0.8
"""The same for a card from a trick."""
_JOKER: Final = 3
_LEAD: Final = 1.0

_Weighed = tuple[float, Move]

STEP_TIME: Final = 0.5


def policy(state: State, seat: Seat, below: Callable[[int], int]) -> Move:
    match state.turn.phase:
        case Phase.LEAD:
            weighed = [*_sets_to_lead(state, seat), *_cards_to_lead(state, seat)]
            weighed += _on_tables(state, seat)
        case Phase.TRICK:
            weighed = list(_cards_to_play(state, seat))
        case _:
            weighed = [(0.0, PASS), *_answers(state, seat)]
    return max(weighed, key=lambda each: each[0])[1]


@lru_cache(1 << 12)
def _sets(hand: CardSet) -> tuple[CardSet, ...]:
    """Return disjoint sets without jokers in a hand, the one with most points first."""
    taken: set[Card] = set()
    sets = []
    for cards in sorted(_candidates(hand), key=points_of, reverse=True):
        if taken.isdisjoint(cards):
            taken.update(cards)
            sets.append(cards)
    return tuple(sets)


def _candidates(hand: CardSet) -> Iterator[CardSet]:
    ranks: defaultdict[str, list[Card]] = defaultdict(list)
    rows: dict[str, list[Card]] = {}
    for card in hand:
        if card == JOKER:
            continue
        ranks[card[0]].append(card)
        row = rows.get(card[1])
        if row is not None and RANKS.index(card[0]) == RANKS.index(row[-1][0]) + 1:
            row.append(card)
            continue
        if row is not None and len(row) > 1:
            yield tuple(row)
        rows[card[1]] = [card]
    yield from [tuple(row) for row in rows.values() if len(row) > 1]
    yield from [tuple(cards) for rank, cards in ranks.items() if len(cards) > 1 or rank == "A"]
    if TWO_OF_HEARTS in hand:
        yield (TWO_OF_HEARTS,)
    for low, high in ("JQ", "QK"):
        yield from [(one, other) for one in ranks[low] for other in ranks[high]]


@lru_cache(1 << 12)
def _losses(hand: CardSet) -> dict[Card, float]:
    """Return, by card, how much less the hand is worth without it."""
    losses = dict.fromkeys(hand, _CARD)
    for cards in _sets(hand):
        worth = points_of(cards)
        rest = points_of(cards[1:]) if len(cards) > 2 and is_set(cards[1:]) else 0
        for card in cards:
            losses[card] += _IN_HAND * (worth - rest)
    if JOKER in losses:
        losses[JOKER] += _IN_HAND * _JOKER
    return losses


def _loss(hand: CardSet, cards: Sequence[Card]) -> float:
    """Return how much less the hand is worth without these cards: at most the points of the sets that they break."""
    lost = 0.0
    for group in _sets(hand):
        if not set(group).isdisjoint(cards):
            lost += _IN_HAND * points_of(group)
    return lost + _CARD * len(cards) + _IN_HAND * _JOKER * cards.count(JOKER)


def _share(state: State, seat: Seat, owner: int) -> float:
    """Return how much a point on a table is worth to a seat."""
    return 1.0 if owner == seat else -1.0 / (len(state.match.totals) - 1)


def _sets_to_lead(state: State, seat: Seat) -> Iterator[_Weighed]:
    hand = state.layout.hands[seat]
    for cards in _sets(hand):
        sized = [cards]
        if JOKER in hand and is_set((*cards, JOKER)):
            sized.append((*cards, JOKER))
        for some in sized:
            gain = _STANDS * points_of(some) - (1 - _STANDS) * _LEAD - _loss(hand, some)
            if len(some) > 1 or some[0] == TWO_OF_HEARTS:
                yield gain, LeadSet(some, reading_of(some))


def _cards_to_lead(state: State, seat: Seat) -> Iterator[_Weighed]:
    layout = state.layout
    others = sum(map(bool, layout.hands)) - 1
    losses, seen = _losses(layout.hands[seat]), _seen(state, seat)
    for card, loss in losses.items():
        takes = 1.0 if card == JOKER else _gathers(card, others, seen)
        yield takes * (_LEAD + _GATHERED * others) - _LEAD - loss, LEAD_CARDS[card]


def _seen(state: State, seat: Seat) -> set[Card]:
    layout = state.layout
    seen = {*layout.hands[seat], *layout.buried, *state.turn.trick_cards}
    for table in layout.tables:
        for cards in table.sets:
            seen.update(cards)
    return seen


def _gathers(card: Card, seats_left: int, seen: set[Card]) -> float:
    """Return the chance that no seat to come beats a card of the led suit."""
    higher = sum([high + card[1] not in seen for high in RANKS[RANKS.index(card[0]) + 1 :]])
    return 1 / (1 + 0.6 * higher * seats_left)


def _on_tables(state: State, seat: Seat) -> Iterator[_Weighed]:
    """Yield the moves that add a card to a set, take a joker, or bury a set with the two of spades, with their gains."""
    losses = _losses(state.layout.hands[seat])
    for owner, table in enumerate(state.layout.tables):
        share = _share(state, seat, owner)
        for index, cards in enumerate(table.sets):
            points = table.points[index]
            if TWO_OF_SPADES in losses and share < 0:
                yield -share * points - losses[TWO_OF_SPADES], PlayS2(Seat(owner), index)
            if share > 0:
                for card in _among(losses, additions_to(cards)):
                    change = points_of(in_order((*cards, card))) - points
                    yield change - losses[card], Add(seat, index, card)
            for card in _among(losses, joker_swaps_of(cards)):
                change = points_of(in_order((*cards[:-1], card))) - points
                gain = share * change + _IN_HAND * _JOKER + _CARD
                yield gain - losses[card], TakeJoker(Seat(owner), index, card)


def _among(losses: dict[Card, float], fitting: frozenset[Card]) -> list[Card]:
    """Return the cards of a hand that fit, in the order of the hand."""
    return [card for card in losses if card in fitting]


def _cards_to_play(state: State, seat: Seat) -> Iterator[_Weighed]:
    trick, left = state.turn.trick_cards, _seats_to_come(state, seat)
    seen = _seen(state, seat)
    best = max([CANONICAL[card] for card in trick if card[1] == trick[0][1]])
    for card, loss in _losses(state.layout.hands[seat]).items():
        takes = 0.0
        if JOKER not in (trick[0], card) and card[1] == trick[0][1] and CANONICAL[card] > best:
            takes = _gathers(card, left, seen)
        yield takes * (_LEAD + _GATHERED * (len(trick) + left)) - loss, PLAY_CARDS[card]


def _seats_to_come(state: State, seat: Seat) -> int:
    """Return the seats with cards that play or answer after this one."""
    hands, lead = state.layout.hands, state.turn.lead
    count = (lead - seat) % len(hands) - 1
    return sum([bool(hands[(seat + 1 + at) % len(hands)]) for at in range(count)])


def _answers(state: State, seat: Seat) -> Iterator[_Weighed]:
    active, layout = state.turn.active, state.layout
    assert active is not None
    hand, table = layout.hands[seat], layout.tables[active.owner]
    buries = -_share(state, seat, active.owner) * table.points[active.index]
    if TWO_OF_SPADES in hand:
        yield buries + _LEAD - _loss(hand, (TWO_OF_SPADES,)), KILL
    strength = strength_of(table.sets[active.index], active.spectrum) or 0
    stands = _STANDS if _seats_to_come(state, seat) else 1.0
    for jokers in range(min(1, hand.count(JOKER)) + 1):
        for cards in sets_within(active.spectrum, hand, jokers):
            if (strength_of(cards, active.spectrum) or 0) > strength:
                gain = stands * (points_of(cards) + _LEAD) + buries - _loss(hand, cards)
                yield gain, Overplay(cards)
