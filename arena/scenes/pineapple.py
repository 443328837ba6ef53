"""Pictures of the three Pineapples."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena import poker
from arena.cards import Card as Code
from arena.games.betting.match import HandEnded
from arena.games.betting.rounds import Structure
from arena.games.contract import Event, Seat
from arena.games.pineapple.rules import HOLE
from arena.games.pineapple.state import BOARD
from arena.games.pineapple.words import (
    BoardDealt,
    Dealt,
    Discarded,
    GaveUp,
    HandBegan,
    Phase,
    PotWon,
    Shown,
    Street,
    View,
)
from arena.scenes import betting
from arena.scenes.drawing import cards, fact, goal, hand, shown_zones
from arena.scenes.eye import Eye
from arena.scenes.sentences import Words, line, names
from arena.scenes.vocabulary import (
    Badge,
    Card,
    Fact,
    Gap,
    Item,
    Kind,
    Line,
    Scene,
    SeatScene,
    Tone,
    Zone,
)

_DEALER: Final = Badge(("dealer",), Tone.MARKED)
_BOARD: Final = BOARD[Street.RIVER]

ENDS: Final = (HandEnded,)
WORDS: Final[Words] = {
    **betting.WORDS,
    HandBegan: "A hand is dealt, three cards each. {dealer} deals.",
    Dealt: "{seat} gets {cards}.",
    GaveUp: "{seat} gives up {card}.",
    Discarded: "{seats:seats} have given up a card each.",
    BoardDealt: "The {street}: {cards}.",
    Shown: "{seat} shows {cards}.",
    PotWon: lambda event: line(*_winning(event), "."),
}

QUIET: Final[Words] = {}


def scene(eye: Eye) -> Scene:
    """The table: the board and the pots, and what every seat has bet."""
    view: View = eye.view
    ended = eye.last_told(HandEnded)
    won = eye.all_told(PotWon)
    gaps: tuple[Item, ...] = (Gap(),) * (_BOARD - len(view.board))
    return Scene(
        tuple(_seat(eye, view, Seat(seat), ended) for seat in range(eye.seats)),
        "chips",
        shown_zones(
            Zone("board", Kind.ROW, (*cards(view.board), *gaps), ("board",)),
            betting.pots(view.chips, view.live, won),
        ),
        (*_task(view), *_stakes(eye), goal(eye.options, view.hand)),
        () if ended is None else _reasons(eye, view, won),
    )


def close(view: View, told: Sequence[Event], seat: Seat | None) -> View:
    """The hand's last picture: the last bets, the board, and the pots paid out."""
    won = [each for each in told if isinstance(each, PotWon)]
    for event in told:
        view = replace(
            view,
            chips=betting.chips_after(view.chips, event),
            line=betting.line_after(view.line, event),
        )
        match event:
            case GaveUp(_, card):
                left = tuple(each for each in view.held if each != card)
                view = replace(view, held=left, given_up=card)
            case BoardDealt(street, dealt):
                view = replace(view, street=street, board=(*view.board, *dealt))
            case HandEnded(_, _, totals):
                view = replace(view, totals=totals)
    if won:
        view = replace(view, live=won[0].eligible)
    chips = betting.paid_out(view.chips, won)
    return replace(view, phase=Phase.OVER, to_act=(), chips=chips, to_call=0)


def _task(view: View) -> tuple[Fact, ...]:
    if view.phase is Phase.DISCARD:
        return (fact("now", "all give up a card"),)
    street = fact("street", view.street)
    if view.phase is Phase.OVER:
        return (street,)
    return (street, fact("to call", view.to_call))


def _stakes(eye: Eye) -> tuple[Fact, ...]:
    """The structure of the betting, and what is posted."""
    options = eye.options
    blinds = f"{options.small_blind}/{options.big_blind}"
    ante = (fact("ante", options.ante),) if options.ante else ()
    if options.structure == Structure.FIXED:
        return (
            fact("fixed limit", f"{options.small_bet}/{options.big_bet}"),
            fact("blinds", blinds),
            *ante,
        )
    return (fact("no limit, blinds", blinds), *ante)


def _seat(eye: Eye, view: View, seat: Seat, ended: HandEnded | None) -> SeatScene:
    live = seat in view.live
    return SeatScene(
        seat,
        f"{view.totals[seat]:+}",
        (_DEALER,) if seat == view.dealer else (),
        betting.stack(view.chips, seat, ended),
        shown_zones(
            _holding(eye, view, seat, live=live),
            betting.bet(view.chips, seat),
            betting.last_action(view.line, seat),
        ),
        active=seat in view.to_act,
        out=not live,
    )


def _holding(eye: Eye, view: View, seat: Seat, *, live: bool) -> Zone:
    """The hole cards, as far as the eye may see them."""
    shown = next((each for each in eye.all_told(Shown) if each.seat == seat), None)
    own: View | None = eye.own_view(seat)
    given = None if own is None else own.given_up
    extra = () if given is None else (Card(given, Tone.DIM, ("given up",)),)
    if shown is not None:
        title = (_called((*shown.cards, *view.board)),)
        tone = Tone.MARKED if _wins(eye, seat) else Tone.PLAIN
        return Zone("hand", Kind.FAN, (*cards(shown.cards, tone), *extra), title)
    if own is not None:
        kept = cards(own.held, Tone.PLAIN if live else Tone.DIM)
        return Zone("hand", Kind.FAN, (*kept, *extra))
    if not live:
        return Zone("hand", Kind.FAN, ())
    discarded = eye.last_told(Discarded) is not None
    return hand(HOLE - discarded, None)


def _called(held: Sequence[Code]) -> str:
    """What the best five of a full board and two hole cards are called."""
    return poker.hand_class(poker.standard(held)).label if len(held) > _BOARD else ""


def _wins(eye: Eye, seat: Seat) -> bool:
    return any(seat in (*won.winners, *won.low_winners) for won in eye.all_told(PotWon))


def _winning(event: PotWon) -> Line:
    """Who takes a pot, and with which half."""
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


def _reasons(eye: Eye, view: View, won: Sequence[PotWon]) -> tuple[Line, ...]:
    shown = {each.seat: each.cards for each in eye.all_told(Shown)}
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
