"""Scenes of Soko."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.games import poker
from arena.games.betting.match import HandEnded
from arena.games.betting.moves import BringIn
from arena.games.betting.rounds import Structure, put_in
from arena.games.cards import Card as Code
from arena.games.contract import Event, Seat
from arena.games.soko import messages as soko
from arena.games.soko.messages import Phase, View
from arena.games.soko.rules import LAST_ROUND
from arena.pictures import betting
from arena.pictures import drawing as draw
from arena.pictures.choices import Asks, MoveWords, Widget
from arena.pictures.sentences import Sentences, faces, line, listed, names
from arena.pictures.viewer import Perspective
from arena.pictures.vocabulary import (
    Card,
    Face,
    Fact,
    Line,
    Name,
    Scene,
    SeatScene,
    Tone,
    Zone,
    ZoneKind,
)

_FIVE: Final = 5
_UNCAPPED: Final = {Structure.POT: "pot-limit", Structure.NOLIMIT: "no-limit"}

HAND_ENDS: Final = (HandEnded,)
SENTENCES: Final[Sentences] = {
    **betting.SENTENCES,
    soko.HandBegan: "A hand is dealt. {dealer} deals; each seat gets a card down and a card up.",
    soko.Dealt: "{seat} gets {card} face down.",
    soko.UpcardsDealt: lambda event: line(
        "Dealt face up: ",
        *listed(
            [
                line(Name(player), " ", Face(card))
                for player, card in zip(event.seats, event.cards, strict=True)
            ]
        ),
        ".",
    ),
    soko.BroughtIn: "{seat} has the lowest card and brings in {to}.",
    soko.Shown: "{seat} turns over {card}.",
    soko.PotWon: lambda event: line(*_winning(event), "."),
}

ASKS: Final[Asks] = {
    Phase.BRING_IN: (Widget.AMOUNT, "You have the lowest card and must open."),
    Phase.BET: (Widget.AMOUNT, "There are {to_call} chips to call."),
}
MOVES: Final[MoveWords] = {**betting.MOVES, BringIn: "Bring in {to}"}


def scene(perspective: Perspective) -> Scene:
    """Draw a card down and up to four cards up for each seat, and the pots."""
    view: View = perspective.view
    ended = perspective.last_event(HandEnded)
    won = perspective.events_of(soko.PotWon)
    options = perspective.options
    most = f"to {view.max_bet}" if view.max_bet else f"and up, {_UNCAPPED[options.structure]}"
    limits = draw.fact("limit", f"{view.min_bet} {most}")
    return Scene(
        tuple(_seat(perspective, view, Seat(seat), ended) for seat in range(perspective.seats)),
        "chips",
        draw.shown_zones(betting.pots(view.chips, view.live, won)),
        (*_task(view), limits, draw.fact("ante", options.ante), draw.goal(options, view.hand)),
        () if ended is None else _reasons(perspective, view, won),
    )


def close(view: View, events: Sequence[Event], seat: Seat | None) -> View:
    """Return the view at the end of a hand: after the last bets and cards, with the pots paid out."""
    won = [event for event in events if isinstance(event, soko.PotWon)]
    for event in events:
        view = betting.after(view, event)
        match event:
            case soko.BroughtIn(player, to):
                view = replace(view, chips=put_in(view.chips, player, to))
            case soko.UpcardsDealt(number, seats, dealt):
                upcards = list(view.upcards)
                for player, card in zip(seats, dealt, strict=True):
                    upcards[player] = (*upcards[player], card)
                view = replace(view, round=number, upcards=tuple(upcards))
    return betting.paid_out(view, won, phase=Phase.OVER, to_act=None)


def _task(view: View) -> tuple[Fact, ...]:
    number = draw.fact("round", f"{view.round} of {LAST_ROUND}")
    if view.phase is Phase.BRING_IN:
        return (number, draw.fact("now", "the lowest card brings in"))
    return (number,) if view.phase is Phase.OVER else (number, draw.fact("to call", view.to_call))


def _seat(perspective: Perspective, view: View, seat: Seat, ended: HandEnded | None) -> SeatScene:
    return betting.seat_scene(view, seat, ended, _holding(perspective, view, seat))


def _holding(perspective: Perspective, view: View, seat: Seat) -> Zone:
    """Return the card down, if the viewer may see it, and the cards up."""
    upcards = view.upcards[seat]
    if not upcards:  # out of the match
        return Zone("hand", ZoneKind.FAN, ())
    seat_view: View | None = perspective.view_of(seat)
    hole = _shown_by(perspective, seat)
    known = hole if hole is not None else None if seat_view is None else seat_view.hole
    tone = Tone.PLAIN if seat in view.live else Tone.DIM
    if hole is not None and _wins(perspective, seat):
        tone = Tone.MARKED
    down = Card(known, tone, ("down",))
    every = (*upcards, known)
    title: Line = ()
    if known is not None and len(every) == _FIVE:
        title = (poker.hand_class(poker.soko((*upcards, known))).label,)
    return Zone("hand", ZoneKind.ROW, (down, *draw.cards(upcards, tone)), title)


def _shown_by(perspective: Perspective, seat: int) -> Code | None:
    shown = perspective.last_event(soko.Shown, seat)
    return None if shown is None else shown.card


def _wins(perspective: Perspective, seat: Seat) -> bool:
    return any(seat in won.winners for won in perspective.events_of(soko.PotWon))


def _winning(event: soko.PotWon) -> Line:
    if len(event.winners) == 1:
        return line(*names(event.winners), f" wins {event.amount}")
    return line(*names(event.winners), f" share {event.amount}: ", *betting.shared_out(event))


def _reasons(perspective: Perspective, view: View, won: Sequence[soko.PotWon]) -> tuple[Line, ...]:
    lines = []
    for pot in won:
        first = pot.winners[0]
        hole = _shown_by(perspective, first)
        if hole is None:
            lines.append(line(*_winning(pot), ": all others have folded."))
            continue
        held = (hole, *view.upcards[first])
        called = poker.hand_class(poker.soko(held)).label
        lines.append(line(*_winning(pot), f" with {called}: ", *faces(held), "."))
    return tuple(lines)
