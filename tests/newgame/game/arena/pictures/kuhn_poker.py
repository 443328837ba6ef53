"""Scenes of Kuhn Poker."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.games.contract import Event, Seat
from arena.games.kuhn_poker import messages as kuhn_poker
from arena.games.kuhn_poker.messages import Phase, View
from arena.pictures import drawing as draw
from arena.pictures.choices import Asks, MoveWords, Widget
from arena.pictures.sentences import Sentences, by_seat, joined, line
from arena.pictures.viewer import Perspective
from arena.pictures.vocabulary import Chips, Line, Scene, SeatScene, Zone, ZoneKind

HAND_ENDS: Final = (kuhn_poker.Scored,)
SENTENCES: Final[Sentences] = {
    kuhn_poker.Began: "A hand is dealt. {dealer} deals; both pay one chip.",
    kuhn_poker.Dealt: "{seat} gets {card}.",
    kuhn_poker.Acted: lambda event: (
        "{seat} puts a chip in." if event.bet else "{seat} puts nothing in."
    ),
    kuhn_poker.Shown: "Both show their cards: {cards}.",
    kuhn_poker.Scored: lambda event: joined(_sums(event)),
}
ASKS: Final[Asks] = {Phase.BET: (Widget.CLICK, "Put a chip in, or nothing.")}
MOVES: Final[MoveWords] = {
    kuhn_poker.Check: "Check",
    kuhn_poker.Bet: "Bet a chip",
    kuhn_poker.Fold: "Fold",
    kuhn_poker.Call: "Call with a chip",
}
_WORDS: Final[Sentences] = {kuhn_poker.Acted: lambda event: "a chip" if event.bet else "nothing"}


def scene(perspective: Perspective) -> Scene:
    """Draw a card and the chips of each seat."""
    view: View = perspective.view
    scored = perspective.last_event(kuhn_poker.Scored)
    return Scene(
        tuple(_seat(perspective, view, Seat(seat)) for seat in range(perspective.seats)),
        "chips",
        (),
        (draw.goal(perspective.options, view.hand),),
        () if scored is None else _sums(scored),
    )


def close(view: View, events: Sequence[Event], seat: Seat | None) -> View:
    """Return the view at the end of a hand: after the last chip."""
    for event in events:
        match event:
            case kuhn_poker.Acted(player, True):
                chips = list(view.chips)
                chips[player] += 1
                view = replace(view, chips=tuple(chips))
            case kuhn_poker.Scored():
                view = replace(view, totals=event.totals)
    return replace(view, phase=Phase.OVER, to_act=None)


def _seat(perspective: Perspective, view: View, seat: Seat) -> SeatScene:
    own: View | None = perspective.view_of(seat)
    shown, scored = (
        perspective.last_event(kuhn_poker.Shown),
        perspective.last_event(kuhn_poker.Scored),
    )
    card = shown.cards[seat] if shown else own.card if own else None
    gained = () if scored is None else (draw.gain("scores", scored.gained[seat]),)
    zones = (
        draw.hand(1, None if card is None else (card,)),
        Zone("chips", ZoneKind.CHIPS, (Chips(view.chips[seat], ("in the pot",)),)),
        draw.latest_words(seat, perspective.latest_events, _WORDS),
    )
    return draw.seat_scene(view, seat, f"{view.totals[seat]:+}", (), gained, zones)


def _sums(event: kuhn_poker.Scored) -> tuple[Line, ...]:
    return (
        line("Scored: ", *by_seat(event.gained, signed=True), "."),
        line("In all: ", *by_seat(event.totals, signed=True), "."),
    )
