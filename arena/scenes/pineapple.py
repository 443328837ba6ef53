"""Scenes of the Pineapple games."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena import poker
from arena.cards import Card as Code
from arena.cards import without
from arena.games.betting.match import HandEnded
from arena.games.betting.rounds import Structure
from arena.games.contract import Event, Seat
from arena.games.pineapple import messages as pineapple
from arena.games.pineapple.messages import Phase, View
from arena.games.pineapple.rules import HOLE
from arena.games.pineapple.state import BOARD
from arena.scenes import betting
from arena.scenes import drawing as draw
from arena.scenes.sentences import Sentences, line, names
from arena.scenes.viewer import Perspective
from arena.scenes.vocabulary import (
    Badge,
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

_DEALER: Final = Badge(("dealer",), Tone.MARKED)
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


def scene(perspective: Perspective) -> Scene:
    """Draw the board, the pots and the bets."""
    view: View = perspective.view
    ended = perspective.last_event(HandEnded)
    won = perspective.events_of(pineapple.PotWon)
    gaps: tuple[Item, ...] = (Gap(),) * (_BOARD - len(view.board))
    return Scene(
        tuple(_seat(perspective, view, Seat(seat), ended) for seat in range(perspective.seats)),
        "chips",
        draw.shown_zones(
            Zone("board", ZoneKind.ROW, (*draw.cards(view.board), *gaps), ("board",)),
            betting.pots(view.chips, view.live, won),
        ),
        (*_task(view), *_stakes(perspective), draw.goal(perspective.options, view.hand)),
        () if ended is None else _reasons(perspective, view, won),
    )


def close(view: View, events: Sequence[Event], seat: Seat | None) -> View:
    """Return the view at the end of a hand: after the last bets, with the pots paid out."""
    won = [each for each in events if isinstance(each, pineapple.PotWon)]
    for event in events:
        view = replace(
            view,
            chips=betting.chips_after(view.chips, event),
            line=betting.line_after(view.line, event),
        )
        match event:
            case pineapple.GaveUp(_, card):
                view = replace(view, held=without(view.held, (card,)), given_up=card)
            case pineapple.BoardDealt(street, dealt):
                view = replace(view, street=street, board=(*view.board, *dealt))
            case HandEnded(_, _, totals):
                view = replace(view, totals=totals)
    if won:
        view = replace(view, live=won[0].eligible)
    chips = betting.paid_out(view.chips, won)
    return replace(view, phase=Phase.OVER, to_act=(), chips=chips, to_call=0)


def _task(view: View) -> tuple[Fact, ...]:
    if view.phase is Phase.DISCARD:
        return (draw.fact("now", "all give up a card"),)
    street = draw.fact("street", view.street)
    if view.phase is Phase.OVER:
        return (street,)
    return (street, draw.fact("to call", view.to_call))


def _stakes(perspective: Perspective) -> tuple[Fact, ...]:
    """Return the betting structure, blinds and ante."""
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
    live = seat in view.live
    return SeatScene(
        seat,
        f"{view.totals[seat]:+}",
        (_DEALER,) if seat == view.dealer else (),
        betting.stack(view.chips, seat, ended),
        draw.shown_zones(
            _holding(perspective, view, seat, live=live),
            betting.bet(view.chips, seat),
            betting.last_action(view.line, seat),
        ),
        active=seat in view.to_act,
        out=not live,
    )


def _holding(perspective: Perspective, view: View, seat: Seat, *, live: bool) -> Zone:
    """Return the hole cards that the viewer may see."""
    shown = next(
        (each for each in perspective.events_of(pineapple.Shown) if each.seat == seat), None
    )
    own: View | None = perspective.view_of(seat)
    given = None if own is None else own.given_up
    extra = () if given is None else (Card(given, Tone.DIM, ("given up",)),)
    if shown is not None:
        title = (_called((*shown.cards, *view.board)),)
        tone = Tone.MARKED if _wins(perspective, seat) else Tone.PLAIN
        return Zone("hand", ZoneKind.FAN, (*draw.cards(shown.cards, tone), *extra), title)
    if own is not None:
        kept = draw.cards(own.held, Tone.PLAIN if live else Tone.DIM)
        return Zone("hand", ZoneKind.FAN, (*kept, *extra))
    if not live:
        return Zone("hand", ZoneKind.FAN, ())
    discarded = perspective.last_event(pineapple.Discarded) is not None
    return draw.hand(HOLE - discarded, None)


def _called(held: Sequence[Code]) -> str:
    """Return the name of the best five of a full board and two hole cards."""
    return poker.hand_class(poker.standard(held)).label if len(held) > _BOARD else ""


def _wins(perspective: Perspective, seat: Seat) -> bool:
    return any(
        seat in (*won.winners, *won.low_winners) for won in perspective.events_of(pineapple.PotWon)
    )


def _winning(event: pineapple.PotWon) -> Line:
    """Return the winners of a pot, or of its halves."""
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
    shown = {each.seat: each.cards for each in perspective.events_of(pineapple.Shown)}
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
