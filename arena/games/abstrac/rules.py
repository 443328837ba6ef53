"""Abstrac: four games of complete information for two seats.

Source: David Parlett. Rules are numbered B1 to B11; rulings are cited as "ruling n". Cards lie face up in
a row. Seats take cards from its top in turn until the row is empty. The points of a seat's sets and runs
are multiplied by the number of cards that the *other* seat took, so it is best to take few cards with many
points.

| variant      | pack          | how many may be taken                           |
|--------------|---------------|-------------------------------------------------|
| `basic`      | 24            | 1 to 3                                          |
| `suit`       | 24            | by the suit on top: S 1, H 2, C 3, D 4           |
| `unfettered` | 24 and joker  | 12 at first, then 1 more than the other seat    |
| `fiftytwo`   | two halves 26 | by the suit on top                              |
"""

from dataclasses import dataclass, replace
from typing import Final

from arena.games.abstrac.messages import (
    CHOICES,
    HALF,
    TAKES,
    Choose,
    Chosen,
    Dealt,
    Move,
    Options,
    Order,
    Phase,
    Scored,
    Taken,
    Variant,
    View,
)
from arena.games.abstrac.scoring import deal_points, half_points, take_limit
from arena.games.cards import JOKER, Card, pack
from arena.games.contract import (
    Deals,
    IllegalMove,
    Listed,
    Result,
    Seat,
    SentEvent,
    Step,
    require_to_act,
)
from arena.games.options import check_match, match_is_over, race_result


@dataclass(frozen=True, slots=True)
class Row:
    """The current row: a hand, or half of a 52-card round."""

    cards: tuple[Card, ...]
    taken: tuple[tuple[Card, ...], tuple[Card, ...]]
    first: Seat | None
    """The seat that took first; None until the choice is made."""
    turn: Seat
    previous: int
    """The number of cards that the other seat took in the previous turn; 0 in the first turn."""


@dataclass(frozen=True, slots=True)
class State:
    options: Options
    hand: int
    half: int
    row: Row
    undealt: tuple[Card, ...]
    half_points: tuple[int, int]
    """Points of the first half while the second is played."""
    hand_scores: tuple[tuple[int, int], ...]
    totals: tuple[int, int]


