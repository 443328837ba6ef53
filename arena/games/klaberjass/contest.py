"""Before the play of Klaberjass: the dix, and the contest of sequences."""

from dataclasses import replace

from arena.cards import in_order
from arena.games.contract import Seat, Step, Told
from arena.games.klaberjass.legal_moves import before
from arena.games.klaberjass.scoring import best_sequence
from arena.games.klaberjass.state import (
    SEATS,
    SILENCE,
    Deal,
    Side,
    State,
    Talon,
    by_seat,
    other,
    trump_of,
    without,
)
from arena.games.klaberjass.words import (
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


def keep(state: State) -> Step:
    """Leave the upcard: the dealer is asked next, and after it sequences are announced."""
    deal = state.deal
    told = (Told(Kept(deal.turn)),)
    phase = Phase.ANNOUNCE if deal.turn == state.match.dealer else Phase.DIX
    return Step(before(state.match, replace(deal, phase=phase, turn=other(deal.turn))), told)


def exchange(state: State) -> Step:
    """Take the upcard for the seven of trump; the other seat is not asked any more."""
    deal, seat = state.deal, state.deal.turn
    side, taken = deal.sides[seat], deal.talon.upcard
    seven = "7" + trump_of(deal)
    richer = Side(in_order((*without(side.hand, seven), taken)), (taken,), (), 0)
    after = Deal(
        by_seat(seat, richer, deal.sides[1 - seat]),
        Talon(seven, deal.talon.stock),
        replace(deal.auction, exchanger=seat),
        deal.contest,
        deal.tricks,
        Phase.ANNOUNCE,
        other(state.match.dealer),
    )
    return Step(before(state.match, after), (Told(Exchanged(seat, taken)),))


def announce(state: State, value: int) -> Step:
    """Announce a sequence of this value, or none with 0."""
    deal, seat = state.deal, state.deal.turn
    told = (Told(Announced(seat, value)),)
    dealer = state.match.dealer
    if seat == dealer:  # the other had nothing to say
        said = replace(SILENCE, announcer=seat, value=value, winner=seat) if value else SILENCE
        return _begin_play(state, said, told)
    if value:
        contest = replace(SILENCE, announcer=seat, value=value)
        after = replace(deal, contest=contest, phase=Phase.ANSWER, turn=dealer)
    else:
        after = replace(deal, turn=dealer)
    return Step(before(state.match, after), told)


def answer(state: State, move: Move) -> Step:
    """The dealer answers the announcement of the other seat."""
    if isinstance(move, HowHigh):
        return _how_high(state)
    word = Word.GOOD if isinstance(move, Good) else Word.NOT_GOOD
    dealer = state.match.dealer
    winner = other(dealer) if word is Word.GOOD else dealer
    contest = replace(state.deal.contest, answer=word, winner=winner)
    return _begin_play(state, contest, (Told(Answered(dealer, word)),))


def _how_high(state: State) -> Step:
    """Equal values: all that is left to say must be true, so the arena says it (R7)."""
    deal, dealer = state.deal, state.match.dealer
    first = other(dealer)
    theirs, own = (best_sequence(deal.sides[seat].hand, trump_of(deal)) for seat in (first, dealer))
    assert theirs is not None
    assert own is not None
    told = [Told(Answered(dealer, Word.HOW_HIGH)), Told(NamedTop(first, theirs.rank))]
    tops, suits = {first: theirs.rank, dealer: ""}, {first: "", dealer: ""}
    winner: Seat | None
    if theirs.top > own.top:
        verdict, winner = Word.GOOD, first  # the dealer's top stays hidden
        told.append(Told(Answered(dealer, verdict)))
    elif theirs.top < own.top:
        verdict, winner = Word.NOT_GOOD, dealer
        tops[dealer] = own.rank
        told += [Told(Answered(dealer, verdict)), Told(NamedTop(dealer, own.rank))]
    else:
        verdict = Word.ALSO
        winner = first if theirs.is_trump else dealer if own.is_trump else None
        tops[dealer] = own.rank
        suits = {first: theirs.suit, dealer: own.suit}
        told += [
            Told(Answered(dealer, verdict)),
            Told(NamedSuit(first, theirs.suit)),
            Told(NamedSuit(dealer, own.suit)),
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
    return _begin_play(state, contest, tuple(told))


def _begin_play(state: State, contest: Contest, told: tuple[Told, ...]) -> Step:
    first = other(state.match.dealer)
    after = replace(state.deal, contest=contest, phase=Phase.LEAD, turn=first)
    return Step(before(state.match, after), told)
