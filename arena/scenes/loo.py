"""Pictures of Loo."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.games.contract import Event, Seat
from arena.games.loo.rules import FEE
from arena.games.loo.state import HAND
from arena.games.loo.words import (
    Began,
    Dealt,
    Declared,
    Drawn,
    Ending,
    Exchanged,
    FlushShown,
    Hold,
    Phase,
    Played,
    Recycled,
    Scored,
    View,
    Won,
)
from arena.scenes.drawing import (
    DEALER,
    by_suit,
    cards,
    fact,
    goal,
    hand,
    pile,
    said,
    shown_zones,
    trick,
    tricks,
)
from arena.scenes.eye import Eye
from arena.scenes.sentences import Words, by_seat, joined, line, listed, names
from arena.scenes.vocabulary import (
    Badge,
    Card,
    Chips,
    Fact,
    Group,
    Kind,
    Line,
    Name,
    Scene,
    SeatScene,
    Suit,
    Tone,
    Zone,
)

_PAM: Final = "Jc"
_ENDINGS: Final = {
    Ending.ALL_PASSED: "All have passed: the pot stays for the next hand.",
    Ending.WALKOVER: "Nobody else plays: the pot is taken without a trick.",
    Ending.FLUSH: "The best flush takes the pot, and every player without a flush or Pam pays.",
    Ending.PLAYED: "Each trick takes a fifth of the pot, and every player without a trick pays.",
}

ENDS: Final = (Scored,)
WORDS: Final[Words] = {
    Began: (
        "A hand is dealt. {dealer} deals and pays five: {pot} in the pot. {upcard} is turned up, "
        "and its suit is trump."
    ),
    Dealt: "{seat} gets {cards}.",
    Declared: lambda event: "{seat} plays." if event.plays else "{seat} passes.",
    Exchanged: lambda event: (
        "{seat} exchanges {count:count card}." if event.count else "{seat} exchanges nothing."
    ),
    Drawn: "{seat} draws {cards}.",
    Recycled: "The stock is empty: {count:count dead card} are shuffled into a new one.",
    FlushShown: lambda event: (
        "{seat} shows a flush: {cards}. {exempt:seats} need not pay."
        if event.exempt
        else "{seat} shows a flush: {cards}."
    ),
    Played: lambda event: (
        "{seat} plays {card} and says “Pam be civil”." if event.civil else "{seat} plays {card}."
    ),
    Won: "{seat} takes the trick.",
    Scored: lambda event: joined(_reasons(event)),
}

QUIET: Final[Words] = {Hold: "shows nothing"}


def scene(eye: Eye) -> Scene:
    """The table: the pot and the upcard, the trick between those who play."""
    view: View = eye.view
    scored = eye.last_told(Scored)
    pot = view.pot if scored is None else sum(scored.won) or scored.pot
    what = "in the pot" if scored is None or not any(scored.won) else "was in the pot"
    no_pam = (fact("Pam", "is not in play"),) if view.upcard == _PAM else ()
    civil = (fact("Pam", "must be civil"),) if view.civil else ()
    return Scene(
        tuple(_seat(eye, view, Seat(seat), scored) for seat in range(eye.seats)),
        "chips",
        shown_zones(
            Zone("upcard", Kind.TRICK, (Card(view.upcard, Tone.DIM, ("turned up",)),)),
            pile("stock", view.stock, "in the stock"),
            Zone("pot", Kind.CHIPS, (Chips(pot, (what,)),)),
            _trick(view),
        ),
        (fact("trump", Suit(view.upcard[1])), *no_pam, *civil, goal(eye.options, view.hand)),
        () if scored is None else _reasons(scored),
    )


def close(view: View, told: Sequence[Event], seat: Seat | None) -> View:
    """The hand's last picture: the last trick, a flush, or the last one to pass."""
    for event in told:
        match event:
            case Declared(player, True):
                view = replace(view, players=(*view.players, player))
            case Declared(player, _):
                view = replace(view, passed=(*view.passed, player))
                if player == seat:
                    view = replace(view, held=(), discarded=view.held)
            case Played(player, card, _):
                played = list(view.played)
                played[player] = (*played[player], card)
                left = tuple(each for each in view.held if each != card)
                view = replace(view, held=left, played=tuple(played), trick=())
            case Won(winner):
                view = replace(view, winners=(*view.winners, winner), leader=winner)
            case Scored():
                view = replace(view, chips=event.chips, pot=event.pot)
    return replace(view, phase=Phase.OVER, to_act=None)


def _seat(eye: Eye, view: View, seat: Seat, scored: Scored | None) -> SeatScene:
    own: View | None = eye.own_view(seat)
    passed = seat in view.passed
    held = None if own is None else by_suit(own.discarded if passed else own.held)
    size = 0 if passed else HAND - len(view.played[seat])
    shown = hand(size, held, tone=Tone.DIM if passed else Tone.PLAIN)
    flush = eye.last_told(FlushShown)
    if flush is not None and flush.seat == seat:
        flushed = Group(cards(by_suit(flush.cards), Tone.MARKED), ("flush",))
        shown = Zone("flush", Kind.MELD, (flushed,))
    badges = [DEALER] if seat == view.dealer else []
    if flush is not None and seat in flush.exempt:
        badges.append(Badge(("has a flush or Pam",)))
    if scored is not None and seat in scored.looed:
        badges.append(Badge(("looed",), Tone.WRONG))
    return SeatScene(
        seat,
        f"{view.chips[seat]:+}",
        tuple(badges),
        _facts(view, seat, scored),
        shown_zones(shown, tricks(view.winners.count(seat)), said(_latest(view, seat))),
        active=view.to_act == seat,
        out=passed,
    )


def _facts(view: View, seat: Seat, scored: Scored | None) -> tuple[Fact, ...]:
    facts = []
    if view.exchanged[seat]:
        facts.append(fact("exchanged", view.exchanged[seat]))
    if scored is not None and (scored.won[seat] or seat in scored.looed):
        gained = scored.won[seat] - FEE * (seat in scored.looed)
        facts.append(fact("this hand", f"{gained:+}", tone=Tone.MARKED))
    return tuple(facts)


def _latest(view: View, seat: Seat) -> Line:
    if seat in view.passed:
        return ("passes",)
    if seat in view.players and not any(view.played):
        return ("plays",)
    return ()


def _trick(view: View) -> Zone:
    """The trick that is played, or the last one until the next is led."""
    number = len(view.winners) + bool(view.trick)
    if not number or not view.players:
        return trick(())
    title = (f"trick {number} of {HAND}",)
    leader = view.winners[number - 2] if number > 1 else view.players[0]
    at = view.players.index(leader)
    order = view.players[at:] + view.players[:at]
    if view.trick:
        return trick(list(zip(order, view.trick, strict=False)), title=title)
    last = [(seat, view.played[seat][-1]) for seat in order]
    return trick(last, view.winners[-1], title)


def _reasons(event: Scored) -> tuple[Line, ...]:
    won = listed(
        [line(Name(Seat(seat)), f" {chips}") for seat, chips in enumerate(event.won) if chips]
    )
    looed = event.looed
    return tuple(
        each
        for each in (
            (_ENDINGS[event.ending],),
            line("Won: ", *won, ".") if won else (),
            line("Looed: ", *names(looed), f" — {FEE} each into the next pot.") if looed else (),
            line("In all: ", *by_seat(event.chips, signed=True), "."),
        )
        if each
    )
