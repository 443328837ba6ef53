"""Pineapple, Crazy Pineapple and Crazy Pineapple Hi-Lo, for two to nine seats.

Hold'em with three hole cards, of which one is given up. The digest's rulings
are cited as P1 to P10, those on betting as B1 to B12.

| variant      | the discard comes            | the pot goes to                        |
|--------------|------------------------------|----------------------------------------|
| `pineapple`  | after the first betting      | the best hand                          |
| `crazy`      | after the betting on the flop | the best hand                         |
| `crazy_hilo` | after the betting on the flop | half to the best hand, half to the low |

A hand goes: antes and blinds, three cards each, then betting before the flop
and after flop, turn and river. The discard is made by all at once, unseen; it
concerns every seat that has not folded, also without chips (P3, P4).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from arena.cards import PACK_52, Card
from arena.games.betting import rounds
from arena.games.betting.match import (
    NO_ACTIONS,
    Action,
    HandEnded,
    Line,
    Match,
    UncalledReturned,
    acted,
    chips_at_stake,
    ended_match,
    new_round,
    next_hand,
    result_of,
    score_hand,
)
from arena.games.betting.moves import Bet, Call, Check, Fold, Raise
from arena.games.betting.pots import Pot, pots_of
from arena.games.betting.rounds import Chips, Limits, Round, Structure
from arena.games.contract import (
    Deals,
    IllegalMove,
    Listed,
    Moves,
    Result,
    Seat,
    Step,
    Told,
    require_to_act,
)
from arena.games.pineapple.options import Options, Variant
from arena.games.pineapple.showdown import award, unshown
from arena.games.pineapple.stakes import Stakes, first_match
from arena.games.pineapple.state import BOARD, Deal, Hand, State
from arena.games.pineapple.words import (
    DISCARDS,
    BoardDealt,
    Dealt,
    Discard,
    Discarded,
    GaveUp,
    HandBegan,
    Move,
    Phase,
    PotWon,
    Shown,
    Street,
    View,
)

HOLE: Final = 3
"""Cards dealt to each seat."""
_NEXT: Final = {
    Street.PREFLOP: Street.FLOP,
    Street.FLOP: Street.TURN,
    Street.TURN: Street.RIVER,
}
_DISCARD_ON: Final = {
    Variant.PINEAPPLE: Street.PREFLOP,
    Variant.CRAZY: Street.FLOP,
    Variant.CRAZY_HILO: Street.FLOP,
}
# Places after the hole cards of a deck; the cards between are burnt.
_BOARD_PLACES: Final = (1, 2, 3, 5, 7)


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Post and deal the first hand. Seat 0 deals it.

    Raises:
      BadOptions: unless there are 2 to 9 seats, and the stakes make sense.
    """
    stakes, match = first_match(options, seats)
    return begin_hand(stakes, match, deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    """Take a betting move, or the discards of all seats concerned.

    Raises:
      IllegalMove: if a choice is against the rules, or a seat's is missing.
    """
    choices = require_to_act(chosen, to_act(state))
    if state.phase is Phase.BET:
        (move,) = choices
        return _bet(state, move, deals)
    if state.phase is Phase.DISCARD:
        return _discard(state, choices, deals)
    raise IllegalMove("the match is over")


def to_act(state: State) -> tuple[Seat, ...]:
    """The seat that bets, or all that discard."""
    if state.phase is Phase.BET:
        return state.betting.pending[:1]
    return state.betting.live if state.phase is Phase.DISCARD else ()


def moves(state: State, seat: Seat) -> Moves:
    """Betting moves, or the three cards to discard in the order dealt."""
    if state.phase is Phase.DISCARD:
        return _discards(state.hand.deal.holes[seat])
    return rounds.choices(state.betting)


def view(state: State, seat: Seat | None) -> View:
    """What a seat may know; the spectator sees no hole cards before the showdown."""
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
    """Check, or else fold (B1); the first card dealt (P10)."""
    if state.phase is Phase.BET:
        return rounds.fallback(state.betting)
    return DISCARDS[state.hand.deal.holes[seat][0]]


def hand_number(state: State) -> int:
    """The deal, from 0."""
    return state.hand.match.hand


def heavy(state: State, seat: Seat, move: Move) -> bool:
    """No step is."""
    return False


def result(state: State) -> Result | None:
    """Chips won or lost over the match; equal totals share a place."""
    return None if to_act(state) else result_of(state.hand.match)


def margin_bound(options: Options, seats: int) -> int | None:
    """All chips on the table, in a cash match in every hand; or all that a fixed limit lets be bet."""
    stakes, match = first_match(options, seats)
    most = match.stacks[0]
    if options.structure == Structure.FIXED:
        bets = sum(2 * limits.least * (1 + limits.max_raises) for limits in stakes.limits)
        most = min(most, stakes.ante + bets)
    return chips_at_stake(match, most)


@lru_cache(maxsize=1 << 10)
def _discards(held: tuple[Card, ...]) -> Listed:
    return Listed(tuple(DISCARDS[card] for card in held))


def begin_hand(stakes: Stakes, match: Match, deals: Deals, told: tuple[Told, ...] = ()) -> Step:
    """Post, deal singly from the dealer's left, and open the betting.

    The step begins with `told`, which is what the hand before still had to tell.
    """
    opening = _opening(
        stakes.limits[0], stakes.ante, stakes.blinds, match.players, match.dealer, match.stacks
    )
    hand = Hand(stakes, match, _deal(match, deals))
    holes = hand.deal.holes
    dealt = [Told(Dealt(seat, holes[seat]), (seat,)) for seat in match.players]
    told = (*told, Told(HandBegan(match.hand, match.dealer, opening.chips)), *dealt)
    if not opening.pending:
        return _end_round(hand, Street.PREFLOP, opening, NO_ACTIONS, deals, told)
    return Step(State(hand, Phase.BET, Street.PREFLOP, opening, NO_ACTIONS), told)


@lru_cache(maxsize=1 << 10)
def _opening(
    limits: Limits,
    ante: int,
    blinds: tuple[int, int],
    players: tuple[Seat, ...],
    dealer: Seat,
    stacks: tuple[int, ...],
) -> Round:
    """The first round once antes and blinds are posted; kept, as cash hands open alike."""
    order = rounds.clockwise(players, dealer)
    if not blinds[1]:
        return rounds.begin(
            limits, rounds.post(stacks, ante), players, order, rounds.unopened(limits)
        )
    # Of two seats the dealer has the small blind and acts first (P2).
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
    runout = tuple([deck[dealt + place] for place in _BOARD_PLACES])
    return Deal(tuple(holes), (None,) * seats, runout)


_ACTIONS: Final = {
    Fold: Action.FOLD,
    Check: Action.CHECK,
    Call: Action.CALL,
    Bet: Action.BET,
    Raise: Action.RAISE,
}


def _bet(state: State, move: Move, deals: Deals) -> Step:
    hand, street, seat = state.hand, state.street, state.betting.pending[0]
    if isinstance(move, Discard):
        raise IllegalMove("this is not the time to discard")
    after = rounds.act(state.betting, move)
    line, event = acted(state.line, seat, _ACTIONS[type(move)], after)
    if after.pending:
        return Step(State(hand, Phase.BET, street, after, line), (event,))
    return _end_round(hand, street, after, line, deals, (event,))


class _Closed(NamedTuple):
    """A hand between two rounds: the bets of the last are collected."""

    hand: Hand
    street: Street
    chips: Chips
    live: tuple[Seat, ...]
    line: Line


def _end_round(
    hand: Hand, street: Street, ended: Round, line: Line, deals: Deals, told: tuple[Told, ...]
) -> Step:
    """Collect the bets, and go on to the discard, the next street or the end of the hand."""
    live, before = ended.live, ended.chips
    chips, owner = rounds.collect(ended)
    if owner is not None:
        amount = chips.stacks[owner] - before.stacks[owner]
        told += (Told(UncalledReturned(owner, amount)),)
    closed = _Closed(hand, street, chips, live, line)
    if len(live) == 1:
        pot = unshown(Pot(sum(chips.paid), live), len(chips.paid))
        return _end_hand(closed, (pot,), deals, told)
    if street is _DISCARD_ON[hand.stakes.variant]:
        return Step(_ask_discards(closed), told)
    return _deal_on(closed, deals, told)


def _ask_discards(closed: _Closed) -> State:
    hand, street, chips, live, line = closed
    betting = rounds.closed(hand.stakes.limits[0], chips, live)
    return State(hand, Phase.DISCARD, street, betting, line)


def _discard(state: State, choices: Sequence[Move], deals: Deals) -> Step:
    """Take the discards of all together and deal on."""
    hand, live = state.hand, state.betting.live
    holes, given_up = list(hand.deal.holes), list(hand.deal.given_up)
    told: list[Told] = []
    for seat, move in zip(live, choices, strict=True):
        hole = holes[seat]
        if not isinstance(move, Discard) or move.card not in hole:
            raise IllegalMove(f"discard one of {', '.join(hole)}")
        holes[seat] = tuple([card for card in hole if card != move.card])
        given_up[seat] = move.card
        told.append(Told(GaveUp(seat, move.card), (seat,)))
    told.append(Told(Discarded(live)))
    deal = Deal(tuple(holes), tuple(given_up), hand.deal.runout)
    after = Hand(hand.stakes, hand.match, deal)
    closed = _Closed(after, state.street, state.betting.chips, live, state.line)
    return _deal_on(closed, deals, tuple(told))


def _deal_on(closed: _Closed, deals: Deals, told: tuple[Told, ...]) -> Step:
    """Deal streets until there is something to decide, or the hands are shown."""
    hand, street, chips, live, line = closed
    stakes, deal = hand.stakes, hand.deal
    order = rounds.clockwise(live, hand.match.dealer)
    while street is not Street.RIVER:
        below, street = BOARD[street], _NEXT[street]
        told += (Told(BoardDealt(street, deal.runout[below : BOARD[street]])),)
        if rounds.able(chips, live):
            limits = stakes.limits[street is Street.TURN or street is Street.RIVER]
            opening = rounds.begin(limits, chips, live, order, rounds.unopened(limits))
            return Step(State(hand, Phase.BET, street, opening, new_round(line)), told)
        if street is _DISCARD_ON[stakes.variant]:
            return Step(_ask_discards(closed._replace(street=street)), told)
    shown = [Told(Shown(seat, deal.holes[seat])) for seat in order]
    with_low = stakes.variant is Variant.CRAZY_HILO
    pots = pots_of(chips.paid, live)
    won = award(pots, order, deal.holes, deal.runout, with_low=with_low)
    return _end_hand(closed._replace(street=street), won, deals, (*told, *shown))


def _end_hand(
    closed: _Closed, won: tuple[PotWon, ...], deals: Deals, told: tuple[Told, ...]
) -> Step:
    """Pay out the pots, and begin the next hand if there is one."""
    hand, street, chips, live, line = closed
    match, shares = hand.match, [each.shares for each in won]
    stacks = tuple([sum(parts) for parts in zip(chips.stacks, *shares, strict=True)])
    scores = score_hand(match, stacks)
    ended = Told(HandEnded(match.hand, scores.hands[-1], scores.totals))
    told = (*told, *[Told(each) for each in won], ended)
    following = next_hand(match, scores)
    if following is not None:
        return begin_hand(hand.stakes, following, deals, told)
    nothing = (0,) * len(stacks)
    limits = hand.stakes.limits[0]
    paid_out = rounds.closed(limits, Chips(stacks, nothing, nothing), live)
    over = Hand(hand.stakes, ended_match(match, scores), hand.deal)
    return Step(State(over, Phase.OVER, street, paid_out, line), told)
