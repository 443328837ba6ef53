"""Scenes of Democracy."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.games.cards import JOKER, SUITS
from arena.games.contract import Event, Seat
from arena.games.democracy import messages as democracy
from arena.games.democracy.messages import Phase, View
from arena.games.democracy.scoring import TRIBE_POINTS, capture, tribes_of
from arena.pictures import drawing as draw
from arena.pictures.choices import Asks, MoveWords, Widget
from arena.pictures.sentences import Sentences, by_seat, joined, line, listed
from arena.pictures.viewer import Perspective
from arena.pictures.vocabulary import (
    Card,
    Face,
    Fact,
    Line,
    Name,
    Scene,
    SeatScene,
    Suit,
    Tone,
    Zone,
    ZoneKind,
)

HAND_ENDS: Final = (democracy.Scored,)
SENTENCES: Final[Sentences] = {
    democracy.DayBegan: lambda event: (
        "The second day of the island: {hand_size:count card} each."
        if event.day > 1
        else "A new island. {dealer} deals {hand_size:count card} each, for the first day."
    ),
    democracy.Dealt: "{seat} gets {cards}.",
    democracy.TurnedUp: lambda event: (
        "A joker is turned up: there is no trump."
        if event.upcard == JOKER
        else "{upcard} is turned up."
    ),
    democracy.Shown: lambda event: line(
        "All play: ",
        *listed([line(Name(Seat(seat)), " ", Face(card)) for seat, card in enumerate(event.cards)]),
        ". ",
        *(
            ("The highest tie, and each takes its own card back.",)
            if event.winner == democracy.TIE
            else (Name(Seat(event.winner)), " captures them and ", Face(event.upcard), ".")
        ),
    ),
    democracy.Scored: lambda event: joined(_reasons(event)),
}

ASKS: Final[Asks] = {
    Phase.PLAY: (Widget.CLICK, "Play any card to {upcard}; all cards are shown together.")
}
MOVES: Final[MoveWords] = {democracy.PlayCard: "Play {card}"}


def scene(perspective: Perspective) -> Scene:
    """Draw hands around the upcard, the last trick, and the points of the four tribes."""
    view: View = perspective.view
    scored = perspective.last_event(democracy.Scored)
    return Scene(
        tuple(_seat(perspective, view, Seat(seat), scored) for seat in range(perspective.seats)),
        "tribes",
        draw.shown_zones(
            _upcard(view), draw.pile("pool", view.pool, "in the pool"), _trick(perspective, view)
        ),
        (
            *_trump(view),
            draw.fact("day", f"{view.day} of 2"),
            draw.goal(perspective.options, view.hand),
        ),
        () if scored is None else _reasons(scored),
    )


def close(view: View, events: Sequence[Event], seat: Seat | None) -> View:
    """Return the view at the end of an island: after its last trick."""
    for event in events:
        match event:
            case democracy.Shown(upcard, played, winner):
                taker = None if winner == democracy.TIE else Seat(winner)
                island = capture(view.island, upcard, played, taker)
                view = replace(view, island=island, held=(), hand_size=0)
            case democracy.Scored():
                view = replace(view, totals=event.totals)
    return replace(view, phase=Phase.OVER, upcard=None)


def _upcard(view: View) -> Zone:
    up = () if view.upcard is None else (Card(view.upcard, tag=("turned up",)),)
    lost = tuple(Card(code, Tone.DIM, ("lost",)) for code in view.island.discarded)
    return Zone("upcard", ZoneKind.TRICK, (*up, *lost))


def _trump(view: View) -> tuple[Fact, ...]:
    if view.upcard is None:
        return ()
    return (draw.fact("trump", "none" if view.upcard == JOKER else Suit(view.upcard[1])),)


def _trick(perspective: Perspective, view: View) -> Zone:
    island = view.island
    if not island.winners:
        return draw.trick(())
    last = island.plays[-perspective.seats :]
    upcard, winner = island.upcards[-1], island.winners[-1]
    tied = line(" · a tie" if winner == democracy.TIE else "")
    suit = ("a joker",) if upcard == JOKER else (Suit(upcard[1]),)
    title = line(f"last trick, number {len(island.winners)}, for ", *suit, *tied)
    return draw.trick(list(enumerate(last)), None if winner == democracy.TIE else winner, title)


def _seat(
    perspective: Perspective, view: View, seat: Seat, scored: democracy.Scored | None
) -> SeatScene:
    seat_view: View | None = perspective.view_of(seat)
    points = view.island.points[seat]
    facts = [
        draw.fact(_SYMBOLS[suit], have, tone=Tone.MARKED if have >= TRIBE_POINTS else Tone.PLAIN)
        for suit, have in zip(SUITS, _sums(points), strict=True)
    ]
    if scored is not None:
        facts.append(draw.gain("tribes", scored.tribes[seat]))
    return SeatScene(
        seat,
        str(view.totals[seat]),
        (draw.DEALER,) if seat == view.dealer else (),
        tuple(facts),
        draw.shown_zones(
            draw.hand(view.hand_size, None if seat_view is None else seat_view.held),
            draw.pile("captured", len(view.island.captured[seat]), "captured"),
        ),
        active=view.phase is Phase.PLAY,
    )


_SYMBOLS: Final = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}


def _sums(points: democracy.SuitPoints) -> tuple[int, int, int, int]:
    return points.clubs, points.diamonds, points.hearts, points.spades


def _reasons(event: democracy.Scored) -> tuple[Line, ...]:
    won: list[Line] = []
    for seat, points in enumerate(event.points):
        for suit in tribes_of(points):
            have = _sums(points)[SUITS.index(suit)]
            won.append(line(Name(Seat(seat)), " ", Suit(suit), f" with {have}"))
    tribes = listed(won) or ("nobody any",)
    return (
        line(f"A tribe is won with {TRIBE_POINTS} of its 25 points: ", *tribes, "."),
        line("Tribes in all: ", *by_seat(event.totals), "."),
    )
