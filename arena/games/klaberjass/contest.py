"""The phases of Klaberjass between bidding and play: the dix, and the contest of sequences."""

from dataclasses import replace

from arena.games.cards import in_order, without
from arena.games.contract import Seat, SentEvent, Step
from arena.games.klaberjass.messages import (
    Announced,
    Answered,
    Contest,
    Exchanged,
    Good,
    HowHigh,
    Kept,
    Move,
    NamedSuit,
    NamedTop,
    Phase,
    Word,
)
from arena.games.klaberjass.scoring import best_sequence
from arena.games.klaberjass.state import SILENCE, Deal, Side, State, Talon, before, trump_of
from arena.games.two_seats import SEATS, by_seat, other


def keep(state: State) -> Step:
    """Leave the upcard. The dealer is asked next; then sequences are announced."""
    deal = state.deal
    events = (SentEvent(Kept(deal.turn)),)
    phase = Phase.ANNOUNCE if deal.turn == state.match.dealer else Phase.DIX
    return Step(before(state.match, replace(deal, phase=phase, turn=other(deal.turn))), events)


def exchange(state: State) -> Step:
    """Exchange the seven of trump for the upcard. The other seat is not asked then."""
    deal, player = state.deal, state.deal.turn
    side, taken = deal.sides[player], deal.talon.upcard
    seven = "7" + trump_of(deal)
    richer = Side(in_order((*without(side.hand, (seven,)), taken)), (taken,), (), 0)
    after = Deal(
        by_seat(player, richer, deal.sides[1 - player]),
        Talon(seven, deal.talon.stock),
        replace(deal.auction, exchanger=player),
        deal.contest,
        deal.tricks,
        Phase.ANNOUNCE,
        other(state.match.dealer),
    )
    return Step(before(state.match, after), (SentEvent(Exchanged(player, taken)),))


def announce(state: State, value: int) -> Step:
    """Announce a sequence of this value; 0 means none."""
    deal, player = state.deal, state.deal.turn
    events = (SentEvent(Announced(player, value)),)
    dealer = state.match.dealer
    if player == dealer:
        announced = (
            replace(SILENCE, announcer=player, value=value, winner=player) if value else SILENCE
        )
        return _begin_play(state, announced, events)
    if value:
        contest = replace(SILENCE, announcer=player, value=value)
        after = replace(deal, contest=contest, phase=Phase.ANSWER, turn=dealer)
    else:
        after = replace(deal, turn=dealer)
    return Step(before(state.match, after), events)


def answer(state: State, move: Move) -> Step:
    """Answer the announcement of the other seat."""
    if isinstance(move, HowHigh):
        return _how_high(state)
    word = Word.GOOD if isinstance(move, Good) else Word.NOT_GOOD
    dealer = state.match.dealer
    winner = other(dealer) if word is Word.GOOD else dealer
    contest = replace(state.deal.contest, answer=word, winner=winner)
    return _begin_play(state, contest, (SentEvent(Answered(dealer, word)),))


def _how_high(state: State) -> Step:
    """Decide between equal values. Further answers must be true, so the arena gives them (R7)."""
    deal, dealer = state.deal, state.match.dealer
    first = other(dealer)
    theirs, dealer_best = (
        best_sequence(deal.sides[player].hand, trump_of(deal)) for player in (first, dealer)
    )
    assert theirs is not None
    assert dealer_best is not None
    events = [SentEvent(Answered(dealer, Word.HOW_HIGH)), SentEvent(NamedTop(first, theirs.rank))]
    tops, suits = {first: theirs.rank, dealer: ""}, {first: "", dealer: ""}
    winner: Seat | None
    if theirs.top > dealer_best.top:
        verdict, winner = Word.GOOD, first  # the dealer does not name its top card
        events.append(SentEvent(Answered(dealer, verdict)))
    elif theirs.top < dealer_best.top:
        verdict, winner = Word.NOT_GOOD, dealer
        tops[dealer] = dealer_best.rank
        events += [
            SentEvent(Answered(dealer, verdict)),
            SentEvent(NamedTop(dealer, dealer_best.rank)),
        ]
    else:
        verdict = Word.ALSO
        winner = first if theirs.is_trump else dealer if dealer_best.is_trump else None
        tops[dealer] = dealer_best.rank
        suits = {first: theirs.suit, dealer: dealer_best.suit}
        events += [
            SentEvent(Answered(dealer, verdict)),
            SentEvent(NamedSuit(first, theirs.suit)),
            SentEvent(NamedSuit(dealer, dealer_best.suit)),
        ]
    contest = Contest(
        first,
        deal.contest.value,
        Word.HOW_HIGH,
        verdict,
        (tops[SEATS[0]], tops[SEATS[1]]),
        (suits[SEATS[0]], suits[SEATS[1]]),
        winner,
        (),
    )
    return _begin_play(state, contest, tuple(events))


def _begin_play(state: State, contest: Contest, events: tuple[SentEvent, ...]) -> Step:
    first = other(state.match.dealer)
    after = replace(state.deal, contest=contest, phase=Phase.LEAD, turn=first)
    return Step(before(state.match, after), events)
