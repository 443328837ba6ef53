"""Klaberjass, for two seats: bidding for trump, sequences, and nine tricks.

Rulings are numbered R1 to R15. N is the seat that does not deal, D the dealer.

    FIRST_BID N, D -> SECOND_BID N, D -> thrown in, if all pass
      a schmeiss asks for a REPLY: thrown in, or the caller makes trump (NAME)
    -> three more cards each
    -> DIX N, D, if the suit of the upcard is trump
    -> ANNOUNCE N -> ANSWER D, or ANNOUNCE D if N announces nothing
    -> LEAD, FOLLOW: nine tricks

| the maker has | the maker scores | the other scores     |
|---------------|------------------|----------------------|
| more          | its points       | its points           |
| as much       | nothing          | its points           |
| less          | nothing          | the points of both   |
"""

from dataclasses import replace
from typing import Final

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
from arena.games.klaberjass.contest import announce, answer, exchange, keep
from arena.games.klaberjass.messages import (
    PASS,
    REPLIES,
    Announce,
    Auction,
    Began,
    Call,
    Called,
    Contest,
    Dealt,
    Exchange,
    Made,
    Move,
    Name,
    No,
    Options,
    Phase,
    Play,
    Played,
    Schmeiss,
    Scored,
    Shown,
    Take,
    ThrownIn,
    View,
    Won,
)
from arena.games.klaberjass.scoring import (
    BELA,
    LAST_TRICK,
    MOST_POINTS,
    PACK_32,
    Sequence,
    Split,
    sequences,
    settle,
    split_of,
    trick_points,
)
from arena.games.klaberjass.state import (
    SILENCE,
    Deal,
    Match,
    Side,
    State,
    Talon,
    Tricks,
    before,
    trump_of,
    why_illegal,
)
from arena.games.klaberjass.tricks import follower_wins
from arena.games.options import check_match, match_is_over, race_result
from arena.games.two_seats import SEATS, by_seat, other, six_each

DECLINED: Final = 4
"""The number of passes after which the hand is thrown in."""


def start(options: Options, seats: int, deals: Deals) -> Step:
    """Deal the first hand. Raises `BadOptions` unless there are two seats and `hands` is even."""
    check_match("Klaberjass", (2,), seats, options.hands)
    return deal_hand(Match(options, 0, SEATS[0], (0, 0), ()), deals)


def step(state: State, chosen: tuple[tuple[Seat, Move], ...], deals: Deals) -> Step:
    move: Move
    (move,) = require_to_act(chosen, to_act(state))
    if not is_among(move, state.legal):
        raise IllegalMove(why_illegal(state.deal, move))
    match state.deal.phase:
        case Phase.FIRST_BID | Phase.SECOND_BID | Phase.NAME:
            return _bid(state, move, deals)
        case Phase.REPLY:
            return _refuse(state) if isinstance(move, No) else _accept(state, deals)
        case Phase.DIX:
            return exchange(state) if isinstance(move, Exchange) else keep(state)
        case Phase.ANNOUNCE:
            return announce(state, move.value if isinstance(move, Announce) else 0)
        case Phase.ANSWER:
            return answer(state, move)
        case _:
            assert isinstance(move, Play)
            return _play(state, move, deals)


def to_act(state: State) -> tuple[Seat, ...]:
    return () if state.deal.phase is Phase.OVER else (state.deal.turn,)


def moves(state: State, seat: Seat) -> Listed:
    return Listed(state.legal)


def view(state: State, seat: Seat | None) -> View:
    match, deal = state.match, state.deal
    a, b = deal.sides
    tricks = deal.tricks
    return View(
        phase=deal.phase,
        hand=match.hand,
        dealer=match.dealer,
        to_act=None if deal.phase is Phase.OVER else deal.turn,
        upcard=deal.talon.upcard,
        stock=len(deal.talon.stock),
        auction=deal.auction,
        contest=deal.contest,
        held=() if seat is None else deal.sides[seat].hand,
        hand_sizes=(len(a.hand), len(b.hand)),
        known=(a.known, b.known),
        led=tricks.led,
        bela=tricks.bela,
        points=(a.points, b.points),
        played=(a.played, b.played),
        winners=tricks.winners,
        totals=match.totals,
    )


def fallback(state: State, seat: Seat) -> Move:
    """Return pass, no, keep, no meld, good, or the lowest suit or card."""
    match state.deal.phase:
        case Phase.FIRST_BID | Phase.SECOND_BID:
            return PASS
        case Phase.REPLY:
            return REPLIES[1]
        case _:
            return state.legal[0]


def hand_number(state: State) -> int:
    return state.match.hand


def hand_scores(state: State) -> tuple[tuple[int, ...], ...]:
    return state.match.hand_scores


def result(state: State) -> Result | None:
    if state.deal.phase is not Phase.OVER:
        return None
    return race_result(state.match)


