"""Jam: two seats, two packs of one colour each, 26 tricks and the streaks among them.

Source: Matthew Shields; rules are cited as J1 to J10, rulings as "ruling n".
Suits never matter. A trick is led and followed; then the winner and after it
the loser take two cards each, every one from the top of the own stock or the
own discard pile, and put one back.

    LEAD -> FOLLOW -> for winner, then loser: DRAW (x 2) -> DISCARD -> LEAD ...

| claim       | for                                     | points |
|-------------|-----------------------------------------|--------|
| baby slam   | four tricks in a row                    | 1      |
| grand slam  | five in a row, at most once             | 3      |
| majority    | 14 tricks 2; 15 or more, without grand, | 2 or 3 |
"""

from typing import Final

from arena.cards import PACK_52, RANKS, Card, in_order
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
from arena.games.jam.options import Options
from arena.games.jam.scoring import (
    HAND,
    MAX_RUBBERS,
    TRICKS,
    best_claim,
    claim_points,
    rubber_is_over,
)
from arena.games.jam.state import Deal, Match, Side, State
from arena.games.jam.words import (
    Began,
    Dealt,
    Discard,
    Discarded,
    Draw,
    Drawn,
    Move,
    Phase,
    Play,
    Played,
    Received,
    Scored,
    Source,
    View,
    Won,
)
from arena.games.options import check_hands

SEATS: Final = (Seat(0), Seat(1))

BLACK: Final = tuple(card for card in PACK_52 if card[1] in "cs")
RED: Final = tuple(card for card in PACK_52 if card[1] in "dh")
_RANK: Final = {card: RANKS.index(card[0]) for card in PACK_52}

