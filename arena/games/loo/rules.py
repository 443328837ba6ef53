"""Loo, for five to ten seats: a pot, and a fine for players without a trick.

Rulings are numbered R1 to R11. Turns begin at the dealer's left.

    DECLARE -> FIRST_FLUSH -> EXCHANGE -> SECOND_FLUSH -> LEAD, FOLLOW: five tricks
    DECLARE -> EXCHANGE -> LEAD, FOLLOW: three tricks (three-card Loo, R11)

| players    | the pot goes                                     | a payment each make  |
|------------|--------------------------------------------------|----------------------|
| none       | to the next hand                                 | no seats             |
| one        | to that seat                                     | no seats             |
| more       | equally to the tricks                            | those without one    |
|            | or, if a flush is revealed, to the best flush    | those without a flush or Pam |
"""

from typing import Final

from arena.games.cards import PACK_52, Card, dealt_singly, in_order
from arena.games.contract import (
    Deals,
    IllegalMove,
    Listed,
    Result,
    Seat,
    SentEvent,
    Step,
    is_among,
    require_to_act,
    with_entry,
)
from arena.games.loo.messages import (
    PASS,
    Began,
    Dealt,
    Declared,
    Drawn,
    Ending,
    Exchange,
    Exchanged,
    FlushShown,
    Hold,
    Move,
    Options,
    Phase,
    Play,
    Played,
    PlayHand,
    Recycled,
    RevealFlush,
    Scored,
    View,
    Won,
)
from arena.games.loo.state import Cards, Deal, Line, Match, Rows, State, Tricks, before, why_illegal
from arena.games.loo.tricks import loo_board, trick_winner
from arena.games.options import check_match

SEATS: Final[range] = range(5, 11)
DEALS_EACH: Final = 3
"""The number of hands that each seat deals by default (R1)."""

