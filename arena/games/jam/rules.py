"""Jam, for two seats: 26 tricks, in which tricks in a row score.

Source: Matthew Shields. Rules are numbered J1 to J10; rulings are cited as "ruling n". Suits do not
matter. After each trick the winner and then the loser draw two cards each, from the top of their own
stock or discard pile, and discard one.

    LEAD -> FOLLOW -> for winner, then loser: DRAW (x 2) -> DISCARD -> LEAD ...

| claim       | for                                     | points |
|-------------|-----------------------------------------|--------|
| baby slam   | four tricks in a row                    | 1      |
| grand slam  | five in a row, at most once             | 3      |
| majority    | 14 tricks; 15 or more without grand     | 2 or 3 |
"""

from dataclasses import replace
from typing import Final

from arena.games.cards import PACK_52, RANKS, Card, in_order, without
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
from arena.games.frozen import Frozen
from arena.games.jam.messages import (
    DISCARDS,
    DRAWS,
    PLAYS,
    Began,
    Dealt,
    Discard,
    Discarded,
    Draw,
    Drawn,
    Move,
    Options,
    Phase,
    Play,
    Played,
    Received,
    Scored,
    Source,
    View,
    Won,
)
from arena.games.jam.scoring import HAND, MAX_RUBBERS, TRICKS, best_claim, claim_points
from arena.games.options import check_match, ended_by_limit, match_is_over
from arena.games.two_seats import SEATS, dealer_of, other, with_side


class Side(Frozen):
    """One seat's cards."""

    hand: tuple[Card, ...]
    stock: tuple[Card, ...]
    """The next card to draw first."""
    discards: tuple[Card, ...]
    """The top card last."""
    played: tuple[Card, ...]
    known: tuple[Card, ...]

    @property
    def pool(self) -> int:
        return len(self.stock) + len(self.discards)


class Deal(Frozen):
    """The current hand."""

    sides: tuple[Side, Side]
    phase: Phase
    turn: Seat
    led: Card | None
    draws_left: int
    winners: tuple[Seat, ...]


class Match(Frozen):
    options: Options
    hand: int
    rubber_deals: int
    """The number of hands completed in this rubber."""
    totals: tuple[int, int]
    rubbers: tuple[int, int]
    rubbers_played: int
    hand_scores: tuple[tuple[int, int], ...]


class State(Frozen):
    match: Match
    deal: Deal


BLACK: Final = tuple(card for card in PACK_52 if card[1] in "cs")
RED: Final = tuple(card for card in PACK_52 if card[1] in "dh")
_RANK: Final = {card: RANKS.index(card[0]) for card in PACK_52}