_PLAYS: Final = {card: Play(card) for card in PACK_52}
_DISCARDS: Final = {card: Discard(card) for card in PACK_52}
_STOCK: Final = Draw(Source.STOCK)
_TOP: Final = Draw(Source.DISCARDS)
_DRAWS: Final = {
    (True, True): Listed((_STOCK, _TOP)),
    (True, False): Listed((_STOCK,)),
    (False, True): Listed((_TOP,)),
}


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal for the first time.

    Raises:
      BadOptions: unless there are two seats and `hands` is even.
    """
    if seats != len(SEATS):
        raise BadOptions(f"Jam is for 2 seats, not {seats}")
    check_hands(options.hands, seats)
    return deal_hand(Match(options, 0, 0, (0, 0), (0, 0), 0, ()), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    (move,) = require_to_act(chosen, to_act(state))
    deal = state.deal
    if move not in moves(state, deal.turn):
        raise IllegalMove(f"this is the time to {deal.phase}")
    match move:
        case Play(card):
            return _lead(state, card) if deal.led is None else _follow(state, card, deals)
        case Draw(source):
            return _draw(state, source, deals)
        case Discard(card):
            return _discard(state, card, deals)
    raise AssertionError(move)


def to_act(state: State) -> tuple[Seat, ...]:
    return () if state.deal.phase is Phase.OVER else (state.deal.turn,)


def moves(state: State, seat: Seat) -> Listed:
    deal = state.deal
    side = deal.sides[deal.turn]
    if deal.phase is Phase.DRAW:
        return _DRAWS[bool(side.stock), bool(side.discards)]
    table = _DISCARDS if deal.phase is Phase.DISCARD else _PLAYS
    return Listed(tuple([table[card] for card in side.hand]))


def view(state: State, seat: Seat | None) -> View:
    match, deal = state.match, state.deal
    a, b = deal.sides
    return View(
        phase=deal.phase,
        hand=match.hand,
        dealer=_dealer(match.hand),
        to_act=None if deal.phase is Phase.OVER else deal.turn,
        held=() if seat is None else deal.sides[seat].hand,
        hand_sizes=(len(a.hand), len(b.hand)),
        stock_sizes=(len(a.stock), len(b.stock)),
        discards=(a.discards, b.discards),
        known=(a.known, b.known),
        led=deal.led,
        draws_left=deal.draws_left,
        played=(a.played, b.played),
        winners=deal.winners,
        totals=match.totals,
        rubbers=match.rubbers,
    )


def fallback(state: State, seat: Seat) -> Move:
    """The first move offered: the lowest card, or the stock."""
    offered: Move = moves(state, seat).all[0]
    return offered


def hand_number(state: State) -> int:
    return state.match.hand


def heavy(state: State, seat: Seat, move: Move) -> bool:
    return False


def result(state: State) -> Result | None:
    if state.deal.phase is not Phase.OVER:
        return None
    match = state.match
    to_two = match.options.hands == 0 and match.options.rubbers > 1
    scores = match.rubbers if to_two else match.totals
    return Result(scores, places_of(scores), match.hand_scores)


def margin_bound(options: Options, seats: int) -> int | None:
    """All tricks of all deals; None for rubbers."""
    most = claim_points(best_claim([0] * TRICKS, 0))
    return options.hands * most or None


def follower_wins(led: Card, followed: Card) -> bool:
    """Only a strictly higher rank wins for the follower; suits do not matter (J4)."""
    return _RANK[followed] > _RANK[led]


def _other(seat: Seat) -> Seat:
    return SEATS[1 - seat]


def _dealer(hand: int) -> Seat:
    return SEATS[hand % 2]


def deal_hand(match: Match, deals: Deals) -> Step:
    dealer = _dealer(match.hand)
    black = deals.shuffle(match.hand, "black", BLACK)
    red = deals.shuffle(match.hand, "red", RED)
    piles = (black, red) if dealer == 0 else (red, black)
    sides = tuple(Side(in_order(pile[:HAND]), pile[HAND:], (), (), ()) for pile in piles)
    deal = Deal((sides[0], sides[1]), Phase.LEAD, _other(dealer), None, 0, ())
    told = [Told(Began(match.hand, dealer))]
    told += [Told(Dealt(seat, sides[seat].hand), (seat,)) for seat in SEATS]
    return Step(State(match, deal), tuple(told))


def _with_side(deal: Deal, seat: Seat, side: Side) -> tuple[Side, Side]:
    return (side, deal.sides[1]) if seat == 0 else (deal.sides[0], side)


def _without(cards: tuple[Card, ...], card: Card) -> tuple[Card, ...]:
    return tuple([each for each in cards if each != card])


def _play(deal: Deal, card: Card) -> tuple[Side, Side]:
    seat = deal.turn
    side = deal.sides[seat]
    played = Side(
        _without(side.hand, card),
        side.stock,
        side.discards,
        (*side.played, card),
        _without(side.known, card),
    )
    return _with_side(deal, seat, played)


def _lead(state: State, card: Card) -> Step:
    deal = state.deal
    sides = _play(deal, card)
    after = Deal(sides, Phase.FOLLOW, _other(deal.turn), card, 0, deal.winners)
    return Step(State(state.match, after), (Told(Played(deal.turn, card)),))


def _follow(state: State, card: Card, deals: Deals) -> Step:
    deal = state.deal
    assert deal.led is not None
    seat = deal.turn
    winner = seat if follower_wins(deal.led, card) else _other(seat)
    after = Deal(_play(deal, card), Phase.LEAD, winner, None, 0, (*deal.winners, winner))
    told = (Told(Played(seat, card)), Told(Won(winner)))
    following, more = _replenish(State(state.match, after), winner, deals)
    return Step(following, told + more)


def _replenish(state: State, seat: Seat, deals: Deals) -> Step:
    """Let `seat` draw, if there is anything for it to draw; otherwise go on."""
    deal = state.deal
    pool = deal.sides[seat].pool
    if not pool:
        return _next_trick(state, deals)
    after = Deal(deal.sides, Phase.DRAW, seat, None, min(2, pool), deal.winners)
    return Step(State(state.match, after), ())


def _draw(state: State, source: Source, deals: Deals) -> Step:
    deal, seat = state.deal, state.deal.turn
    side = deal.sides[seat]
    if source is Source.STOCK:
        card, stock, discards, known = side.stock[0], side.stock[1:], side.discards, side.known
        told: tuple[Told, ...] = (
            Told(Drawn(seat, source, None)),
            Told(Received(seat, card), (seat,)),
        )
    else:
        card, stock, discards = side.discards[-1], side.stock, side.discards[:-1]
        known = in_order((*side.known, card))
        told = (Told(Drawn(seat, source, card)),)
    hand = in_order((*side.hand, card))
    sides = _with_side(deal, seat, Side(hand, stock, discards, side.played, known))
    left = deal.draws_left - 1
    if left:
        after = Deal(sides, Phase.DRAW, seat, None, left, deal.winners)
        return Step(State(state.match, after), told)
    if len(hand) > HAND:
        after = Deal(sides, Phase.DISCARD, seat, None, 0, deal.winners)
        return Step(State(state.match, after), told)
    # The last card of the pool fills the hand, so nothing goes back (ruling 5).
    after = Deal(sides, Phase.LEAD, seat, None, 0, deal.winners)
    following, more = _after_seat(State(state.match, after), seat, deals)
    return Step(following, told + more)


def _discard(state: State, card: Card, deals: Deals) -> Step:
    deal, seat = state.deal, state.deal.turn
    side = deal.sides[seat]
    kept = Side(
        _without(side.hand, card),
        side.stock,
        (*side.discards, card),
        side.played,
        _without(side.known, card),
    )
    after = Deal(_with_side(deal, seat, kept), Phase.LEAD, seat, None, 0, deal.winners)
    following, more = _after_seat(State(state.match, after), seat, deals)
    return Step(following, (Told(Discarded(seat, card)), *more))


def _after_seat(state: State, seat: Seat, deals: Deals) -> Step:
    """A seat has its five cards again: the loser is next after the winner (J5)."""
    if seat == state.deal.winners[-1]:
        return _replenish(state, _other(seat), deals)
    return _next_trick(state, deals)


def _next_trick(state: State, deals: Deals) -> Step:
    deal = state.deal
    leader = deal.winners[-1]
    if deal.sides[leader].hand:
        after = Deal(deal.sides, Phase.LEAD, leader, None, 0, deal.winners)
        return Step(State(state.match, after), ())
    return _end_deal(state, deals)


def _end_deal(state: State, deals: Deals) -> Step:
    match, deal = state.match, state.deal
    options = match.options
    claims = tuple(best_claim(deal.winners, seat) for seat in SEATS)
    points = (claim_points(claims[0]), claim_points(claims[1]))
    totals = (match.totals[0] + points[0], match.totals[1] + points[1])
    rubber_deals = match.rubber_deals + 1
    rubbers, rubbers_played = match.rubbers, match.rubbers_played
    fixed = options.hands > 0
    ended = not fixed and rubber_is_over(options.target, rubber_deals, totals)
    if ended:
        rubbers_played += 1
        rubbers = (rubbers[0] + (totals[0] > totals[1]), rubbers[1] + (totals[1] > totals[0]))
    scored = Told(Scored(match.hand, claims, points, totals, rubbers))
    hand_scores = (*match.hand_scores, points)
    if fixed:
        over = match.hand + 1 >= options.hands
    else:
        won = max(rubbers) >= options.rubbers or rubbers_played >= MAX_RUBBERS
        over = ended and (won or options.rubbers == 1)
    if over:
        last = Match(
            options, match.hand, rubber_deals, totals, rubbers, rubbers_played, hand_scores
        )
        after = Deal(deal.sides, Phase.OVER, deal.turn, None, 0, deal.winners)
        return Step(State(last, after), (scored,))
    if ended:
        totals, rubber_deals = (0, 0), 0  # each rubber starts afresh (ruling 13)
    following = Match(
        options, match.hand + 1, rubber_deals, totals, rubbers, rubbers_played, hand_scores
    )
    dealt, told = deal_hand(following, deals)
    return Step(dealt, (scored, *told))
