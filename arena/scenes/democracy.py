"""Pictures of Democracy."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.cards import JOKER, SUITS
from arena.games.contract import Event, Seat
from arena.games.democracy.scoring import TRIBE_POINTS, capture, tribes_of
from arena.games.democracy.words import (
    TIE,
    DayBegan,
    Dealt,
    Phase,
    Scored,
    Shown,
    SuitPoints,
    TurnedUp,
    View,
)
from arena.scenes.drawing import DEALER, fact, goal, hand, pile, shown_zones, trick
from arena.scenes.eye import Eye
from arena.scenes.sentences import Words, by_seat, joined, line, listed
from arena.scenes.vocabulary import (
    Card,
    Face,
    Fact,
    Kind,
    Line,
    Name,
    Scene,
    SeatScene,
    Suit,
    Tone,
    Zone,
)

ENDS: Final = (Scored,)
WORDS: Final[Words] = {
    DayBegan: lambda event: (
        "The second day of the island: {hand_size:count card} each."
        if event.day > 1
        else "A new island. {dealer} deals {hand_size:count card} each, for the first day."
    ),
    Dealt: "{seat} gets {cards}.",
    TurnedUp: lambda event: (
        "A joker is turned up: there is no trump."
        if event.upcard == JOKER
        else "{upcard} is turned up."
    ),
    Shown: lambda event: line(
        "All play: ",
        *listed([line(Name(Seat(seat)), " ", Face(card)) for seat, card in enumerate(event.cards)]),
        ". ",
        *(
            ("The highest tie, and each takes its own card back.",)
            if event.winner == TIE
            else (Name(Seat(event.winner)), " captures them and ", Face(event.upcard), ".")
        ),
    ),
    Scored: lambda event: joined(_reasons(event)),
}

QUIET: Final[Words] = {}


def scene(eye: Eye) -> Scene:
    """The table: hands around the upcard, the last trick, and the points of the four tribes."""
    view: View = eye.view
    scored = eye.last_told(Scored)
    return Scene(
        tuple(_seat(eye, view, Seat(seat), scored) for seat in range(eye.seats)),
        "tribes",
        shown_zones(_upcard(view), pile("pool", view.pool, "in the pool"), _trick(eye, view)),
        (*_trump(view), fact("day", f"{view.day} of 2"), goal(eye.options, view.hand)),
        () if scored is None else _reasons(scored),
    )


def close(view: View, told: Sequence[Event], seat: Seat | None) -> View:
    """The island's last picture: its last trick, and the tribes won."""
    for event in told:
        match event:
            case Shown(upcard, played, winner):
                taker = None if winner == TIE else Seat(winner)
                island = capture(view.island, upcard, played, taker)
                view = replace(view, island=island, held=(), hand_size=0)
            case Scored():
                view = replace(view, totals=event.totals)
    return replace(view, phase=Phase.OVER, upcard=None)


def _upcard(view: View) -> Zone:
    """What is played for now, and the upcards that ties have cost."""
    up = () if view.upcard is None else (Card(view.upcard, tag=("turned up",)),)
    lost = tuple(Card(code, Tone.DIM, ("lost",)) for code in view.island.discarded)
    return Zone("upcard", Kind.TRICK, (*up, *lost))


def _trump(view: View) -> tuple[Fact, ...]:
    if view.upcard is None:
        return ()
    return (fact("trump", "none" if view.upcard == JOKER else Suit(view.upcard[1])),)


def _trick(eye: Eye, view: View) -> Zone:
    """The last trick that was shown."""
    island = view.island
    if not island.winners:
        return trick(())
    last = island.plays[-eye.seats :]
    upcard, winner = island.upcards[-1], island.winners[-1]
    tied = line(" · a tie" if winner == TIE else "")
    suit = ("a joker",) if upcard == JOKER else (Suit(upcard[1]),)
    title = line(f"last trick, number {len(island.winners)}, for ", *suit, *tied)
    return trick(list(enumerate(last)), None if winner == TIE else winner, title)


def _seat(eye: Eye, view: View, seat: Seat, scored: Scored | None) -> SeatScene:
    own: View | None = eye.own_view(seat)
    points = view.island.points[seat]
    facts = [
        fact(_SYMBOLS[suit], have, tone=Tone.MARKED if have >= TRIBE_POINTS else Tone.PLAIN)
        for suit, have in zip(SUITS, _sums(points), strict=True)
    ]
    if scored is not None:
        facts.append(fact("tribes", f"{scored.tribes[seat]:+}", tone=Tone.MARKED))
    return SeatScene(
        seat,
        str(view.totals[seat]),
        (DEALER,) if seat == view.dealer else (),
        tuple(facts),
        shown_zones(
            hand(view.hand_size, None if own is None else own.held),
            pile("captured", len(view.island.captured[seat]), "captured"),
        ),
        active=view.phase is Phase.PLAY,
    )


_SYMBOLS: Final = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}


def _sums(points: SuitPoints) -> tuple[int, int, int, int]:
    return points.clubs, points.diamonds, points.hearts, points.spades


def _reasons(event: Scored) -> tuple[Line, ...]:
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