CLOCKWISE: Final = {
    seats: tuple(
        tuple(Seat((dealer + 1 + left) % seats) for left in range(seats)) for dealer in range(seats)
    )
    for seats in SEATS
}
"""By number of seats and dealer: the seats from the dealer's left, the dealer last."""


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first hand.

    Raises `BadOptions` unless there are 5 to 10 seats and `hands` is a multiple of them.
    """
    check_match("Loo", SEATS, seats, options.hands)
    nothing = (0,) * seats
    return deal_hand(Match(options, 0, 0, nothing, nothing, ()), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    move: Move
    (move,) = require_to_act(chosen, to_act(state))
    if not is_among(move, state.legal):
        raise IllegalMove(why_illegal(state, move))
    match move:
        case Play():
            return _play(state, move, deals)
        case Exchange(cards):
            return _exchange(state, cards, deals)
        case RevealFlush():
            return _reveal(state, deals)
        case Hold():
            return _hold(state)
        case _:
            return _declare(state, deals, plays=isinstance(move, PlayHand))


def to_act(state: State) -> tuple[Seat, ...]:
    return () if state.deal.phase is Phase.OVER else (state.deal.turn,)


def moves(state: State, seat: Seat) -> Listed:
    return Listed(state.legal)


def view(state: State, seat: Seat | None) -> View:
    match, deal = state.match, state.deal
    cards, line, tricks = deal.cards, deal.line, deal.tricks
    return View(
        phase=deal.phase,
        hand=match.hand,
        dealer=_dealer(match),
        to_act=None if deal.phase is Phase.OVER else deal.turn,
        upcard=deal.upcard,
        pot=match.pot,
        chips=match.chips,
        players=line.players,
        passed=line.passed,
        exchanged=line.exchanged,
        stock=len(cards.stock),
        dead=len(cards.dead),
        held=() if seat is None else cards.hands[seat],
        discarded=() if seat is None else cards.discarded[seat],
        leader=tricks.leader,
        trick=tricks.cards,
        civil=tricks.civil,
        played=tricks.played,
        winners=tricks.winners,
    )


def fallback(state: State, seat: Seat) -> Move:
    """Return a pass, a revealed flush, an exchange of no cards, or the lowest legal card."""
    return PASS if state.deal.phase is Phase.DECLARE else state.legal[0]


def hand_number(state: State) -> int:
    return state.match.hand


def hand_scores(state: State) -> tuple[tuple[int, ...], ...]:
    return state.match.hand_scores


def result(state: State) -> Result | None:
    if state.deal.phase is not Phase.OVER:
        return None
    match = state.match
    return Result.of(match.chips, match.hand_scores)


def margin_bound(options: Options, seats: int) -> int | None:
    """Return the most that all seats can pay: a payment by the dealer and by each looed seat."""
    hands = options.hands or DEALS_EACH * seats
    return hands * options.hand_size * (1 + seats)


def is_over(options: Options, hands_played: int, seats: int) -> bool:
    """Return whether a completed hand ends the match (R1)."""
    return hands_played >= (options.hands or DEALS_EACH * seats)


def _dealer(match: Match) -> Seat:
    return Seat(match.hand % len(match.chips))


def _next(players: tuple[Seat, ...], seat: Seat) -> Seat:
    at = players.index(seat) + 1
    return players[at] if at < len(players) else players[0]


def deal_hand(match: Match, deals: Deals) -> Step:
    """Let the dealer pay, deal singly from its left, and turn the upcard."""
    seats, dealer = len(match.chips), _dealer(match)
    order = CLOCKWISE[seats][dealer]
    deck = deals.shuffle(match.hand, "deck", PACK_52)
    fee = match.options.hand_size
    dealt = seats * fee
    upcard, stock = deck[dealt], deck[dealt + 1 :]
    hands = tuple(map(in_order, dealt_singly(deck[:dealt], seats, dealer)))
    chips = tuple(have - fee if seat == dealer else have for seat, have in enumerate(match.chips))
    paid = Match(match.options, match.hand, match.pot + fee, chips, match.chips, match.hand_scores)
    nothing: Rows = ((),) * seats
    deal = Deal(
        upcard,
        Cards(hands, stock, (), nothing),
        Line((), (), (0,) * seats),
        Tricks(None, (), nothing, (), civil=False),
        Phase.DECLARE,
        order[0],
    )
    events = (
        SentEvent(Began(match.hand, dealer, upcard, paid.pot)),
        *(SentEvent(Dealt(player, hands[player]), (player,)) for player in order),
    )
    return Step(before(paid, deal), events)


# Before the first trick.


def _declare(state: State, deals: Deals, *, plays: bool) -> Step:
    match, deal, player = state.match, state.deal, state.deal.turn
    cards, line = deal.cards, deal.line
    events = (SentEvent(Declared(player, plays)),)
    if plays:
        line = Line((*line.players, player), line.passed, line.exchanged)
    else:
        line = Line(line.players, (*line.passed, player), line.exchanged)
        hand = cards.hands[player]
        cards = Cards(
            with_entry(cards.hands, player, ()),
            cards.stock,
            cards.dead + hand,
            with_entry(cards.discarded, player, hand),
        )
    order = CLOCKWISE[len(match.chips)][_dealer(match)]
    turn = _next(order, player)
    if turn != order[0]:  # the last seat is asked even if all others passed (R3)
        after = Deal(deal.upcard, cards, line, deal.tricks, Phase.DECLARE, turn)
        return Step(before(match, after), events)
    players = line.players
    first = players[0] if players else turn
    following = Phase.FIRST_FLUSH if match.options.has_pam else Phase.EXCHANGE
    after = Deal(deal.upcard, cards, line, deal.tricks, following, first)
    if len(players) > 1:
        return Step(before(match, after), events)
    won = {first: match.pot} if players else {}
    ending = Ending.WALKOVER if players else Ending.ALL_PASSED
    return _settle(match, after, ending, won, (), events, deals)


def _hold(state: State) -> Step:
    """Hold without an event, which would reveal that the seat was asked (R6)."""
    deal = state.deal
    turn = _next(deal.line.players, deal.turn)
    phase = deal.phase
    if turn == deal.line.players[0]:
        phase = Phase.EXCHANGE if phase is Phase.FIRST_FLUSH else Phase.LEAD
    return Step(before(state.match, _turned(deal, phase, turn)), ())


def _turned(deal: Deal, phase: Phase, turn: Seat) -> Deal:
    """Return the hand with another seat to act; before the first trick it is the leader."""
    tricks = deal.tricks
    if phase is Phase.LEAD:
        tricks = Tricks(turn, (), tricks.played, (), civil=False)
    return Deal(deal.upcard, deal.cards, deal.line, tricks, phase, turn)


def _reveal(state: State, deals: Deals) -> Step:
    match, deal = state.match, state.deal
    hands = {player: deal.cards.hands[player] for player in deal.line.players}
    winner, exempt, payers = loo_board(hands, deal.upcard[1])
    events = (SentEvent(FlushShown(winner, hands[winner], exempt)),)
    return _settle(match, deal, Ending.FLUSH, {winner: match.pot}, payers, events, deals)


def _exchange(state: State, given: tuple[Card, ...], deals: Deals) -> Step:
    """Draw from the stock, and from the shuffled dead cards when it is empty (R4).

    The seat's own discards become dead cards after the draw.
    """
    match, deal, player = state.match, state.deal, state.deal.turn
    cards, line = deal.cards, deal.line
    count = len(given)
    events = [SentEvent(Exchanged(player, count))]
    stock, dead = cards.stock, cards.dead
    drawn, stock = stock[:count], stock[count:]
    missing = count - len(drawn)
    if missing:
        events.append(SentEvent(Recycled(len(dead))))
        stock = deals.shuffle(match.hand, f"recycled by {player}", dead)
        drawn, stock, dead = drawn + stock[:missing], stock[missing:], ()
    if drawn:
        events.append(SentEvent(Drawn(player, in_order(drawn)), (player,)))
    kept = tuple([card for card in cards.hands[player] if card not in given])
    exchanged = with_entry(line.exchanged, player, count)
    players = line.players
    turn = _next(players, player)
    after = Deal(
        deal.upcard,
        Cards(
            with_entry(cards.hands, player, in_order(kept + drawn)),
            stock,
            dead + given,
            with_entry(cards.discarded, player, given),
        ),
        Line(players, line.passed, exchanged),
        deal.tricks,
        Phase.EXCHANGE,
        turn,
    )
    if turn == players[0]:
        after = _turned(after, Phase.SECOND_FLUSH if match.options.has_pam else Phase.LEAD, turn)
    return Step(before(match, after), tuple(events))


# Tricks.


def _play(state: State, move: Play, deals: Deals) -> Step:
    match, deal, seat, card = state.match, state.deal, state.deal.turn, move.card
    cards, tricks, players = deal.cards, deal.tricks, deal.line.players
    hand = tuple([held for held in cards.hands[seat] if held != card])
    left = Cards(with_entry(cards.hands, seat, hand), cards.stock, cards.dead, cards.discarded)
    trick = (*tricks.cards, card)
    played = with_entry(tricks.played, seat, (*tricks.played[seat], card))
    events: tuple[SentEvent, ...] = (SentEvent(Played(seat, card, move.civil)),)
    if len(trick) < len(players):
        civil = tricks.civil or move.civil
        on = Tricks(tricks.leader, trick, played, tricks.winners, civil=civil)
        turn = _next(players, seat)
        after = Deal(deal.upcard, left, deal.line, on, Phase.FOLLOW, turn)
        return Step(before(match, after), events)
    assert tricks.leader is not None
    led = players.index(tricks.leader)
    best = trick_winner(trick, deal.upcard[1], pam=match.options.has_pam)
    winner = players[(led + best) % len(players)]
    winners = (*tricks.winners, winner)
    on = Tricks(winner, (), played, winners, civil=False)
    after = Deal(deal.upcard, left, deal.line, on, Phase.LEAD, winner)
    events += (SentEvent(Won(winner)),)
    tricks_in_all = match.options.hand_size
    if len(winners) < tricks_in_all:
        return Step(before(match, after), events)
    share = match.pot // tricks_in_all  # every payment is a multiple of the tricks (R8)
    won = {player: share * winners.count(player) for player in players}
    looed = tuple([player for player in players if player not in winners])
    return _settle(match, after, Ending.PLAYED, won, looed, events, deals)


def _settle(
    match: Match,
    deal: Deal,
    ending: Ending,
    won: dict[Seat, int],
    looed: tuple[Seat, ...],
    events: tuple[SentEvent, ...],
    deals: Deals,
) -> Step:
    """Pay out, collect for the next pot, and deal the next hand."""
    seats, fee = range(len(match.chips)), match.options.hand_size
    taken = tuple([won.get(Seat(player), 0) for player in seats])
    chips = tuple(
        [match.chips[player] + taken[player] - (fee if player in looed else 0) for player in seats]
    )
    pot = match.pot - sum(taken) + fee * len(looed)
    gained = tuple([chips[player] - match.before[player] for player in seats])
    hand_scores = (*match.hand_scores, gained)
    events += (SentEvent(Scored(match.hand, ending, taken, looed, pot, chips)),)
    if is_over(match.options, len(hand_scores), len(match.chips)):
        last = Match(match.options, match.hand, pot, chips, match.before, hand_scores)
        return Step(State(last, _turned(deal, Phase.OVER, deal.turn), ()), events)
    following = Match(match.options, match.hand + 1, pot, chips, chips, hand_scores)
    dealt, more = deal_hand(following, deals)
    return Step(dealt, events + more)