def margin_bound(options: Options, seats: int) -> int | None:
    """Return all points of all hands; None for a race."""
    return options.hands * MOST_POINTS or None


def is_over(options: Options, deals_played: int, totals: tuple[int, int]) -> bool:
    """Return whether a completed hand, also a thrown-in one, ends the match (R14, R15)."""
    return match_is_over(options, deals_played, totals)


# Deal and bidding.


def deal_hand(match: Match, deals: Deals) -> Step:
    """Deal six cards each in batches of three, to the dealer last; then turn the upcard (R2)."""
    deck = deals.shuffle(match.hand, "deck", PACK_32)
    hands = six_each(deck, match.dealer)
    upcard = deck[12]
    deal = Deal(
        (Side(hands[0], (), (), 0), Side(hands[1], (), (), 0)),
        Talon(upcard, deck[13:]),
        Auction(0, None, None, None, None),
        SILENCE,
        Tricks(None, (), None),
        Phase.FIRST_BID,
        other(match.dealer),
    )
    events = (
        SentEvent(Began(match.hand, match.dealer, upcard)),
        *(SentEvent(Dealt(seat, hands[seat]), (seat,)) for seat in SEATS),
    )
    return Step(before(match, deal), events)


def _bid(state: State, move: Move, deals: Deals) -> Step:
    match move:
        case Take():
            return _make(state, state.deal.turn, state.deal.talon.upcard[1], ())
        case Name(suit):
            return _make(state, state.deal.turn, suit, ())
        case Schmeiss():
            return _schmeiss(state)
        case _:
            return _pass(state, deals)


def _pass(state: State, deals: Deals) -> Step:
    deal = state.deal
    called = SentEvent(Called(deal.turn, Call.PASS))
    passes = deal.auction.passes + 1
    if passes == DECLINED:
        return _throw_in(state, called, deals)
    after = replace(
        deal,
        auction=replace(deal.auction, passes=passes),
        phase=Phase.FIRST_BID if passes < 2 else Phase.SECOND_BID,
        turn=other(deal.turn),
    )
    return Step(before(state.match, after), (called,))


def _schmeiss(state: State) -> Step:
    deal = state.deal
    auction = replace(deal.auction, schmeisser=deal.turn)
    after = replace(deal, auction=auction, phase=Phase.REPLY, turn=other(deal.turn))
    return Step(before(state.match, after), (SentEvent(Called(deal.turn, Call.SCHMEISS)),))


def _refuse(state: State) -> Step:
    """Make the caller of a refused schmeiss the maker (R4); in round two it names the suit."""
    deal = state.deal
    caller = other(deal.turn)
    called = SentEvent(Called(deal.turn, Call.NO))
    if deal.auction.passes < 2:
        return _make(state, caller, deal.talon.upcard[1], (called,))
    return Step(before(state.match, replace(deal, phase=Phase.NAME, turn=caller)), (called,))


def _accept(state: State, deals: Deals) -> Step:
    return _throw_in(state, SentEvent(Called(state.deal.turn, Call.YES)), deals)


def _throw_in(state: State, called: SentEvent, deals: Deals) -> Step:
    match = state.match
    hand_scores = (*match.hand_scores, (0, 0))
    ended = (called, SentEvent(ThrownIn(match.hand)))
    if is_over(match.options, len(hand_scores), match.totals):
        return _end(replace(match, hand_scores=hand_scores), state.deal, ended)
    following = replace(match, hand=match.hand + 1, hand_scores=hand_scores)
    dealt, more = deal_hand(following, deals)
    return Step(dealt, ended + more)


def _make(state: State, maker: Seat, trump: str, events: tuple[SentEvent, ...]) -> Step:
    """Fix trump and deal three more cards each; continue with the dix if it is possible (R5)."""
    deal, talon = state.deal, state.deal.talon
    dealer = state.match.dealer
    first = other(dealer)
    more = {first: in_order(talon.stock[0:3]), dealer: in_order(talon.stock[3:6])}
    sides = tuple(
        Side(in_order((*deal.sides[seat].hand, *more[seat])), (), (), 0) for seat in SEATS
    )
    dix = trump == talon.upcard[1] and talon.upcard[0] != "7"
    after = replace(
        deal,
        sides=(sides[0], sides[1]),
        talon=Talon(talon.upcard, talon.stock[6:]),
        auction=replace(deal.auction, maker=maker, trump=trump),
        phase=Phase.DIX if dix else Phase.ANNOUNCE,
        turn=first,
    )
    dealt = tuple(SentEvent(Dealt(seat, more[seat]), (seat,)) for seat in SEATS)
    return Step(before(state.match, after), (*events, SentEvent(Made(maker, trump)), *dealt))


# Tricks.


