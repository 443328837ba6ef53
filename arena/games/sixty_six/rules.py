"""Sixty-Six, for two seats: tricks, marriages, and a claim to have 66 points.

Source: the digest's rules and rulings, cited as R1 to R12. Each seat has six
of 24 cards. While the stock is open any card answers any, and both draw after
a trick; once it is closed or used up, suit must be followed and nobody draws.
The seat on turn may do these before it plays a card, in this order:

| before the card | by       | when                                              |
|-----------------|----------|---------------------------------------------------|
| exchange        | leader   | the upcard lies open: for the nine of trump       |
| close           | either   | the upcard lies open                              |
| marriage        | leader   | with king and queen of a suit; one of them is led |
| claim           | either   | always; it ends the hand (R5)                     |
"""

from typing import Final

from arena.cards import Card, in_order
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
from arena.games.options import check_hands
from arena.games.sixty_six.legal_moves import before, why_illegal
from arena.games.sixty_six.options import MAX_DEALS, Options
from arena.games.sixty_six.scoring import (
    LAST_TRICK,
    MARRIAGE,
    MOST_AWARDED,
    TRUMP_MARRIAGE,
    Tally,
    award,
    trick_points,
    with_carry,
)
from arena.games.sixty_six.state import Deal, Match, Side, State, Stock
from arena.games.sixty_six.tricks import PACK_24, follower_wins
from arena.games.sixty_six.words import (
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
    Phase,
    Play,
    Played,
    Scored,
    View,
    Won,
)

