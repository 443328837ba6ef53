"""Scenes of the Pineapple games."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from arena.games import poker
from arena.games.betting.match import HandEnded
from arena.games.betting.rounds import Structure
from arena.games.cards import Card as Code
from arena.games.cards import without
from arena.games.contract import Event, Seat
from arena.games.pineapple import messages as pineapple
from arena.games.pineapple.messages import Phase, View
from arena.games.pineapple.rules import HOLE
from arena.games.pineapple.state import BOARD
from arena.pictures import betting
from arena.pictures import drawing as draw
from arena.pictures.choices import Asks, MoveWords, Widget
from arena.pictures.sentences import Sentences, line, names
from arena.pictures.viewer import Perspective
from arena.pictures.vocabulary import (
    Card,
    Fact,
    Gap,
    Item,
    Line,
    Scene,
    SeatScene,
    Tone,
    Zone,
    ZoneKind,
)

_BOARD: Final = BOARD[pineapple.Street.RIVER]

HAND_ENDS: Final = (HandEnded,)
SENTENCES: Final[Sentences] = {
    **betting.SENTENCES,
    pineapple.HandBegan: "A hand is dealt, three cards each. {dealer} deals.",
    pineapple.Dealt: "{seat} gets {cards}.",
    pineapple.GaveUp: "{seat} gives up {card}.",
    pineapple.Discarded: "{seats:seats} have given up a card each.",
    pineapple.BoardDealt: "The {street}: {cards}.",
    pineapple.Shown: "{seat} shows {cards}.",
    pineapple.PotWon: lambda event: line(*_winning(event), "."),
}

ASKS: Final[Asks] = {
    Phase.BET: (Widget.AMOUNT, "There are {to_call} chips to call."),
    Phase.DISCARD: (Widget.CLICK, "Give up one of your three cards; it is not shown."),
}
MOVES: Final[MoveWords] = {**betting.MOVES, pineapple.Discard: "Give up {card}"}


def scene(perspective: Perspective) -> Scene:
    """Draw the board, the pots and the bets."""
    view: View = perspective.view
    ended = perspective.last_event(HandEnded)
    won = perspective.events_of(pineapple.PotWon)
    gaps: tuple[Item, ...] = (Gap(),) * (_BOARD - len(view.board))
    winning = _winning_five(perspective, won[0].winners[0]) if won else ()
    board = tuple(Card(code, _marked(code in winning)) for code in view.board)
    return Scene(
        tuple(_seat(perspective, view, Seat(seat), ended) for seat in range(perspective.seats)),
        "chips",
        draw.shown_zones(
            Zone("board", ZoneKind.ROW, (*board, *gaps), ("board",)),
            betting.pots(view.chips, view.live, won),
        ),
        (*_task(view), *_stakes(perspective), draw.goal(perspective.options, view.hand)),
        () if ended is None else _reasons(perspective, view, won),
    )


def close(view: View, events: Sequence[Event], seat: Seat | None) -> View:
    """Return the view at the end of a hand: after the last bets, with the pots paid out."""
    won = [event for event in events if isinstance(event, pineapple.PotWon)]
    for event in events:
        view = betting.after(view, event)
        match event:
            case pineapple.GaveUp(_, card):
                view = replace(view, held=without(view.held, (card,)), given_up=card)
            case pineapple.BoardDealt(street, dealt):
                view = replace(view, street=street, board=(*view.board, *dealt))
    return betting.paid_out(view, won, phase=Phase.OVER, to_act=())


def _task(view: View) -> tuple[Fact, ...]:
    if view.phase is Phase.DISCARD:
        return (draw.fact("now", "all give up a card"),)
    street = draw.fact("street", view.street)
    if view.phase is Phase.OVER:
        return (street,)
    return (street, draw.fact("to call", view.to_call))


def _stakes(perspective: Perspective) -> tuple[Fact, ...]:
    options = perspective.options
    blinds = f"{options.small_blind}/{options.big_blind}"
    ante = (draw.fact("ante", options.ante),) if options.ante else ()
    if options.structure == Structure.FIXED:
        return (
            draw.fact("fixed limit", f"{options.small_bet}/{options.big_bet}"),
            draw.fact("blinds", blinds),
            *ante,
        )
    return (draw.fact("no limit, blinds", blinds), *ante)


def _seat(perspective: Perspective, view: View, seat: Seat, ended: HandEnded | None) -> SeatScene:
    return betting.seat_scene(view, seat, ended, _holding(perspective, view, seat))


def _holding(perspective: Perspective, view: View, seat: Seat) -> Zone:
    live = seat in view.live
    shown = perspective.last_event(pineapple.Shown, seat)
    seat_view: View | None = perspective.view_of(seat)
    given = None if seat_view is None else seat_view.given_up
    extra = () if given is None else (Card(given, Tone.DIM, ("given up",)),)
    if shown is not None:
        title = (_called((*shown.cards, *view.board)),)
        winning = _winning_five(perspective, seat)
        cards = (Card(code, _marked(code in winning)) for code in shown.cards)
        return Zone("hand", ZoneKind.FAN, (*cards, *extra), title)
    if seat_view is not None:
        kept = draw.cards(seat_view.held, Tone.PLAIN if live else Tone.DIM)
        return Zone("hand", ZoneKind.FAN, (*kept, *extra))
    if not live:
        return Zone("hand", ZoneKind.FAN, ())
    discarded = perspective.last_event(pineapple.Discarded) is not None
    return draw.hand(HOLE - discarded, None)


def _called(held: Sequence[Code]) -> str:
    """Return the name of the best five of a full board and two hole cards."""
    return poker.hand_class(poker.standard(held)).label if len(held) > _BOARD else ""


def _marked(winning: bool) -> Tone:
    return Tone.MARKED if winning else Tone.PLAIN


def _winning_five(perspective: Perspective, seat: Seat) -> Sequence[Code]:
    """Return the five cards with which a seat won a pot, or its low half; none if it did not or showed no cards."""
    won, shown = (
        perspective.events_of(pineapple.PotWon),
        perspective.last_event(pineapple.Shown, seat),
    )
    if shown is None:
        return ()
    fives = tuple(combinations((*shown.cards, *perspective.view.board), 5))
    if any(seat in pot.winners for pot in won):
        return max(fives, key=poker.standard)
    if any(seat in pot.low_winners for pot in won):
        return max(fives, key=lambda five: poker.eight_or_better(five) or 0)
    return ()


def _winning(event: pineapple.PotWon) -> Line:
    if not event.low_winners:
        return line(
            *names(event.winners),
            f" wins {event.amount}" if len(event.winners) == 1 else f" share {event.amount}",
        )
    return line(
        f"{event.amount} are split: ",
        *names(event.winners),
        " with the best hand, ",
        *names(event.low_winners),
        " with the low; ",
        *betting.shared_out(event),
    )


def _reasons(
    perspective: Perspective, view: View, won: Sequence[pineapple.PotWon]
) -> tuple[Line, ...]:
    shown = {event.seat: event.cards for event in perspective.events_of(pineapple.Shown)}
    lines = []
    for pot in won:
        (first, *_) = pot.winners
        if first not in shown:
            lines.append(line(*_winning(pot), ": all others have folded."))
            continue
        called = _called((*shown[first], *view.board))
        lines.append(
            line(
                *_winning(pot), f" with {called}." if not pot.low_winners else f" (high: {called})."
            )
        )
    return tuple(lines)