_STOCK, _TOP = DRAWS.values()
_DRAWS: Final = {
    (True, True): Listed((_STOCK, _TOP)),
    (True, False): Listed((_STOCK,)),
    (False, True): Listed((_TOP,)),
}


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first hand. Raises `BadOptions` unless there are two seats and `hands` is even."""
    check_match("Jam", (2,), seats, options.hands)
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
    table = DISCARDS if deal.phase is Phase.DISCARD else PLAYS
    return Listed(tuple([table[card] for card in side.hand]))


def view(state: State, seat: Seat | None) -> View:
    match, deal = state.match, state.deal
    a, b = deal.sides
    return View(
        phase=deal.phase,
        hand=match.hand,
        dealer=dealer_of(match.hand),
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
    """Return the first legal move: the lowest card, or a draw from the stock."""
    offered: Move = moves(state, seat).all[0]
    return offered


def hand_number(state: State) -> int:
    return state.match.hand


def hand_scores(state: State) -> tuple[tuple[int, ...], ...]:
    return state.match.hand_scores


def result(state: State) -> Result | None:
    if state.deal.phase is not Phase.OVER:
        return None
    match = state.match
    to_two = match.options.hands == 0 and match.options.rubbers > 1
    scores = match.rubbers if to_two else match.totals
    limited = ended_by_limit(match.options, match.totals) or (
        to_two and max(scores) < match.options.rubbers
    )
    return Result.of(scores, match.hand_scores, ended_by_limit=limited)


def margin_bound(options: Options, seats: int) -> int | None:
    """Return the points for all tricks of all hands; None for rubbers."""
    most = claim_points(best_claim([0] * TRICKS, 0))
    return options.hands * most or None


def follower_wins(led: Card, followed: Card) -> bool:
    """Return whether the second card wins: only with a higher rank; suits do not matter (J4)."""
    return _RANK[followed] > _RANK[led]


def deal_hand(match: Match, deals: Deals) -> Step:
    dealer = dealer_of(match.hand)
    black = deals.shuffle(match.hand, "black", BLACK)
    red = deals.shuffle(match.hand, "red", RED)
    piles = (black, red) if dealer == 0 else (red, black)
    sides = tuple(Side(in_order(pile[:HAND]), pile[HAND:], (), (), ()) for pile in piles)
    deal = Deal((sides[0], sides[1]), Phase.LEAD, other(dealer), None, 0, ())
    events = [SentEvent(Began(match.hand, dealer))]
    events += [SentEvent(Dealt(seat, sides[seat].hand), (seat,)) for seat in SEATS]
    return Step(State(match, deal), tuple(events))


def _play(deal: Deal, card: Card) -> tuple[Side, Side]:
    player = deal.turn
    side = deal.sides[player]
    played = Side(
        without(side.hand, (card,)),
        side.stock,
        side.discards,
        (*side.played, card),
        without(side.known, (card,)),
    )
    return with_side(deal.sides, player, played)


def _lead(state: State, card: Card) -> Step:
    deal = state.deal
    sides = _play(deal, card)
    after = Deal(sides, Phase.FOLLOW, other(deal.turn), card, 0, deal.winners)
    return Step(State(state.match, after), (SentEvent(Played(deal.turn, card)),))


def _follow(state: State, card: Card, deals: Deals) -> Step:
    deal = state.deal
    assert deal.led is not None
    player = deal.turn
    winner = player if follower_wins(deal.led, card) else other(player)
    after = Deal(_play(deal, card), Phase.LEAD, winner, None, 0, (*deal.winners, winner))
    events = (SentEvent(Played(player, card)), SentEvent(Won(winner)))
    following, more = _replenish(State(state.match, after), winner, deals)
    return Step(following, events + more)


def _replenish(state: State, seat: Seat, deals: Deals) -> Step:
    """Let `seat` draw if it has cards to draw; otherwise begin the next trick."""
    deal = state.deal
    pool = deal.sides[seat].pool
    if not pool:
        return _next_trick(state, deals)
    after = Deal(deal.sides, Phase.DRAW, seat, None, min(2, pool), deal.winners)
    return Step(State(state.match, after), ())


def _draw(state: State, source: Source, deals: Deals) -> Step:
    deal, player = state.deal, state.deal.turn
    side = deal.sides[player]
    if source is Source.STOCK:
        card, stock, discards, known = side.stock[0], side.stock[1:], side.discards, side.known
        events: tuple[SentEvent, ...] = (
            SentEvent(Drawn(player, source, None)),
            SentEvent(Received(player, card), (player,)),
        )
    else:
        card, stock, discards = side.discards[-1], side.stock, side.discards[:-1]
        known = in_order((*side.known, card))
        events = (SentEvent(Drawn(player, source, card)),)
    hand = in_order((*side.hand, card))
    sides = with_side(deal.sides, player, Side(hand, stock, discards, side.played, known))
    left = deal.draws_left - 1
    if left:
        after = Deal(sides, Phase.DRAW, player, None, left, deal.winners)
        return Step(State(state.match, after), events)
    if len(hand) > HAND:
        after = Deal(sides, Phase.DISCARD, player, None, 0, deal.winners)
        return Step(State(state.match, after), events)
    # The last card to draw fills the hand, so there is no discard (ruling 5).
    after = Deal(sides, Phase.LEAD, player, None, 0, deal.winners)
    following, more = _after_seat(State(state.match, after), player, deals)
    return Step(following, events + more)


def _discard(state: State, card: Card, deals: Deals) -> Step:
    deal, player = state.deal, state.deal.turn
    side = deal.sides[player]
    kept = Side(
        without(side.hand, (card,)),
        side.stock,
        (*side.discards, card),
        side.played,
        without(side.known, (card,)),
    )
    after = Deal(with_side(deal.sides, player, kept), Phase.LEAD, player, None, 0, deal.winners)
    following, more = _after_seat(State(state.match, after), player, deals)
    return Step(following, (SentEvent(Discarded(player, card)), *more))


def _after_seat(state: State, seat: Seat, deals: Deals) -> Step:
    """Continue after a seat has five cards again: the loser draws after the winner (J5)."""
    if seat == state.deal.winners[-1]:
        return _replenish(state, other(seat), deals)
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
    ended = not fixed and match_is_over(options, rubber_deals, totals)
    if ended:
        rubbers_played += 1
        rubbers = (rubbers[0] + (totals[0] > totals[1]), rubbers[1] + (totals[1] > totals[0]))
    scored = SentEvent(Scored(match.hand, claims, points, totals, rubbers))
    hand_scores = (*match.hand_scores, points)
    after = Match(options, match.hand, rubber_deals, totals, rubbers, rubbers_played, hand_scores)
    if fixed:
        over = match.hand + 1 >= options.hands
    else:
        won = max(rubbers) >= options.rubbers or rubbers_played >= MAX_RUBBERS
        over = ended and (won or options.rubbers == 1)
    if over:
        return Step(State(after, replace(deal, phase=Phase.OVER)), (scored,))
    if ended:  # each rubber starts with no points (ruling 13)
        after = replace(after, totals=(0, 0), rubber_deals=0)
    dealt, events = deal_hand(replace(after, hand=match.hand + 1), deals)
    return Step(dealt, (scored, *events))
