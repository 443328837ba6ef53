"""Soko, or Canadian stud, for two to eight seats.

Five-card stud in which four cards of a suit, and four in sequence, count as hands. The betting is spread
limit, pot-limit or no-limit. Rulings are numbered S1 to S14, those on betting B1 to B12.

| round | cards dealt           | first to act                     | limits                   |
|-------|-----------------------|----------------------------------|--------------------------|
| 1     | a hole card, a card up | the lowest card, which brings in | as the options say      |
| 2     | a second card up      | the lowest hand exposed (S6)     | doubled if a pair shows  |
| 3, 4  | a further card up     | the same                         | doubled                  |

There is no fifth round, although the source mentions one (S1).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from arena.games import poker
from arena.games.betting import rounds
from arena.games.betting.match import (
    NO_ACTIONS,
    Action,
    Line,
    Match,
    acted,
    chips_at_stake,
    ended_match,
    new_round,
    next_hand,
    result_of,
)
from arena.games.betting.moves import BringIn, Choices, bring_ins_of
from arena.games.betting.pots import ACTIONS, Pot, best_of, end_hand, end_round, pots_of, share_out
from arena.games.betting.rounds import Chips, Round
from arena.games.cards import CANONICAL, PACK_52, Card
from arena.games.contract import (
    Deals,
    IllegalMove,
    Moves,
    Result,
    Seat,
    SentEvent,
    Step,
    require_to_act,
)
from arena.games.soko.messages import (
    BroughtIn,
    Dealt,
    HandBegan,
    Move,
    Options,
    Phase,
    PotWon,
    Shown,
    UpcardsDealt,
    View,
)
from arena.games.soko.state import Deal, Hand, Stakes, State, first_match

LAST_ROUND: Final = 4


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Begin the first hand. Seat 0 deals. Raises `BadOptions` if the number of seats or the stakes are invalid."""
    stakes, match = first_match(options, seats)
    return begin_hands(stakes, match, deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    """Play a move of the seat to act. Raises `IllegalMove` if the move is illegal."""
    asked = to_act(state)
    if not asked:
        raise IllegalMove("the match is over")
    (move,) = require_to_act(chosen, asked)
    return _bet(state, move, deals) if state.phase is Phase.BET else _bring_in(state, move, deals)


def to_act(state: State) -> tuple[Seat, ...]:
    return state.betting.pending[:1]


def moves(state: State, seat: Seat) -> Moves:
    """Return the sizes of a bring-in, or betting moves."""
    if state.phase is Phase.BRING_IN:
        return _bring_ins(state.betting)
    return rounds.choices(state.betting)


def view(state: State, seat: Seat | None) -> View:
    """Return what a seat may know; a spectator sees no hole card before the showdown."""
    match, deal, round_ = state.hand.match, state.hand.deal, state.betting
    limits, pending = round_.limits, round_.pending
    return View(
        state.phase,
        state.number,
        match.hand,
        match.dealer,
        pending[0] if pending else None,
        None if seat is None else deal.holes[seat],
        deal.upcards,
        round_.live,
        limits.least,
        limits.most,
        round_.chips,
        round_.to_call,
        round_.min_to,
        round_.max_to,
        state.line,
        match.scores.totals,
    )


def fallback(state: State, seat: Seat) -> Move:
    """Return the smallest bring-in; otherwise check, or else fold (B1)."""
    if state.phase is Phase.BRING_IN:
        smallest: Move = _bring_ins(state.betting).offered[0]
        return smallest
    return rounds.fallback(state.betting)


def hand_number(state: State) -> int:
    return state.hand.match.hand


def hand_scores(state: State) -> tuple[tuple[int, ...], ...]:
    return state.hand.match.scores.hands


def result(state: State) -> Result | None:
    """Return chips won or lost in the match; equal totals share a place."""
    return None if to_act(state) else result_of(state.hand.match)


def margin_bound(options: Options, seats: int) -> int | None:
    """Return all chips on the table; in a cash match those of every hand."""
    _, match = first_match(options, seats)
    return chips_at_stake(match)


class _Closed(NamedTuple):
    """A hand between two rounds, after the bets were collected."""

    hand: Hand
    number: int
    chips: Chips
    live: tuple[Seat, ...]
    line: Line


def begin_hands(stakes: Stakes, match: Match, deals: Deals) -> Step:
    """Begin the next hand in which a seat has a decision, or end the match.

    In a freezeout a hand has no decision if the antes take all chips of all seats but one (S13).
    """
    state, events = begin_hand(stakes, match, deals)
    while state.phase is Phase.OVER:
        following = next_hand(state.hand.match, state.hand.match.scores)
        if following is None:
            break
        state, more = begin_hand(stakes, following, deals)
        events += more
    return Step(state, events)


def begin_hand(stakes: Stakes, match: Match, deals: Deals) -> Step:
    """Post antes, deal a card down and one up, and determine the seat that brings in."""
    players, limits = match.players, stakes.limits[0]
    order = rounds.clockwise(players, match.dealer)
    chips = rounds.post(match.stacks, stakes.ante)
    events = [SentEvent(HandBegan(match.hand, match.dealer, chips))]
    deck = deals.shuffle(match.hand, "deck", PACK_52)
    holes: list[Card | None] = [None] * len(match.stacks)
    for player, card in zip(order, deck, strict=False):
        holes[player] = card
        events.append(SentEvent(Dealt(player, card), (player,)))
    deal = Deal(tuple(holes), ((),) * len(holes), deck[len(players) :])
    deal, upcards = _deal_up(deal, order, 1)
    events.append(upcards)
    hand = Hand(stakes, match, deal)
    if not rounds.able(chips, players):
        return _deal_next(_Closed(hand, 1, chips, players, NO_ACTIONS), tuple(events))
    able = [player for player in order if chips.stacks[player]]
    first = first_to_act(hand.deal.upcards, able)
    # A bring-in is compulsory, so it is not a turn of the betting.
    price = rounds.unopened(limits)
    low, (_, high) = (
        min(stakes.bring_in, chips.stacks[first]),
        rounds.span(limits, price, chips, first),
    )
    opening = Round(limits, chips, players, (first,), price, (), 0, low, high)
    return Step(State(hand, Phase.BRING_IN, 1, opening, NO_ACTIONS), tuple(events))


def _deal_up(deal: Deal, order: tuple[Seat, ...], number: int) -> tuple[Deal, SentEvent]:
    upcards, cards = list(deal.upcards), deal.stock[: len(order)]
    for player, card in zip(order, cards, strict=True):
        upcards[player] = (*upcards[player], card)
    after = Deal(deal.holes, tuple(upcards), deal.stock[len(order) :])
    return after, SentEvent(UpcardsDealt(number, order, cards))


def _bring_ins(opening: Round) -> Choices:
    assert opening.min_to is not None
    assert opening.max_to is not None
    return bring_ins_of(opening.min_to, opening.max_to, opening.limits.least)


def _bring_in(state: State, move: Move, deals: Deals) -> Step:
    hand, opening = state.hand, state.betting
    player, limits, live = opening.pending[0], opening.limits, opening.live
    if not isinstance(move, BringIn) or move not in _bring_ins(opening):
        raise IllegalMove(f"bring in from {opening.min_to} to {opening.max_to}")
    chips = rounds.put_in(opening.chips, player, move.to)
    # After a short bring-in the others must match the full amount (B9).
    price = rounds.opened(limits, max(move.to, hand.stakes.bring_in))
    others = rounds.clockwise(live, player)[:-1]
    after = rounds.begin(limits, chips, live, others, price, posted=player)
    line, _ = acted(state.line, player, Action.BET, after)
    return _after_move(state, after, line, SentEvent(BroughtIn(player, move.to)), deals)


def _bet(state: State, move: Move, deals: Deals) -> Step:
    if isinstance(move, BringIn):
        raise IllegalMove("this is not the time to bring in")
    after = rounds.act(state.betting, move)
    line, event = acted(state.line, state.betting.pending[0], ACTIONS[type(move)], after)
    return _after_move(state, after, line, event, deals)


def _after_move(state: State, after: Round, line: Line, event: SentEvent, deals: Deals) -> Step:
    """Continue with the next seat, the next round or the next hand."""
    hand, number = state.hand, state.number
    if after.pending:
        return Step(State(hand, Phase.BET, number, after, line), (event,))
    ended, events = _end_round(hand, number, after, line, (event,))
    if ended.phase is Phase.OVER:
        match = ended.hand.match
        following = next_hand(match, match.scores)
        if following is not None:
            ended, more = begin_hands(hand.stakes, following, deals)
            events += more
    return Step(ended, events)


def _end_round(
    hand: Hand, number: int, ended: Round, line: Line, events: tuple[SentEvent, ...]
) -> Step:
    """Collect the bets, and continue with the next card or the end of the hand."""
    live = ended.live
    chips, returned = end_round(ended)
    events += returned
    closed = _Closed(hand, number, chips, live, line)
    if len(live) == 1:
        return _end_hand(closed, (Pot(sum(chips.paid), live),), events)
    return _deal_next(closed, events)


def _deal_next(closed: _Closed, events: tuple[SentEvent, ...]) -> Step:
    """Deal cards until a seat has a decision, or until the showdown."""
    hand, number, chips, live, line = closed
    stakes, match, deal = hand.stakes, hand.match, hand.deal
    order = rounds.clockwise(live, match.dealer)
    able = [player for player in order if chips.stacks[player]]
    while number < LAST_ROUND:
        number += 1
        deal, upcards = _deal_up(deal, order, number)
        events += (upcards,)
        if len(able) > 1:
            limits = stakes.limits[number > 2 or _pair_shows(deal.upcards, live)]
            first = live.index(first_to_act(deal.upcards, able))
            turns = live[first:] + live[:first]
            opening = rounds.begin(limits, chips, live, turns, rounds.unopened(limits))
            after = Hand(stakes, match, deal)
            return Step(State(after, Phase.BET, number, opening, new_round(line)), events)
    shown = [SentEvent(Shown(player, _hole(deal, player))) for player in order]
    closed = closed._replace(hand=Hand(stakes, match, deal), number=number)
    return _end_hand(closed, pots_of(chips.paid, live), (*events, *shown))


def _pair_shows(upcards: Sequence[Sequence[Card]], live: Sequence[Seat]) -> bool:
    """Return whether a seat that has not folded shows a pair, even if it is all-in (S9)."""
    return any(upcards[player][0][0] == upcards[player][1][0] for player in live)


def _end_hand(closed: _Closed, pots: Sequence[Pot], events: tuple[SentEvent, ...]) -> Step:
    """Pay out the pots and return a state in phase `OVER`, even if there is a next hand."""
    hand, number, chips, live, line = closed
    deal = hand.deal
    held = [(_hole(deal, player), *deal.upcards[player]) for player in live]
    won = award(pots, held, live, len(deal.holes))
    scores, stacks, ended = end_hand(hand.match, chips, won)
    limits = hand.stakes.limits[number > 1]
    paid_out = rounds.closed(limits, stacks, live)
    over = Hand(hand.stakes, ended_match(hand.match, scores), deal)
    return Step(State(over, Phase.OVER, number, paid_out, line), (*events, *ended))


def _hole(deal: Deal, seat: Seat) -> Card:
    card = deal.holes[seat]
    assert card is not None, "a seat without cards plays"
    return card


def first_to_act(upcards: Sequence[Sequence[Card]], order: Sequence[Seat]) -> Seat:
    """Return the seat of `order` with the lowest exposed hand; of equals the first (S6 to S8)."""
    return min(order, key=lambda seat: poker.soko_upcards(upcards[seat]))


def odd_chip_order(winners: Sequence[Seat], hands: Sequence[Sequence[Card]]) -> list[Seat]:
    """Return winners by their highest single card, rank before suit (B11, S14).

    Suits are ordered from spades down to clubs, as in the canonical order.
    """
    return sorted(winners, key=lambda seat: -max(CANONICAL[card] for card in hands[seat]))


def award(
    pots: Sequence[Pot], hands: Sequence[Sequence[Card]], live: Sequence[Seat], seats: int
) -> list[PotWon]:
    """Divide each pot; `hands` belong to the seats `live`, of `seats` seats."""
    held: list[Sequence[Card]] = [()] * seats
    values: list[int | None] = [None] * seats
    for player, hand in zip(live, hands, strict=True):
        held[player] = hand
        # The last seat left wins without a comparison; it may have fewer than five cards.
        values[player] = 0 if len(live) == 1 else poker.soko(hand)
    won = []
    for pot in pots:
        winners = best_of(pot.eligible, values)
        shares = share_out(pot.amount, odd_chip_order(winners, held), seats)
        won.append(PotWon(pot.amount, pot.eligible, tuple(winners), shares))
    return won
