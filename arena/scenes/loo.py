"""Scenes of Loo."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.cards import without
from arena.games.contract import Event, Seat, with_entry
from arena.games.loo import messages as loo
from arena.games.loo.messages import Phase, View
from arena.games.loo.tricks import PAM
from arena.scenes import drawing as draw
from arena.scenes.sentences import Sentences, by_seat, joined, line, listed, names
from arena.scenes.viewer import Perspective
from arena.scenes.vocabulary import (
    Badge,
    Card,
    Chips,
    Fact,
    Group,
    Line,
    Name,
    Scene,
    SeatScene,
    Suit,
    Tone,
    Zone,
    ZoneKind,
)

_ENDINGS: Final = {
    loo.Ending.ALL_PASSED: "All have passed: the pot stays for the next hand.",
    loo.Ending.WALKOVER: "Nobody else plays: the pot is taken without a trick.",
    loo.Ending.FLUSH: "The best flush takes the pot, and every player without a flush or Pam pays.",
    loo.Ending.PLAYED: "Each trick takes an equal share of the pot, and every player without a trick pays.",
}

HAND_ENDS: Final = (loo.Scored,)
SENTENCES: Final[Sentences] = {
    loo.Began: (
        "A hand is dealt. {dealer} deals and pays: {pot} in the pot. {upcard} is turned up, "
        "and its suit is trump."
    ),
    loo.Dealt: "{seat} gets {cards}.",
    loo.Declared: lambda event: "{seat} plays." if event.plays else "{seat} passes.",
    loo.Exchanged: lambda event: (
        "{seat} exchanges {count:count card}." if event.count else "{seat} exchanges nothing."
    ),
    loo.Drawn: "{seat} draws {cards}.",
    loo.Recycled: "The stock is empty: {count:count dead card} are shuffled into a new one.",
    loo.FlushShown: lambda event: (
        "{seat} shows a flush: {cards}. {exempt:seats} need not pay."
        if event.exempt
        else "{seat} shows a flush: {cards}."
    ),
    loo.Played: lambda event: (
        "{seat} plays {card} and says “Pam be civil”." if event.civil else "{seat} plays {card}."
    ),
    loo.Won: "{seat} takes the trick.",
    loo.Scored: lambda event: joined(_reasons(event)),
    loo.Hold: "shows nothing",
}


def scene(perspective: Perspective) -> Scene:
    """Draw the pot, the upcard, and the trick between the players."""
    view: View = perspective.view
    scored = perspective.last_event(loo.Scored)
    pot = view.pot if scored is None else sum(scored.won) or scored.pot
    what = "in the pot" if scored is None or not any(scored.won) else "was in the pot"
    no_pam = (draw.fact("Pam", "is not in play"),) if _lacks_pam(perspective) else ()
    civil = (draw.fact("Pam", "must be civil"),) if view.civil else ()
    return Scene(
        tuple(_seat(perspective, view, Seat(seat), scored) for seat in range(perspective.seats)),
        "chips",
        draw.shown_zones(
            Zone("upcard", ZoneKind.TRICK, (Card(view.upcard, Tone.DIM, ("turned up",)),)),
            draw.pile("stock", view.stock, "in the stock"),
            Zone("pot", ZoneKind.CHIPS, (Chips(pot, (what,)),)),
            _trick(view, perspective.options.hand_size),
        ),
        (
            draw.fact("trump", Suit(view.upcard[1])),
            *no_pam,
            *civil,
            draw.goal(perspective.options, view.hand),
        ),
        () if scored is None else _reasons(scored),
    )


def _lacks_pam(perspective: Perspective) -> bool:
    return not perspective.options.has_pam or perspective.view.upcard == PAM


def close(view: View, events: Sequence[Event], seat: Seat | None) -> View:
    """Return the view at the end of a hand: after the last trick, a flush, or the last pass."""
    for event in events:
        match event:
            case loo.Declared(player, True):
                view = replace(view, players=(*view.players, player))
            case loo.Declared(player, _):
                view = replace(view, passed=(*view.passed, player))
                if player == seat:
                    view = replace(view, held=(), discarded=view.held)
            case loo.Played(player, card, _):
                played = with_entry(view.played, player, (*view.played[player], card))
                view = replace(view, held=without(view.held, (card,)), played=played, trick=())
            case loo.Won(winner):
                view = replace(view, winners=(*view.winners, winner), leader=winner)
            case loo.Scored():
                view = replace(view, chips=event.chips, pot=event.pot)
    return replace(view, phase=Phase.OVER, to_act=None)


def _seat(perspective: Perspective, view: View, seat: Seat, scored: loo.Scored | None) -> SeatScene:
    own: View | None = perspective.view_of(seat)
    passed = seat in view.passed
    held = None if own is None else draw.by_suit(own.discarded if passed else own.held)
    size = 0 if passed else perspective.options.hand_size - len(view.played[seat])
    shown = draw.hand(size, held, tone=Tone.DIM if passed else Tone.PLAIN)
    flush = perspective.last_event(loo.FlushShown)
    if flush is not None and flush.seat == seat:
        flushed = Group(draw.cards(draw.by_suit(flush.cards), Tone.MARKED), ("flush",))
        shown = Zone("flush", ZoneKind.MELD, (flushed,))
    badges = []
    if flush is not None and seat in flush.exempt:
        badges.append(Badge(("has a flush or Pam",)))
    if scored is not None and seat in scored.looed:
        badges.append(Badge(("looed",), Tone.WRONG))
    zones = (shown, draw.tricks(view.winners.count(seat)), draw.said(_latest(view, seat)))
    facts = _facts(perspective, seat, scored)
    return draw.seat_scene(view, seat, f"{view.chips[seat]:+}", badges, facts, zones, out=passed)


def _facts(perspective: Perspective, seat: Seat, scored: loo.Scored | None) -> tuple[Fact, ...]:
    view: View = perspective.view
    facts = []
    if view.exchanged[seat]:
        facts.append(draw.fact("exchanged", view.exchanged[seat]))
    if scored is not None and (scored.won[seat] or seat in scored.looed):
        gained = scored.won[seat] - perspective.options.hand_size * (seat in scored.looed)
        facts.append(draw.gain("this hand", gained))
    return tuple(facts)


def _latest(view: View, seat: Seat) -> Line:
    if seat in view.passed:
        return ("passes",)
    if seat in view.players and not any(view.played):
        return ("plays",)
    return ()


def _trick(view: View, tricks: int) -> Zone:
    """Return the current trick, or the last one until the next lead."""
    number = len(view.winners) + bool(view.trick)
    if not number or not view.players:
        return draw.trick(())
    title = (f"trick {number} of {tricks}",)
    leader = view.winners[number - 2] if number > 1 else view.players[0]
    at = view.players.index(leader)
    order = view.players[at:] + view.players[:at]
    if view.trick:
        return draw.trick(list(zip(order, view.trick, strict=False)), title=title)
    last = [(seat, view.played[seat][-1]) for seat in order]
    return draw.trick(last, view.winners[-1], title)


def _reasons(event: loo.Scored) -> tuple[Line, ...]:
    won = listed(
        [line(Name(Seat(seat)), f" {chips}") for seat, chips in enumerate(event.won) if chips]
    )
    looed = event.looed
    fee = event.pot // len(looed) if looed else 0  # the pot was paid out
    return tuple(
        each
        for each in (
            (_ENDINGS[event.ending],),
            line("Won: ", *won, ".") if won else (),
            line("Looed: ", *names(looed), f" — {fee} each into the next pot.") if looed else (),
            line("In all: ", *by_seat(event.chips, signed=True), "."),
        )
        if each
    )