SEATS: Final = (Seat(0), Seat(1))


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first hand.

    Raises:
      BadOptions: unless there are two seats and `hands` is even.
    """
    if seats != len(SEATS):
        raise BadOptions(f"Sixty-Six is for 2 seats, not {seats}")
    check_hands(options.hands, seats)
    return deal_hand(Match(options, 0, 0, (0, 0), ()), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    move: Move
    (move,) = require_to_act(chosen, to_act(state))
    deal = state.deal
    if move not in state.legal:
        raise IllegalMove(why_illegal(deal, move))
    match move:
        case Play(card):
            return _lead(state, card) if deal.led is None else _follow(state, card, deals)
        case Claim():
            ended, told = _score(state.match, deal, deal.turn, deals)
            return Step(ended, (Told(Claimed(deal.turn)), *told))
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
        dealer=_dealer(match.hand),
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
    """The lowest card that may be played; never a claim or a closing."""
    return next(move for move in state.legal if isinstance(move, Play))


def hand_number(state: State) -> int:
    return state.match.hand


def heavy(state: State, seat: Seat, move: Move) -> bool:
    return False


def result(state: State) -> Result | None:
    if state.deal.phase is not Phase.OVER:
        return None
    match = state.match
    return Result(match.totals, places_of(match.totals), match.hand_scores)


def margin_bound(options: Options, seats: int) -> int | None:
    """Three for every hand, a carried one among them; None for a race."""
    return options.hands * MOST_AWARDED or None


def is_over(options: Options, hands_played: int, totals: tuple[int, int]) -> bool:
    """Whether a completed hand ends the match (R12)."""
    if options.hands:
        return hands_played >= options.hands
    return hands_played >= MAX_DEALS or max(totals) >= options.target


def _other(seat: Seat) -> Seat:
    return SEATS[1 - seat]


def _dealer(hand: int) -> Seat:
    """Seat 0 deals first, then the deal alternates (R11)."""
    return SEATS[hand % 2]


def deal_hand(match: Match, deals: Deals) -> Step:
    """Batches of three, the seat that does not deal first; then the upcard and the stock."""
    dealer = _dealer(match.hand)
    deck = deals.shuffle(match.hand, "deck", PACK_24)
    hands = in_order(deck[0:3] + deck[6:9]), in_order(deck[3:6] + deck[9:12])
    if dealer == 0:
        hands = hands[1], hands[0]
    upcard = deck[12]
    deal = Deal(
        (Side(hands[0], (), (), 0, 0), Side(hands[1], (), (), 0, 0)),
        Stock(deck[13:], upcard, None, 0),
        upcard[1],
        Phase.LEAD,
        _other(dealer),
        None,
        None,
        (),
    )
    told = (
        Told(Began(match.hand, dealer, upcard)),
        *(Told(Dealt(seat, hands[seat]), (seat,)) for seat in SEATS),
    )
    return Step(before(match, deal), told)


def _with_side(deal: Deal, seat: Seat, side: Side) -> tuple[Side, Side]:
    return (side, deal.sides[1]) if seat == 0 else (deal.sides[0], side)


def _without(cards: tuple[Card, ...], card: Card) -> tuple[Card, ...]:
    return tuple([each for each in cards if each != card])


def _close(state: State) -> Step:
    deal = state.deal
    seat = deal.turn
    stock = deal.stock
    closed = Stock(stock.cards, stock.upcard, seat, deal.winners.count(_other(seat)))
    after = Deal(
        deal.sides, closed, deal.trump, deal.phase, seat, deal.led, deal.declared, deal.winners
    )
    return Step(before(state.match, after), (Told(Closed(seat)),))


def _exchange(state: State) -> Step:
    deal, stock = state.deal, state.deal.stock
    seat, side, taken = deal.turn, deal.sides[deal.turn], stock.upcard
    assert taken is not None
    nine = "9" + deal.trump
    hand = in_order((*_without(side.hand, nine), taken))
    richer = Side(hand, in_order((*side.known, taken)), side.played, side.points, side.pending)
    after = Deal(
        _with_side(deal, seat, richer),
        Stock(stock.cards, nine, None, 0),
        deal.trump,
        Phase.LEAD,
        seat,
        None,
        None,
        deal.winners,
    )
    return Step(before(state.match, after), (Told(Exchanged(seat, taken)),))


def _marry(state: State, suit: str) -> Step:
    deal = state.deal
    seat, side = deal.turn, deal.sides[deal.turn]
    value = TRUMP_MARRIAGE if suit == deal.trump else MARRIAGE
    pending = seat not in deal.winners  # it counts with the seat's first trick
    shown = in_order({*side.known, "K" + suit, "Q" + suit})
    married = Side(
        side.hand,
        shown,
        side.played,
        side.points if pending else side.points + value,
        value if pending else 0,
    )
    after = Deal(
        _with_side(deal, seat, married),
        deal.stock,
        deal.trump,
        Phase.LEAD,
        seat,
        None,
        suit,
        deal.winners,
    )
    return Step(before(state.match, after), (Told(Married(seat, suit, value, pending)),))


def _playing(side: Side, card: Card) -> Side:
    """The side after it played a card."""
    return Side(
        _without(side.hand, card),
        _without(side.known, card) if side.known else (),
        (*side.played, card),
        side.points,
        side.pending,
    )


def _lead(state: State, card: Card) -> Step:
    deal = state.deal
    seat = deal.turn
    sides = _with_side(deal, seat, _playing(deal.sides[seat], card))
    after = Deal(
        sides, deal.stock, deal.trump, Phase.FOLLOW, _other(seat), card, None, deal.winners
    )
    return Step(before(state.match, after), (Told(Played(seat, card)),))


def _follow(state: State, card: Card, deals: Deals) -> Step:
    deal, led = state.deal, state.deal.led
    assert led is not None
    seat = deal.turn
    follower = _playing(deal.sides[seat], card)
    winner = seat if follower_wins(led, card, deal.trump) else _other(seat)
    sides = _with_side(deal, seat, follower)
    taker = sides[winner]
    last = not follower.hand
    points = trick_points(led, card) + taker.pending + (LAST_TRICK if last else 0)
    richer = Side(taker.hand, taker.known, taker.played, taker.points + points, 0)
    loser = sides[1 - winner]
    told: tuple[Told, ...] = (Told(Played(seat, card)), Told(Won(winner, points)))
    stock = deal.stock
    if stock.is_open:
        richer, loser, stock, drawn = _draw(winner, richer, loser, stock)
        told += drawn
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
        return Step(before(state.match, after), told)
    ended, more = _score(state.match, after, None, deals)
    return Step(ended, told + more)


def _draw(
    seat: Seat, winner: Side, loser: Side, stock: Stock
) -> tuple[Side, Side, Stock, tuple[Told, ...]]:
    """The winner of a trick and then the loser draw; the upcard goes last (R1)."""
    first, *rest = stock.cards
    other = _other(seat)
    winner = _drawing(winner, first, winner.known)
    told = Told(Drawn(seat, first), (seat,))
    if rest:
        loser = _drawing(loser, rest[0], loser.known)
        left = Stock(stock.cards[2:], stock.upcard, None, 0)
        return winner, loser, left, (told, Told(Drawn(other, rest[0]), (other,)))
    upcard = stock.upcard
    assert upcard is not None
    loser = _drawing(loser, upcard, in_order((*loser.known, upcard)))
    return winner, loser, Stock((), None, None, 0), (told, Told(Drawn(other, upcard)))


def _drawing(side: Side, card: Card, known: tuple[Card, ...]) -> Side:
    return Side(in_order((*side.hand, card)), known, side.played, side.points, side.pending)


def _score(match: Match, deal: Deal, claimer: Seat | None, deals: Deals) -> Step:
    """End a hand, after a claim or with the last trick."""
    a, b = deal.sides
    points = (a.points, b.points)
    tricks = (deal.winners.count(SEATS[0]), deal.winners.count(SEATS[1]))
    tally = Tally(points, tricks, claimer, deal.stock.closer, deal.stock.tricks_at_close)
    verdict = award(tally)
    gained, carry = with_carry(verdict.gained, match.carry)
    totals = (match.totals[0] + gained[0], match.totals[1] + gained[1])
    hand_scores = (*match.hand_scores, gained)
    scored = Told(Scored(match.hand, points, tricks, verdict.reason, gained, carry, totals))
    if is_over(match.options, len(hand_scores), totals):
        last = Match(match.options, match.hand, carry, totals, hand_scores)
        over = Deal(
            deal.sides,
            deal.stock,
            deal.trump,
            Phase.OVER,
            deal.turn,
            deal.led,
            deal.declared,
            deal.winners,
        )
        return Step(State(last, over, ()), (scored,))
    following = Match(match.options, match.hand + 1, carry, totals, hand_scores)
    dealt, told = deal_hand(following, deals)
    return Step(dealt, (scored, *told))
