"""Five-card Loo, for five to ten seats: a pot, and a fine for whoever plays without a trick.

Source: the digest's rules and rulings, cited as R1 to R10. All that is done in
turn begins at the dealer's left.

    DECLARE -> FIRST_FLUSH -> EXCHANGE -> SECOND_FLUSH -> LEAD, FOLLOW: five tricks

| players in | the pot goes                                     | and five each pay    |
|------------|--------------------------------------------------|----------------------|
| none       | to the next hand                                 | nobody               |
| one        | to that seat                                     | nobody               |
| more       | by fifths to the tricks                          | those without one    |
|            | or, if a flush is revealed, to the best flush    | those without a flush or Pam |
"""

from typing import Final

from arena.cards import PACK_52, Card, in_order
from arena.games.contract import (
    BadOptions,
    Deals,
    IllegalMove,
    Listed,
    Result,
    Seat,
    Step,
    Told,
    places_of,
    require_to_act,
)
from arena.games.loo.flushes import loo_board
from arena.games.loo.legal_moves import before, why_illegal
from arena.games.loo.options import Options
from arena.games.loo.state import HAND, Cards, Deal, Line, Match, Rows, State, Tricks
from arena.games.loo.tricks import trick_winner
from arena.games.loo.words import (
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
from arena.games.options import check_hands

SEATS: Final = range(5, 11)
"""The numbers of seats there may be."""
FEE: Final = 5
"""Chips of every payment: the dealer's, and for being looed (R8)."""
DEALS_EACH: Final = 3
"""Hands that each seat deals in a match of the default length (R1)."""

CLOCKWISE: Final = {
    seats: tuple(
        tuple(Seat((dealer + 1 + left) % seats) for left in range(seats)) for dealer in range(seats)
    )
    for seats in SEATS
}
"""By number of seats, then dealer: the seats from the dealer's left, the dealer last."""


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first hand.

    Raises:
      BadOptions: unless there are 5 to 10 seats and `hands` is a multiple of them.
    """
    if seats not in SEATS:
        raise BadOptions(f"Loo is for 5 to 10 seats, not {seats}")
    check_hands(options.hands, seats)
    nothing = (0,) * seats
    return deal_hand(Match(options, 0, 0, nothing, nothing, ()), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    move: Move
    (move,) = require_to_act(chosen, to_act(state))
    if move not in state.legal:
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
    """Pass, reveal a flush, exchange nothing, or the lowest legal card."""
    return PASS if state.deal.phase is Phase.DECLARE else state.legal[0]


def hand_number(state: State) -> int:
    return state.match.hand


def heavy(state: State, seat: Seat, move: Move) -> bool:
    return False


def result(state: State) -> Result | None:
    if state.deal.phase is not Phase.OVER:
        return None
    match = state.match
    return Result(match.chips, places_of(match.chips), match.hand_scores)


def margin_bound(options: Options, seats: int) -> int | None:
    """What all seats can pay: the dealer's five each deal, and five of each for being looed."""
    hands = options.hands or DEALS_EACH * seats
    return hands * FEE * (1 + seats)


def is_over(options: Options, hands_played: int, seats: int) -> bool:
    """Whether a completed hand ends the match (R1)."""
    return hands_played >= (options.hands or DEALS_EACH * seats)


def _dealer(match: Match) -> Seat:
    """Seat 0 deals first, then the deal passes to the left."""
    return Seat(match.hand % len(match.chips))


def _with(rows: Rows, seat: Seat, row: tuple[Card, ...]) -> Rows:
    return (*rows[:seat], row, *rows[seat + 1 :])


def _next(players: tuple[Seat, ...], seat: Seat) -> Seat:
    """The player after this one, clockwise."""
    at = players.index(seat) + 1
    return players[at] if at < len(players) else players[0]


def deal_hand(match: Match, deals: Deals) -> Step:
    """The dealer pays; cards are dealt singly from its left, then the upcard."""
    seats, dealer = len(match.chips), _dealer(match)
    order = CLOCKWISE[seats][dealer]
    deck = deals.shuffle(match.hand, "deck", PACK_52)
    dealt = seats * HAND
    upcard, stock = deck[dealt], deck[dealt + 1 :]
    hands = tuple(
        in_order(deck[(seat - dealer - 1) % seats : dealt : seats]) for seat in range(seats)
    )
    chips = tuple(have - FEE if seat == dealer else have for seat, have in enumerate(match.chips))
    paid = Match(match.options, match.hand, match.pot + FEE, chips, match.chips, match.hand_scores)
    nothing: Rows = ((),) * seats
    deal = Deal(
        upcard,
        Cards(hands, stock, (), nothing),
        Line((), (), (0,) * seats),
        Tricks(None, (), nothing, (), civil=False),
        Phase.DECLARE,
        order[0],
    )
    told = (
        Told(Began(match.hand, dealer, upcard, paid.pot)),
        *(Told(Dealt(seat, hands[seat]), (seat,)) for seat in order),
    )
    return Step(before(paid, deal), told)


# Before the play.


def _declare(state: State, deals: Deals, *, plays: bool) -> Step:
    match, deal, seat = state.match, state.deal, state.deal.turn
    cards, line = deal.cards, deal.line
    told = (Told(Declared(seat, plays)),)
    if plays:
        line = Line((*line.players, seat), line.passed, line.exchanged)
    else:
        line = Line(line.players, (*line.passed, seat), line.exchanged)
        hand = cards.hands[seat]
        cards = Cards(
            _with(cards.hands, seat, ()),
            cards.stock,
            cards.dead + hand,
            _with(cards.discarded, seat, hand),
        )
    order = CLOCKWISE[len(match.chips)][_dealer(match)]
    turn = _next(order, seat)
    if turn != order[0]:  # the last to speak is asked even if all others passed (R3)
        after = Deal(deal.upcard, cards, line, deal.tricks, Phase.DECLARE, turn)
        return Step(before(match, after), told)
    players = line.players
    first = players[0] if players else turn
    after = Deal(deal.upcard, cards, line, deal.tricks, Phase.FIRST_FLUSH, first)
    if len(players) > 1:
        return Step(before(match, after), told)
    won = {first: match.pot} if players else {}
    ending = Ending.WALKOVER if players else Ending.ALL_PASSED
    return _settle(match, after, ending, won, (), told, deals)


def _hold(state: State) -> Step:
    """Nothing is told of a hold, for that would tell who was asked in vain (R6)."""
    deal = state.deal
    turn = _next(deal.line.players, deal.turn)
    phase = deal.phase
    if turn == deal.line.players[0]:
        phase = Phase.EXCHANGE if phase is Phase.FIRST_FLUSH else Phase.LEAD
    return Step(before(state.match, _turned(deal, phase, turn)), ())


def _turned(deal: Deal, phase: Phase, turn: Seat) -> Deal:
    """The deal with another seat on turn; a first leader is put down as such."""
    tricks = deal.tricks
    if phase is Phase.LEAD:
        tricks = Tricks(turn, (), tricks.played, (), civil=False)
    return Deal(deal.upcard, deal.cards, deal.line, tricks, phase, turn)


def _reveal(state: State, deals: Deals) -> Step:
    match, deal = state.match, state.deal
    hands = {seat: deal.cards.hands[seat] for seat in deal.line.players}
    winner, exempt, payers = loo_board(hands, deal.upcard[1])
    told = (Told(FlushShown(winner, hands[winner], exempt)),)
    return _settle(match, deal, Ending.FLUSH, {winner: match.pot}, payers, told, deals)


def _exchange(state: State, given: tuple[Card, ...], deals: Deals) -> Step:
    """Draw from the stock, and from the shuffled dead cards when it is empty (R4).

    The own discards join the dead cards only afterwards.
    """
    match, deal, seat = state.match, state.deal, state.deal.turn
    cards, line = deal.cards, deal.line
    count = len(given)
    told = [Told(Exchanged(seat, count))]
    stock, dead = cards.stock, cards.dead
    drawn, stock = stock[:count], stock[count:]
    missing = count - len(drawn)
    if missing:
        told.append(Told(Recycled(len(dead))))
        stock = deals.shuffle(match.hand, f"recycled by {seat}", dead)
        drawn, stock, dead = drawn + stock[:missing], stock[missing:], ()
    if drawn:
        told.append(Told(Drawn(seat, in_order(drawn)), (seat,)))
    kept = tuple([card for card in cards.hands[seat] if card not in given])
    exchanged = (*line.exchanged[:seat], count, *line.exchanged[seat + 1 :])
    players = line.players
    turn = _next(players, seat)
    after = Deal(
        deal.upcard,
        Cards(
            _with(cards.hands, seat, in_order(kept + drawn)),
            stock,
            dead + given,
            _with(cards.discarded, seat, given),
        ),
        Line(players, line.passed, exchanged),
        deal.tricks,
        Phase.SECOND_FLUSH if turn == players[0] else Phase.EXCHANGE,
        turn,
    )
    return Step(before(match, after), tuple(told))


# The play.


def _play(state: State, move: Play, deals: Deals) -> Step:
    match, deal, seat, card = state.match, state.deal, state.deal.turn, move.card
    cards, tricks, players = deal.cards, deal.tricks, deal.line.players
    hand = tuple([each for each in cards.hands[seat] if each != card])
    left = Cards(_with(cards.hands, seat, hand), cards.stock, cards.dead, cards.discarded)
    trick = (*tricks.cards, card)
    played = _with(tricks.played, seat, (*tricks.played[seat], card))
    told: tuple[Told, ...] = (Told(Played(seat, card, move.civil)),)
    if len(trick) < len(players):
        civil = tricks.civil or move.civil
        on = Tricks(tricks.leader, trick, played, tricks.winners, civil=civil)
        turn = _next(players, seat)
        after = Deal(deal.upcard, left, deal.line, on, Phase.FOLLOW, turn)
        return Step(before(match, after), told)
    assert tricks.leader is not None
    led = players.index(tricks.leader)
    winner = players[(led + trick_winner(trick, deal.upcard[1])) % len(players)]
    winners = (*tricks.winners, winner)
    on = Tricks(winner, (), played, winners, civil=False)
    after = Deal(deal.upcard, left, deal.line, on, Phase.LEAD, winner)
    told += (Told(Won(winner)),)
    if len(winners) < HAND:
        return Step(before(match, after), told)
    fifth = match.pot // HAND  # the pot is always a multiple of five (R8)
    won = {player: fifth * winners.count(player) for player in players}
    looed = tuple([player for player in players if player not in winners])
    return _settle(match, after, Ending.PLAYED, won, looed, told, deals)


def _settle(
    match: Match,
    deal: Deal,
    ending: Ending,
    won: dict[Seat, int],
    looed: tuple[Seat, ...],
    told: tuple[Told, ...],
    deals: Deals,
) -> Step:
    """Pay out, collect for the next pot, and go on with the next dealer."""
    seats = range(len(match.chips))
    taken = tuple([won.get(Seat(seat), 0) for seat in seats])
    chips = tuple(
        [match.chips[seat] + taken[seat] - (FEE if seat in looed else 0) for seat in seats]
    )
    pot = match.pot - sum(taken) + FEE * len(looed)
    gained = tuple([chips[seat] - match.before[seat] for seat in seats])
    hand_scores = (*match.hand_scores, gained)
    told += (Told(Scored(match.hand, ending, taken, looed, pot, chips)),)
    if is_over(match.options, len(hand_scores), len(match.chips)):
        last = Match(match.options, match.hand, pot, chips, match.before, hand_scores)
        return Step(State(last, _turned(deal, Phase.OVER, deal.turn), ()), told)
    following = Match(match.options, match.hand + 1, pot, chips, chips, hand_scores)
    dealt, more = deal_hand(following, deals)
    return Step(dealt, told + more)
