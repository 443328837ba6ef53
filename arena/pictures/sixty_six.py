"""Scenes of Sixty-Six."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from arena.games.contract import Event, Seat
from arena.games.sixty_six import messages as sixty_six
from arena.games.sixty_six.messages import Phase, View
from arena.games.sixty_six.scoring import Reason
from arena.pictures import drawing as draw
from arena.pictures.choices import Asks, MoveWords, Widget
from arena.pictures.sentences import Sentences, by_seat, fill, joined, line
from arena.pictures.two_hand_tricks import latest_trick, with_played
from arena.pictures.viewer import Perspective
from arena.pictures.vocabulary import (
    Badge,
    Card,
    Face,
    Fact,
    Line,
    Scene,
    SeatScene,
    Suit,
    Tone,
    Zone,
    ZoneKind,
)

_WHY: Final = {
    Reason.FALSE_CLAIM: "{loser} said it had 66 and was wrong: two points for {winner}.",
    Reason.FALSE_CLAIM_TRICKLESS: (
        "{loser} said it had 66 and was wrong, against a seat without a trick: "
        "three points for {winner}."
    ),
    Reason.CLOSER_SHORT: "{loser} closed the stock and fell short of 66: two points for {winner}.",
    Reason.CLOSER_SHORT_TRICKLESS: (
        "{loser} closed the stock when {winner} had no trick, and fell short of 66: "
        "three points for {winner}."
    ),
    Reason.SIXTY_SIX: "{winner} has 66, {loser} 33 or more: one point.",
    Reason.SCHNEIDER: "{winner} has 66, {loser} less than 33: two points.",
    Reason.SCHWARZ: "{winner} has 66, {loser} not one trick: three points.",
    Reason.NULL: "Nobody wins the hand: the next one counts a point more.",
}


@dataclass(frozen=True, slots=True)
class _Sides:
    """The fields of a sentence on the winner of a hand."""

    winner: Seat
    loser: Seat


HAND_ENDS: Final = (sixty_six.Scored,)
SENTENCES: Final[Sentences] = {
    sixty_six.Began: "A hand is dealt. {dealer} deals; {upcard} is turned up, and its suit is trump.",
    sixty_six.Dealt: "{seat} gets {cards}.",
    sixty_six.Claimed: "{seat} says that it has 66.",
    sixty_six.Closed: "{seat} closes the stock: nobody draws any more, and suit must be followed.",
    sixty_six.Exchanged: "{seat} takes {card} for the nine of trump.",
    sixty_six.Married: lambda event: (
        "{seat} shows king and queen of {suit:suit}, worth {value} with its first trick."
        if event.pending
        else "{seat} shows king and queen of {suit:suit}, worth {value}."
    ),
    sixty_six.Played: "{seat} plays {card}.",
    sixty_six.Won: "{seat} takes the trick, {value:count point}.",
    sixty_six.Drawn: "{seat} draws {card}.",
    sixty_six.Scored: lambda event: joined(_reasons(event)),
}
_WORDS: Final[Sentences] = {
    sixty_six.Claimed: "I have 66",
    sixty_six.Closed: "closed",
    sixty_six.Exchanged: "takes {card}",
    sixty_six.Married: lambda event: line(f"{event.value} in ", Suit(event.suit)),
}

ASKS: Final[Asks] = {
    Phase.LEAD: (Widget.CLICK, "You lead: play a card, or declare something first."),
    Phase.FOLLOW: (Widget.CLICK, "Play a card to {led}."),
}
MOVES: Final[MoveWords] = {
    sixty_six.Claim: "Claim 66 points",
    sixty_six.Close: "Close the stock",
    sixty_six.Exchange: lambda _, view: line("Take ", Face(view.upcard), " for the nine of trump"),
    sixty_six.Marriage: "Show king and queen of {suit:suit}",
    sixty_six.Play: "Play {card}",
}


def why_not(view: View, card: str) -> Line:
    """Return why a card may not be played: a marriage was shown, or suit must be followed."""
    if view.declared is not None:
        return line("lead the ", Suit(view.declared), " that you showed")
    return () if view.led is None or card[1] == view.led[1] else line("follow ", Suit(view.led[1]))


def scene(perspective: Perspective) -> Scene:
    """Draw two hands, the stock with its upcard, and the trick between them."""
    view: View = perspective.view
    scored = perspective.last_event(sixty_six.Scored)
    upcard = () if view.upcard is None else (Card(view.upcard, tag=("turned up",)),)
    closed = () if view.closer is None else (draw.fact("stock", "closed"),)
    carried = (draw.fact("worth more", f"+{view.carry}"),) if view.carry else ()
    return Scene(
        tuple(_seat(perspective, view, Seat(seat), scored) for seat in range(perspective.seats)),
        "points",
        draw.shown_zones(
            Zone("upcard", ZoneKind.TRICK, upcard),
            draw.pile("stock", view.stock, "in the stock"),
            latest_trick(view),
        ),
        (
            draw.fact("trump", Suit(view.trump)),
            *closed,
            *carried,
            draw.goal(perspective.options, view.hand),
        ),
        () if scored is None else _reasons(scored),
    )


def close(view: View, events: Sequence[Event], seat: Seat | None) -> View:
    """Return the view at the end of a hand: after a claim, or the last trick."""
    for event in events:
        match event:
            case sixty_six.Played(player, card):
                view = with_played(view, player, card)
            case sixty_six.Won(winner, _):
                view = replace(view, winners=(*view.winners, winner), pending=(0, 0))
            case sixty_six.Scored():
                view = replace(view, points=event.points, carry=event.carry, totals=event.totals)
    return replace(view, phase=Phase.OVER, to_act=None)


def _seat(
    perspective: Perspective, view: View, seat: Seat, scored: sixty_six.Scored | None
) -> SeatScene:
    seat_view: View | None = perspective.view_of(seat)
    badges = (Badge(("closed the stock",), Tone.MARKED),) if seat == view.closer else ()
    held = None if seat_view is None else draw.by_suit(seat_view.held)
    zones = (
        draw.hand(view.hand_sizes[seat], held, draw.by_suit(view.known[seat])),
        draw.tricks(view.winners.count(seat)),
        draw.latest_words(seat, perspective.latest_events, _WORDS),
    )
    return draw.seat_scene(
        view, seat, str(view.totals[seat]), badges, _facts(view, seat, scored), zones
    )


def _facts(view: View, seat: Seat, scored: sixty_six.Scored | None) -> tuple[Fact, ...]:
    points = draw.fact("this hand", view.points[seat], tone=Tone.MARKED)
    waiting = (draw.fact("marriage waits", view.pending[seat]),) if view.pending[seat] else ()
    if scored is None:
        return (points, *waiting)
    return (points, *waiting, draw.gain("scores", scored.gained[seat]))


def _reasons(event: sixty_six.Scored) -> tuple[Line, ...]:
    ahead = Seat(0) if event.gained[0] else Seat(1)
    why = fill(_WHY[event.reason], _Sides(ahead, Seat(1 - ahead)))
    carried = f" {event.carry} more for whoever wins next." if event.carry else ""
    return (
        line("Points: ", *by_seat(event.points), "."),
        why,
        line("Scored: ", *by_seat(event.gained, signed=True), ".", carried),
    )
