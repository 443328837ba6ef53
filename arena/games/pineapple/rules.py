"""Pineapple, Crazy Pineapple and Crazy Pineapple Hi-Lo, for two to nine seats.

Hold'em with three hole cards, of which one is discarded. Rulings are numbered P1 to P10, those on betting
B1 to B12.

| variant      | the discard                  | the pot goes to                        |
|--------------|------------------------------|----------------------------------------|
| `pineapple`  | after the first betting      | the best hand                          |
| `crazy`      | after the betting on the flop | the best hand                         |
| `crazy_hilo` | after the betting on the flop | half to the best hand, half to the low |

A hand: antes and blinds, three cards each, then betting before the flop and after flop, turn and river.
All seats that have not folded discard at the same time, face down, also those without chips (P3, P4).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from arena.games import poker
from arena.games.betting import rounds
from arena.games.betting.match import (
    NO_ACTIONS,
    Line,
    Match,
    acted,
    chips_at_stake,
    ended_match,
    new_round,
    next_hand,
    result_of,
)
from arena.games.betting.pots import ACTIONS, Pot, best_of, end_hand, end_round, pots_of, share_out
from arena.games.betting.rounds import Chips, Limits, Round, Structure
from arena.games.cards import PACK_52, Card
from arena.games.contract import (
    Deals,
    IllegalMove,
    Listed,
    Moves,
    Result,
    Seat,
    SentEvent,
    Step,
    require_to_act,
)
from arena.games.pineapple.messages import (
    DISCARDS,
    BoardDealt,
    Dealt,
    Discard,
    Discarded,
    GaveUp,
    HandBegan,
    Move,
    Options,
    Phase,
    PotWon,
    Shown,
    Street,
    Variant,
    View,
)
from arena.games.pineapple.state import BOARD, Deal, Hand, Stakes, State, first_match

HOLE: Final = 3
"""The number of cards dealt to each seat."""
_NEXT: Final = {Street.PREFLOP: Street.FLOP, Street.FLOP: Street.TURN, Street.TURN: Street.RIVER}
DISCARD_ON: Final = {
    Variant.PINEAPPLE: Street.PREFLOP,
    Variant.CRAZY: Street.FLOP,
    Variant.CRAZY_HILO: Street.FLOP,
}
BOARD_PLACES: Final = (1, 2, 3, 5, 7)
"""The places of board cards in the deck after the hole cards; the cards between are burnt."""


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Begin the first hand. Seat 0 deals. Raises `BadOptions` if the number of seats or the stakes are invalid."""
    stakes, match = first_match(options, seats)
    return begin_hand(stakes, match, deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    """Play a betting move, or the discards of all seats in the hand.

    Raises `IllegalMove` if a move is illegal, or the move of a seat is missing.
    """
    choices = require_to_act(chosen, to_act(state))
    if state.phase is Phase.BET:
        (move,) = choices
        return _bet(state, move, deals)
    if state.phase is Phase.DISCARD:
        return _discard(state, choices, deals)
    raise IllegalMove("the match is over")


def to_act(state: State) -> tuple[Seat, ...]:
    """Return the seat that bets, or all seats that discard."""
    if state.phase is Phase.BET:
        return state.betting.pending[:1]
    return state.betting.live if state.phase is Phase.DISCARD else ()


def moves(state: State, seat: Seat) -> Moves:
    """Return betting moves, or the three possible discards in the order dealt."""
    if state.phase is Phase.DISCARD:
        return _discards(state.hand.deal.holes[seat])
    return rounds.choices(state.betting)


def view(state: State, seat: Seat | None) -> View:
    """Return what a seat may know; a spectator sees no hole cards before the showdown."""
    match, deal, round_ = state.hand.match, state.hand.deal, state.betting
    return View(
        state.phase,
        state.street,
        match.hand,
        match.dealer,
        to_act(state),
        () if seat is None else deal.holes[seat],
        None if seat is None else deal.given_up[seat],
        deal.runout[: BOARD[state.street]],
        round_.live,
        round_.chips,
        round_.to_call,
        round_.min_to,
        round_.max_to,
        state.line,
        match.scores.totals,
    )


def fallback(state: State, seat: Seat) -> Move:
    """Return check, or else fold (B1); or the discard of the first card dealt (P10)."""
    if state.phase is Phase.BET:
        return rounds.fallback(state.betting)
    return DISCARDS[state.hand.deal.holes[seat][0]]


def hand_number(state: State) -> int:
    return state.hand.match.hand


def hand_scores(state: State) -> tuple[tuple[int, ...], ...]:
    return state.hand.match.scores.hands


def result(state: State) -> Result | None:
    """Return chips won or lost in the match; equal totals share a place."""
    return None if to_act(state) else result_of(state.hand.match)


def margin_bound(options: Options, seats: int) -> int | None:
    """Return all chips on the table, in a cash match those of every hand, up to the fixed limit."""
    stakes, match = first_match(options, seats)
    if options.structure != Structure.FIXED:
        return chips_at_stake(match)
    bets = sum(2 * limits.least * (1 + options.max_raises) for limits in stakes.limits)
    return chips_at_stake(match, stakes.ante + bets)


@lru_cache(maxsize=1 << 10)
def _discards(held: tuple[Card, ...]) -> Listed:
    return Listed(tuple(DISCARDS[card] for card in held))


def begin_hand(
    stakes: Stakes, match: Match, deals: Deals, events: tuple[SentEvent, ...] = ()
) -> Step:
    """Post, deal singly from the dealer's left, and open the betting.

    The events of the step begin with `events`, which are those of the previous hand's end.
    """
    first = opening(stakes, match)
    hand = Hand(stakes, match, _deal(match, deals))
    holes = hand.deal.holes
    dealt = [SentEvent(Dealt(player, holes[player]), (player,)) for player in match.players]
    events = (*events, SentEvent(HandBegan(match.hand, match.dealer, first.chips)), *dealt)
    if not first.pending:
        return _end_round(hand, Street.PREFLOP, first, NO_ACTIONS, deals, events)
    return Step(State(hand, Phase.BET, Street.PREFLOP, first, NO_ACTIONS), events)


def opening(stakes: Stakes, match: Match) -> Round:
    """Return the first round after antes and blinds."""
    limits, players = stakes.limits[0], match.players
    return _opening(limits, stakes.ante, stakes.blinds, players, match.dealer, match.stacks)


@lru_cache(maxsize=1 << 10)
def _opening(
    limits: Limits,
    ante: int,
    blinds: tuple[int, int],
    players: tuple[Seat, ...],
    dealer: Seat,
    stacks: tuple[int, ...],
) -> Round:
    """Return the first round after antes and blinds; cached, as cash hands open alike."""
    order = rounds.clockwise(players, dealer)
    if not blinds[1]:
        return rounds.begin(
            limits, rounds.post(stacks, ante), players, order, rounds.unopened(limits)
        )
    # With two seats the dealer posts the small blind and acts first (P2).
    posting = order if len(players) > 2 else order[::-1]
    chips = rounds.post(stacks, ante, zip(posting, blinds, strict=False))
    price = rounds.opened(limits, blinds[1])
    return rounds.begin(limits, chips, players, posting[2:] + posting[:2], price)


def _deal(match: Match, deals: Deals) -> Deal:
    seats, players = len(match.stacks), match.players
    deck = deals.shuffle(match.hand, "deck", PACK_52)
    holes: list[tuple[Card, ...]] = [()] * seats
    dealt = HOLE * len(players)
    for place, seat in enumerate(rounds.clockwise(players, match.dealer)):
        holes[seat] = deck[place : dealt : len(players)]
    runout = tuple([deck[dealt + place] for place in BOARD_PLACES])
    return Deal(tuple(holes), (None,) * seats, runout)


def _bet(state: State, move: Move, deals: Deals) -> Step:
    hand, street, player = state.hand, state.street, state.betting.pending[0]
    if isinstance(move, Discard):
        raise IllegalMove("this is not the time to discard")
    after = rounds.act(state.betting, move)
    line, event = acted(state.line, player, ACTIONS[type(move)], after)
    if after.pending:
        return Step(State(hand, Phase.BET, street, after, line), (event,))
    return _end_round(hand, street, after, line, deals, (event,))


class _Closed(NamedTuple):
    """A hand between two rounds, after the bets were collected."""

    hand: Hand
    street: Street
    chips: Chips
    live: tuple[Seat, ...]
    line: Line


def _end_round(
    hand: Hand,
    street: Street,
    ended: Round,
    line: Line,
    deals: Deals,
    events: tuple[SentEvent, ...],
) -> Step:
    """Collect the bets, and continue with the discard, the next street or the end of the hand."""
    live = ended.live
    chips, returned = end_round(ended)
    events += returned
    closed = _Closed(hand, street, chips, live, line)
    if len(live) == 1:
        pot = unshown(Pot(sum(chips.paid), live), len(chips.paid))
        return _end_hand(closed, (pot,), deals, events)
    if street is DISCARD_ON[hand.stakes.variant]:
        return Step(_ask_discards(closed), events)
    return _deal_next(closed, deals, events)


def _ask_discards(closed: _Closed) -> State:
    hand, street, chips, live, line = closed
    betting = rounds.closed(hand.stakes.limits[0], chips, live)
    return State(hand, Phase.DISCARD, street, betting, line)


def _discard(state: State, choices: Sequence[Move], deals: Deals) -> Step:
    """Play the discards of all seats, and continue with the next street."""
    hand, live = state.hand, state.betting.live
    holes, given_up = list(hand.deal.holes), list(hand.deal.given_up)
    events: list[SentEvent] = []
    for player, move in zip(live, choices, strict=True):
        hole = holes[player]
        if not isinstance(move, Discard) or move.card not in hole:
            raise IllegalMove(f"discard one of {', '.join(hole)}")
        holes[player] = tuple([card for card in hole if card != move.card])
        given_up[player] = move.card
        events.append(SentEvent(GaveUp(player, move.card), (player,)))
    events.append(SentEvent(Discarded(live)))
    deal = Deal(tuple(holes), tuple(given_up), hand.deal.runout)
    after = Hand(hand.stakes, hand.match, deal)
    closed = _Closed(after, state.street, state.betting.chips, live, state.line)
    return _deal_next(closed, deals, tuple(events))


def _deal_next(closed: _Closed, deals: Deals, events: tuple[SentEvent, ...]) -> Step:
    """Deal streets until a seat has a decision, or until the showdown."""
    hand, street, chips, live, line = closed
    stakes, deal = hand.stakes, hand.deal
    order = rounds.clockwise(live, hand.match.dealer)
    while street is not Street.RIVER:
        below, street = BOARD[street], _NEXT[street]
        events += (SentEvent(BoardDealt(street, deal.runout[below : BOARD[street]])),)
        if rounds.able(chips, live):
            limits = stakes.limits[street is Street.TURN or street is Street.RIVER]
            opening = rounds.begin(limits, chips, live, order, rounds.unopened(limits))
            return Step(State(hand, Phase.BET, street, opening, new_round(line)), events)
        if street is DISCARD_ON[stakes.variant]:
            return Step(_ask_discards(closed._replace(street=street)), events)
    shown = [SentEvent(Shown(player, deal.holes[player])) for player in order]
    with_low = stakes.variant is Variant.CRAZY_HILO
    pots = pots_of(chips.paid, live)
    won = award(pots, order, deal.holes, deal.runout, with_low=with_low)
    return _end_hand(closed._replace(street=street), won, deals, (*events, *shown))


def _end_hand(
    closed: _Closed, won: tuple[PotWon, ...], deals: Deals, events: tuple[SentEvent, ...]
) -> Step:
    hand, street, chips, live, line = closed
    match = hand.match
    scores, stacks, ended = end_hand(match, chips, won)
    events += ended
    following = next_hand(match, scores)
    if following is not None:
        return begin_hand(hand.stakes, following, deals, events)
    limits = hand.stakes.limits[0]
    paid_out = rounds.closed(limits, stacks, live)
    over = Hand(hand.stakes, ended_match(match, scores), hand.deal)
    return Step(State(over, Phase.OVER, street, paid_out, line), events)


def unshown(pot: Pot, seats: int) -> PotWon:
    """Return a pot that the only seat left wins."""
    (winner,) = pot.eligible
    shares = tuple([pot.amount if player == winner else 0 for player in range(seats)])
    return PotWon(pot.amount, pot.eligible, (winner,), (), shares)


def award(
    pots: Sequence[Pot],
    order: Sequence[Seat],
    holes: Sequence[Sequence[Card]],
    board: Sequence[Card],
    *,
    with_low: bool,
) -> tuple[PotWon, ...]:
    """Divide each pot.

    `order` are the seats that show, from the dealer's left, which is the order of odd chips (B11);
    `holes` are the hole cards by seat.
    """
    highs: list[int | None] = [None] * len(holes)
    lows: list[int | None] = [None] * len(holes)
    for player in order:
        cards = (*holes[player], *board)
        highs[player] = poker.standard(cards)
        if with_low:
            lows[player] = poker.eight_or_better(cards)
    won = []
    for pot in pots:
        players = [player for player in order if player in pot.eligible]
        winners, low_winners = best_of(players, highs), best_of(players, lows)
        # The odd chip goes to the high half. Without a low the high half is the whole pot.
        low_half = pot.amount // 2 if low_winners else 0
        shares = share_out(pot.amount - low_half, winners, len(holes))
        if low_winners:
            lows_shares = share_out(low_half, low_winners, len(holes))
            shares = tuple([high + low for high, low in zip(shares, lows_shares, strict=True)])
        won.append(PotWon(pot.amount, pot.eligible, tuple(winners), tuple(low_winners), shares))
    return tuple(won)