def _play(state: State, move: Play, deals: Deals) -> Step:
    deal, player, card = state.deal, state.deal.turn, move.card
    side, tricks, trump = deal.sides[player], deal.tricks, trump_of(deal)
    points = side.points
    if tricks.bela == player and card[1] == trump and card[0] in "KQ":
        points += BELA  # with the second of the two cards; no trick is needed (R10)
    known = without(side.known, (card,)) if side.known else ()
    if move.bela:
        known = in_order({*known, ("Q" if card[0] == "K" else "K") + trump})
    played = Side(without(side.hand, (card,)), known, (*side.played, card), points)
    caller = player if move.bela else tricks.bela
    sides = by_seat(player, played, deal.sides[1 - player])
    events = (SentEvent(Played(player, card, move.bela)),)
    if tricks.led is not None:
        return _end_trick(state, sides, caller, tricks.led, card, events, deals)
    after = Deal(
        sides,
        deal.talon,
        deal.auction,
        deal.contest,
        Tricks(card, tricks.winners, caller),
        Phase.FOLLOW,
        other(player),
    )
    return Step(before(state.match, after), events)


def _end_trick(
    state: State,
    sides: tuple[Side, Side],
    bela: Seat | None,
    led: Card,
    reply: Card,
    events: tuple[SentEvent, ...],
    deals: Deals,
) -> Step:
    match, deal = state.match, state.deal
    trump = trump_of(deal)
    winner = deal.turn if follower_wins(led, reply, trump) else other(deal.turn)
    taker, loser = sides[winner], sides[1 - winner]
    last = not taker.hand
    value = trick_points(led, reply, trump) + (LAST_TRICK if last else 0)
    points = taker.points + value
    events += (SentEvent(Won(winner, value)),)
    contest, earlier = deal.contest, deal.tricks.winners
    if contest.winner == winner and winner not in earlier:
        points += _melds(taker, trump)[1]  # melds count from the first trick of their seat
    taker = Side(taker.hand, taker.known, taker.played, points)
    sides = by_seat(winner, taker, loser)
    if not earlier and contest.winner is not None:
        sides, contest, shown = _show(sides, contest, contest.winner, trump)
        events += (shown,)
    after = Deal(
        sides,
        deal.talon,
        deal.auction,
        contest,
        Tricks(None, (*earlier, winner), bela),
        Phase.LEAD,
        winner,
    )
    if last:
        return _score(match, after, events, deals)
    return Step(before(match, after), events)


def _melds(side: Side, trump: str) -> tuple[tuple[Sequence, ...], int]:
    """Return the sequences in the nine cards that a seat had before the play, and their value."""
    melds = sequences(side.hand + side.played, trump)
    return melds, sum(meld.value for meld in melds)


def _show(
    sides: tuple[Side, Side], contest: Contest, winner: Seat, trump: str
) -> tuple[tuple[Side, Side], Contest, SentEvent]:
    """Show all sequences of the winner of the contest, after the first trick (R8)."""
    side = sides[winner]
    melds, value = _melds(side, trump)
    shown = tuple(meld.cards for meld in melds)
    seen = {card for cards in shown for card in cards}
    known = tuple([card for card in side.hand if card in seen or card in side.known])
    shower = Side(side.hand, known, side.played, side.points)
    event = SentEvent(Shown(winner, shown, value))
    return by_seat(winner, shower, sides[1 - winner]), replace(contest, shown=shown), event


def _score(match: Match, deal: Deal, events: tuple[SentEvent, ...], deals: Deals) -> Step:
    maker = deal.auction.maker
    assert maker is not None
    points = (deal.sides[0].points, deal.sides[1].points)
    gained, winner = settle(maker, points)
    totals = (match.totals[0] + gained[0], match.totals[1] + gained[1])
    events += (SentEvent(Scored(match.hand, maker, points, _splits(deal), winner, gained, totals)),)
    hand_scores = (*match.hand_scores, gained)
    if is_over(match.options, len(hand_scores), totals):
        last = Match(match.options, match.hand, match.dealer, totals, hand_scores)
        return _end(last, deal, events)
    # The winner of a hand deals the next (R13).
    following = Match(match.options, match.hand + 1, winner, totals, hand_scores)
    dealt, more = deal_hand(following, deals)
    return Step(dealt, events + more)


def _splits(deal: Deal) -> tuple[Split, ...]:
    winners, trump = deal.tricks.winners, trump_of(deal)
    return tuple(
        [
            split_of(
                side.points,
                sequences=_melds(side, trump)[1]
                if seat == deal.contest.winner and seat in winners
                else 0,
                bela=seat == deal.tricks.bela,
                last_trick=seat == winners[-1],
            )
            for seat, side in enumerate(deal.sides)
        ]
    )


def _end(match: Match, deal: Deal, events: tuple[SentEvent, ...]) -> Step:
    return Step(State(match, replace(deal, phase=Phase.OVER), ()), events)
