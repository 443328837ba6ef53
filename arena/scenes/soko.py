"""Pictures of Soko."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena import poker
from arena.cards import Card as Code
from arena.games.betting.match import HandEnded
from arena.games.contract import Event, Seat
from arena.games.soko.rules import LAST_ROUND
from arena.games.soko.words import (
    BroughtIn,
    Dealt,
    HandBegan,
    Phase,
    PotWon,
    Shown,
    UpcardsDealt,
    View,
)
from arena.scenes import betting
from arena.scenes.drawing import cards, fact, goal, shown_zones
from arena.scenes.eye import Eye
from arena.scenes.sentences import Words, faces, line, listed, names
from arena.scenes.vocabulary import (
    Badge,
    Card,
    Face,
    Fact,
    Kind,
    Line,
    Name,
    Scene,
    SeatScene,
    Tone,
    Zone,
)

_FIVE: Final = 5

ENDS: Final = (HandEnded,)
WORDS: Final[Words] = {
    **betting.WORDS,
    HandBegan: "A hand is dealt. {dealer} deals; each seat gets a card down and a card up.",
    Dealt: "{seat} gets {card} face down.",
    UpcardsDealt: lambda event: line(
        "Dealt face up: ",
        *listed(
            [
                line(Name(seat), " ", Face(card))
                for seat, card in zip(event.seats, event.cards, strict=True)
            ]
        ),
        ".",
    ),
    BroughtIn: "{seat} has the lowest card and brings in {to}.",
    Shown: "{seat} turns over {card}.",
    PotWon: lambda event: line(*_winning(event), "."),
}

QUIET: Final[Words] = {}


def scene(eye: Eye) -> Scene:
    """The table: a card down and up to four up for each seat, and the pots."""
    view: View = eye.view
    ended = eye.last_told(HandEnded)
    won = eye.all_told(PotWon)
    options = eye.options
    limits = fact("limit", f"{view.min_bet} to {view.max_bet}")
    return Scene(
        tuple(_seat(eye, view, Seat(seat), ended) for seat in range(eye.seats)),
        "chips",
        shown_zones(betting.pots(view.chips, view.live, won)),
        (*_task(view), limits, fact("ante", options.ante), goal(options, view.hand)),
        () if ended is None else _reasons(eye, view, won),
    )


def close(view: View, told: Sequence[Event], seat: Seat | None) -> View:
    """The hand's last picture: the last bets and cards, and the pots paid out."""
    won = [each for each in told if isinstance(each, PotWon)]
    for event in told:
        view = replace(
            view,
            chips=betting.chips_after(view.chips, event),
            line=betting.line_after(view.line, event),
        )
        match event:
            case BroughtIn(player, to):
                bets, stacks = list(view.chips.bets), list(view.chips.stacks)
                bets[player] += to
                stacks[player] -= to
                view = replace(
                    view, chips=replace(view.chips, bets=tuple(bets), stacks=tuple(stacks))
                )
            case UpcardsDealt(number, seats, dealt):
                upcards = list(view.upcards)
                for player, card in zip(seats, dealt, strict=True):
                    upcards[player] = (*upcards[player], card)
                view = replace(view, round=number, upcards=tuple(upcards))
            case HandEnded(_, _, totals):
                view = replace(view, totals=totals)
    if won:
        view = replace(view, live=won[0].eligible)
    chips = betting.paid_out(view.chips, won)
    return replace(view, phase=Phase.OVER, to_act=None, chips=chips, to_call=0)


def _task(view: View) -> tuple[Fact, ...]:
    number = fact("round", f"{view.round} of {LAST_ROUND}")
    if view.phase is Phase.BRING_IN:
        return (number, fact("now", "the lowest card brings in"))
    return (number,) if view.phase is Phase.OVER else (number, fact("to call", view.to_call))


def _seat(eye: Eye, view: View, seat: Seat, ended: HandEnded | None) -> SeatScene:
    live = seat in view.live
    return SeatScene(
        seat,
        f"{view.totals[seat]:+}",
        (Badge(("dealer",), Tone.MARKED),) if seat == view.dealer else (),
        betting.stack(view.chips, seat, ended),
        shown_zones(
            _holding(eye, view, seat, live=live),
            betting.bet(view.chips, seat),
            betting.last_action(view.line, seat),
        ),
        active=view.to_act == seat,
        out=not live,
    )


def _holding(eye: Eye, view: View, seat: Seat, *, live: bool) -> Zone:
    """The card down, where the eye may see it, and those up."""
    upcards = view.upcards[seat]
    if not upcards:  # out of the match
        return Zone("hand", Kind.FAN, ())
    own: View | None = eye.own_view(seat)
    hole = _shown_by(eye, seat)
    known = hole if hole is not None else None if own is None else own.hole
    tone = Tone.PLAIN if live else Tone.DIM
    if hole is not None and _wins(eye, seat):
        tone = Tone.MARKED
    down = Card(known, tone, ("down",))
    every = (*upcards, known)
    title: Line = ()
    if known is not None and len(every) == _FIVE:
        title = (poker.hand_class(poker.soko((*upcards, known))).label,)
    return Zone("hand", Kind.ROW, (down, *cards(upcards, tone)), title)


def _shown_by(eye: Eye, seat: int) -> Code | None:
    return next((each.card for each in eye.all_told(Shown) if each.seat == seat), None)


def _wins(eye: Eye, seat: Seat) -> bool:
    return any(seat in won.winners for won in eye.all_told(PotWon))


def _winning(event: PotWon) -> Line:
    if len(event.winners) == 1:
        return line(*names(event.winners), f" wins {event.amount}")
    return line(*names(event.winners), f" share {event.amount}: ", *betting.shared_out(event))


def _reasons(eye: Eye, view: View, won: Sequence[PotWon]) -> tuple[Line, ...]:
    lines = []
    for pot in won:
        first = pot.winners[0]
        hole = _shown_by(eye, first)
        if hole is None:
            lines.append(line(*_winning(pot), ": all others have folded."))
            continue
        held = (hole, *view.upcards[first])
        called = poker.hand_class(poker.soko(held)).label
        lines.append(line(*_winning(pot), f" with {called}: ", *faces(held), "."))
    return tuple(lines)
