"""Sixty-Six, for two seats: tricks, marriages, and a claim to have 66 points.

Rulings are numbered R1 to R12. Each seat has six of 24 cards. While the stock is open, any card may be
played and both seats draw after a trick. Once it is closed or used up, suit must be followed. The seat to
act may do these before it plays a card, in this order:

| before the card | by       | when                                              |
|-----------------|----------|---------------------------------------------------|
| exchange        | leader   | the upcard lies open: for the nine of trump       |
| close           | either   | the upcard lies open                              |
| marriage        | leader   | with king and queen of a suit; one of them is led |
| claim           | either   | always; it ends the hand (R5)                     |
"""

from dataclasses import replace

from arena.games.cards import Card, in_order, without
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
)
from arena.games.options import check_match, match_is_over, race_result
from arena.games.sixty_six.messages import (
    Began,
    Claim,
    Claimed,
    Close,
    Closed,
    Dealt,
    Drawn,
    Exchange,
    Exchanged,
    Marriage,
    Married,
    Move,
    Options,
    Phase,
    Play,
    Played,
    Scored,
    View,
    Won,
)
from arena.games.sixty_six.scoring import (
    LAST_TRICK,
    MARRIAGE,
    MOST_AWARDED,
    PACK_24,
    TRUMP_MARRIAGE,
    Tally,
    award,
    follower_wins,
    trick_points,
    with_carry,
)
from arena.games.sixty_six.state import Deal, Match, Side, State, Stock, before, why_illegal
from arena.games.two_seats import SEATS, dealer_of, other, six_each, with_side


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first hand. Raises `BadOptions` unless there are two seats and `hands` is even."""
    check_match("Sixty-Six", (2,), seats, options.hands)
    return deal_hand(Match(options, 0, 0, (0, 0), ()), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    move: Move
    (move,) = require_to_act(chosen, to_act(state))
    deal = state.deal
    if not is_among(move, state.legal):
        raise IllegalMove(why_illegal(deal, move))
    match move:
        case Play(card):
            return _lead(state, card) if deal.led is None else _follow(state, card, deals)
        case Claim():
            ended, events = _score(state.match, deal, deal.turn, deals)
            return Step(ended, (SentEvent(Claimed(deal.turn)), *events))
        case Close():
            return _close(state)
        case Exchange():
            return _exchange(state)
        case Marriage(suit):
            return _marry(state, suit)


def to_act(state: State) -> tuple[Seat, ...]:
    return () if state.deal.phase is Phase.OVER else (state.deal.turn,)


def moves(state: State, seat: Seat) -> Listed:
    return Listed(state.legal)


def view(state: State, seat: Seat | None) -> View:
    match, deal = state.match, state.deal
    a, b = deal.sides
    stock = deal.stock
    is_open = stock.is_open
    return View(
        phase=deal.phase,
        hand=match.hand,
        dealer=dealer_of(match.hand),
        to_act=None if deal.phase is Phase.OVER else deal.turn,
        trump=deal.trump,
        upcard=stock.upcard if is_open else None,
        stock=len(stock.cards),
        closer=stock.closer,
        strict=not is_open,
        held=() if seat is None else deal.sides[seat].hand,
        hand_sizes=(len(a.hand), len(b.hand)),
        known=(a.known, b.known),
        led=deal.led,
        declared=deal.declared,
        points=(a.points, b.points),
        pending=(a.pending, b.pending),
        played=(a.played, b.played),
        winners=deal.winners,
        carry=match.carry,
        totals=match.totals,
    )


def fallback(state: State, seat: Seat) -> Move:
    """Return the lowest card that may be played; never a claim or a closing."""
    return next(move for move in state.legal if isinstance(move, Play))


def hand_number(state: State) -> int:
    return state.match.hand


def hand_scores(state: State) -> tuple[tuple[int, ...], ...]:
    return state.match.hand_scores


def result(state: State) -> Result | None:
    if state.deal.phase is not Phase.OVER:
        return None
    return race_result(state.match, single_leader=False)


def margin_bound(options: Options, seats: int) -> int | None:
    """Return three points for every hand, including carried ones; None for a race."""
    return options.hands * MOST_AWARDED or None


def is_over(options: Options, hands_played: int, totals: tuple[int, int]) -> bool:
    """Return whether a completed hand ends the match (R12)."""
    return match_is_over(options, hands_played, totals, single_leader=False)


def deal_hand(match: Match, deals: Deals) -> Step:
    """Deal batches of three, to the seat that does not deal first; then turn the upcard."""
    dealer = dealer_of(match.hand)
    deck = deals.shuffle(match.hand, "deck", PACK_24)
    hands = six_each(deck, dealer)
    upcard = deck[12]
    deal = Deal(
        (Side(hands[0], (), (), 0, 0), Side(hands[1], (), (), 0, 0)),
        Stock(deck[13:], upcard, None, 0),
        upcard[1],
        Phase.LEAD,
        other(dealer),
        None,
        None,
        (),
    )
    events = (
        SentEvent(Began(match.hand, dealer, upcard)),
        *(SentEvent(Dealt(seat, hands[seat]), (seat,)) for seat in SEATS),
    )
    return Step(before(match, deal), events)


def _close(state: State) -> Step:
    deal = state.deal
    player = deal.turn
    stock = deal.stock
    closed = Stock(stock.cards, stock.upcard, player, deal.winners.count(other(player)))
    after = replace(deal, stock=closed)
    return Step(before(state.match, after), (SentEvent(Closed(player)),))


def _exchange(state: State) -> Step:
    deal, stock = state.deal, state.deal.stock
    player, side, taken = deal.turn, deal.sides[deal.turn], stock.upcard
    assert taken is not None
    nine = "9" + deal.trump
    hand = in_order((*without(side.hand, (nine,)), taken))
    richer = Side(hand, in_order((*side.known, taken)), side.played, side.points, side.pending)
    sides = with_side(deal.sides, player, richer)
    after = replace(deal, sides=sides, stock=Stock(stock.cards, nine, None, 0))
    return Step(before(state.match, after), (SentEvent(Exchanged(player, taken)),))


def _marry(state: State, suit: str) -> Step:
    deal = state.deal
    player, side = deal.turn, deal.sides[deal.turn]
    value = TRUMP_MARRIAGE if suit == deal.trump else MARRIAGE
    pending = player not in deal.winners  # it counts with the first trick of the seat
    shown = in_order({*side.known, "K" + suit, "Q" + suit})
    married = Side(
        side.hand,
        shown,
        side.played,
        side.points if pending else side.points + value,
        value if pending else 0,
    )
    after = replace(deal, sides=with_side(deal.sides, player, married), declared=suit)
    return Step(before(state.match, after), (SentEvent(Married(player, suit, value, pending)),))


def _playing(side: Side, card: Card) -> Side:
    return Side(
        without(side.hand, (card,)),
        without(side.known, (card,)) if side.known else (),
        (*side.played, card),
        side.points,
        side.pending,
    )


def _lead(state: State, card: Card) -> Step:
    deal = state.deal
    player = deal.turn
    sides = with_side(deal.sides, player, _playing(deal.sides[player], card))
    after = Deal(
        sides, deal.stock, deal.trump, Phase.FOLLOW, other(player), card, None, deal.winners
    )
    return Step(before(state.match, after), (SentEvent(Played(player, card)),))


def _follow(state: State, card: Card, deals: Deals) -> Step:
    deal, led = state.deal, state.deal.led
    assert led is not None
    player = deal.turn
    follower = _playing(deal.sides[player], card)
    winner = player if follower_wins(led, card, deal.trump) else other(player)
    sides = with_side(deal.sides, player, follower)
    taker = sides[winner]
    last = not follower.hand
    points = trick_points(led, card) + taker.pending + (LAST_TRICK if last else 0)
    richer = Side(taker.hand, taker.known, taker.played, taker.points + points, 0)
    loser = sides[1 - winner]
    events: tuple[SentEvent, ...] = (
        SentEvent(Played(player, card)),
        SentEvent(Won(winner, points)),
    )
    stock = deal.stock
    if stock.is_open:
        richer, loser, stock, drawn = _draw(winner, richer, loser, stock)
        events += drawn
    after = Deal(
        (richer, loser) if winner == 0 else (loser, richer),
        stock,
        deal.trump,
        Phase.LEAD,
        winner,
        None,
        None,
        (*deal.winners, winner),
    )
    if not last:
        return Step(before(state.match, after), events)
    ended, more = _score(state.match, after, None, deals)
    return Step(ended, events + more)


def _draw(
    seat: Seat, winner: Side, loser: Side, stock: Stock
) -> tuple[Side, Side, Stock, tuple[SentEvent, ...]]:
    """Let the winner of a trick and then the loser draw; the upcard is drawn last (R1)."""
    first, *rest = stock.cards
    loser_seat = other(seat)
    winner = _drawing(winner, first, winner.known)
    drawn = SentEvent(Drawn(seat, first), (seat,))
    if rest:
        loser = _drawing(loser, rest[0], loser.known)
        left = Stock(stock.cards[2:], stock.upcard, None, 0)
        return winner, loser, left, (drawn, SentEvent(Drawn(loser_seat, rest[0]), (loser_seat,)))
    upcard = stock.upcard
    assert upcard is not None
    loser = _drawing(loser, upcard, in_order((*loser.known, upcard)))
    return winner, loser, Stock((), None, None, 0), (drawn, SentEvent(Drawn(loser_seat, upcard)))


def _drawing(side: Side, card: Card, known: tuple[Card, ...]) -> Side:
    return Side(in_order((*side.hand, card)), known, side.played, side.points, side.pending)


def _score(match: Match, deal: Deal, claimer: Seat | None, deals: Deals) -> Step:
    a, b = deal.sides
    points = (a.points, b.points)
    tricks = (deal.winners.count(SEATS[0]), deal.winners.count(SEATS[1]))
    tally = Tally(points, tricks, claimer, deal.stock.closer, deal.stock.tricks_at_close)
    verdict = award(tally)
    gained, carry = with_carry(verdict.gained, match.carry)
    totals = (match.totals[0] + gained[0], match.totals[1] + gained[1])
    hand_scores = (*match.hand_scores, gained)
    scored = SentEvent(Scored(match.hand, points, tricks, verdict.reason, gained, carry, totals))
    if is_over(match.options, len(hand_scores), totals):
        last = Match(match.options, match.hand, carry, totals, hand_scores)
        return Step(State(last, replace(deal, phase=Phase.OVER), ()), (scored,))
    following = Match(match.options, match.hand + 1, carry, totals, hand_scores)
    dealt, events = deal_hand(following, deals)
    return Step(dealt, (scored, *events))