SEATS: Final = (Seat(0), Seat(1))


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first row. Raises `BadOptions` unless there are two seats."""
    check_match("Abstrac", (2,), seats, hands=0)  # any number of hands, as in the source
    return _deal(options, 0, (), (0, 0), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    player = state.row.turn
    (move,) = require_to_act(chosen, to_act(state))
    if move not in moves(state, player):
        raise IllegalMove(_why_illegal(state))
    if isinstance(move, Choose):
        return _choose(state, player, move)
    return _take(state, player, move.count, deals)


def to_act(state: State) -> tuple[Seat, ...]:
    return () if _phase(state) is Phase.OVER else (state.row.turn,)


def moves(state: State, seat: Seat) -> Listed:
    if state.row.first is None:
        return CHOICES
    return TAKES[take_limit(state.options.variant, state.row.cards, state.row.previous)]


def view(state: State, seat: Seat | None) -> View:
    phase, row = _phase(state), state.row
    taking = phase is Phase.TAKE
    return View(
        phase=phase,
        hand=state.hand,
        half=state.half,
        dealer=_dealer(state.hand),
        to_act=None if phase is Phase.OVER else row.turn,
        row=row.cards,
        taken=row.taken,
        limit=take_limit(state.options.variant, row.cards, row.previous) if taking else 0,
        undealt=len(state.undealt),
        totals=state.totals,
    )


def fallback(state: State, seat: Seat) -> Move:
    """Return the first legal move: to take first, or to take one card."""
    offered: Move = moves(state, seat).all[0]
    return offered


def hand_number(state: State) -> int:
    return state.hand


def hand_scores(state: State) -> tuple[tuple[int, ...], ...]:
    return state.hand_scores


def result(state: State) -> Result | None:
    if _phase(state) is not Phase.OVER:
        return None
    return race_result(state)


def margin_bound(options: Options, seats: int) -> int | None:
    """Return the most points of all hands; None for a race."""
    variant = Variant(options.variant)
    most = 2 * _MOST_OF_HALF if variant is Variant.FIFTYTWO else _MOST_OF_DEAL[variant]
    return options.hands * most or None


def first_to_take(dealer: Seat, order: Order) -> Seat:
    """Return the seat that takes first after the choice of the seat that does not deal (B2)."""
    return _other(dealer) if order is Order.FIRST else dealer


# A card counts at most two points in a set and two in a run. So k cards of a pack of p score at most
# 4 k (p - k).
_MOST_OF_DEAL: Final = {
    Variant.BASIC: 4 * 12 * 12,
    Variant.SUIT: 4 * 12 * 12,
    Variant.UNFETTERED: 4 * 12 * 13,
}

# B9: of n cards with t of one rank, the longest suit and the longest run have at most n - t + 1.
_MOST_OF_HALF: Final = max(
    min(n - t + 1, 13) ** 2 * t * max(1, 2 * (HALF // 2 - n))
    for n in range(1, HALF + 1)
    for t in range(1, min(n, 4) + 1)
)


def is_over(options: Options, hands_played: int, totals: tuple[int, int]) -> bool:
    """Return whether a completed hand, or 52-card round, ends the match (B11)."""
    return match_is_over(options, hands_played, totals)


def _other(seat: Seat) -> Seat:
    return SEATS[1 - seat]


def _dealer(hand: int) -> Seat:
    return SEATS[hand % 2]


def _phase(state: State) -> Phase:
    if len(state.hand_scores) > state.hand:
        return Phase.OVER
    return Phase.CHOOSE if state.row.first is None else Phase.TAKE


def _why_illegal(state: State) -> str:
    if state.row.first is None:
        return "choose first or second"
    limit = moves(state, state.row.turn).count()
    return f"take from 1 to {limit} cards"


def _deal(
    options: Options,
    hand: int,
    hand_scores: tuple[tuple[int, int], ...],
    totals: tuple[int, int],
    deals: Deals,
) -> Step:
    dealer = _dealer(hand)
    undealt: tuple[Card, ...] = ()
    if options.variant == Variant.FIFTYTWO:
        shuffled = deals.shuffle(hand, "deck", pack())
        cards, undealt = shuffled[:HALF], shuffled[HALF:]
    else:
        cards = deals.shuffle(hand, "deck", pack("9TJQKA"))
        if options.variant == Variant.UNFETTERED:
            cards = (JOKER, *cards)  # the joker is always the top card (B1)
    row = Row(cards, ((), ()), first=None, turn=_other(dealer), previous=0)
    state = State(options, hand, 1, row, undealt, (0, 0), hand_scores, totals)
    return Step(state, (SentEvent(Dealt(hand, 1, dealer, cards)),))


def _choose(state: State, seat: Seat, move: Choose) -> Step:
    first = first_to_take(_dealer(state.hand), move.order)
    row = replace(state.row, first=first, turn=first)
    return Step(replace(state, row=row), (SentEvent(Chosen(seat, move.order)),))


def _take(state: State, seat: Seat, count: int, deals: Deals) -> Step:
    row = state.row
    cards = row.cards[:count]
    heaps = list(row.taken)
    heaps[seat] += cards
    row = Row(row.cards[count:], (heaps[0], heaps[1]), row.first, _other(seat), count)
    after = State(
        state.options,
        state.hand,
        state.half,
        row,
        state.undealt,
        state.half_points,
        state.hand_scores,
        state.totals,
    )
    taken = SentEvent(Taken(seat, cards))
    if row.cards:
        return Step(after, (taken,))
    ended, events = _end_row(after, deals)
    return Step(ended, (taken, *events))


def _end_row(state: State, deals: Deals) -> Step:
    if state.options.variant == Variant.FIFTYTWO:
        points = (half_points(state.row.taken[0]), half_points(state.row.taken[1]))
        if state.half == 1:
            return _second_half(state, points)
        points = _added(points, state.half_points)
    else:
        points = deal_points(*state.row.taken)
    totals = _added(state.totals, points)
    scores = (*state.hand_scores, points)
    scored = SentEvent(Scored(state.hand, points, totals))
    after = replace(state, hand_scores=scores, totals=totals)
    if is_over(state.options, len(scores), totals):
        return Step(after, (scored,))
    dealt, events = _deal(state.options, state.hand + 1, scores, totals, deals)
    return Step(dealt, (scored, *events))


def _second_half(state: State, points: tuple[int, int]) -> Step:
    """Lay out the other 26 cards face up (ruling 9); the seat that took second takes first (B8)."""
    assert state.row.first is not None
    first = _other(state.row.first)
    row = Row(state.undealt, ((), ()), first, first, previous=0)
    after = replace(state, half=2, row=row, undealt=(), half_points=points)
    dealt = Dealt(state.hand, 2, _dealer(state.hand), row.cards)
    return Step(after, (SentEvent(Scored(state.hand, points, state.totals)), SentEvent(dealt)))


def _added(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return a[0] + b[0], a[1] + b[1]
