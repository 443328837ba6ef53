"""Pictures of Sixty-Six."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from arena.games.contract import Event, Seat
from arena.games.sixty_six.scoring import Reason
from arena.games.sixty_six.words import (
    Began,
    Claimed,
    Closed,
    Dealt,
    Drawn,
    Exchanged,
    Married,
    Phase,
    Played,
    Scored,
    View,
    Won,
)
from arena.scenes.drawing import (
    DEALER,
    by_suit,
    fact,
    goal,
    hand,
    pile,
    said,
    shown_zones,
    tricks,
)
from arena.scenes.eye import Eye, last_by
from arena.scenes.sentences import Words, by_seat, fill, joined, line
from arena.scenes.two_hand_tricks import latest_trick, with_played
from arena.scenes.vocabulary import (
    Badge,
    Card,
    Face,
    Fact,
    Kind,
    Line,
    Scene,
    SeatScene,
    Suit,
    Tone,
    Zone,
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
    """Who is spoken of."""

    winner: Seat
    loser: Seat


ENDS: Final = (Scored,)
WORDS: Final[Words] = {
    Began: "A hand is dealt. {dealer} deals; {upcard} is turned up, and its suit is trump.",
    Dealt: "{seat} gets {cards}.",
    Claimed: "{seat} says that it has 66.",
    Closed: "{seat} closes the stock: nobody draws any more, and suit must be followed.",
    Exchanged: "{seat} takes {card} for the nine of trump.",
    Married: lambda event: (
        "{seat} shows king and queen of {suit:suit}, worth {value} with its first trick."
        if event.pending
        else "{seat} shows king and queen of {suit:suit}, worth {value}."
    ),
    Played: "{seat} plays {card}.",
    Won: "{seat} takes the trick, {value:count point}.",
    Drawn: "{seat} draws {card}.",
    Scored: lambda event: joined(_reasons(event)),
}

QUIET: Final[Words] = {}


def scene(eye: Eye) -> Scene:
    """The table: two hands, the stock with its upcard, and the trick between them."""
    view: View = eye.view
    scored = eye.last_told(Scored)
    upcard = () if view.upcard is None else (Card(view.upcard, tag=("turned up",)),)
    closed = () if view.closer is None else (fact("stock", "closed"),)
    carried = (fact("worth more", f"+{view.carry}"),) if view.carry else ()
    return Scene(
        tuple(_seat(eye, view, Seat(seat), scored) for seat in range(eye.seats)),
        "points",
        shown_zones(
            Zone("upcard", Kind.TRICK, upcard),
            pile("stock", view.stock, "in the stock"),
            latest_trick(view),
        ),
        (fact("trump", Suit(view.trump)), *closed, *carried, goal(eye.options, view.hand)),
        () if scored is None else _reasons(scored),
    )


def close(view: View, told: Sequence[Event], seat: Seat | None) -> View:
    """The hand's last picture: a claim, or the last trick."""
    for event in told:
        match event:
            case Played(player, card):
                view = with_played(view, player, card)
            case Won(winner, _):
                view = replace(view, winners=(*view.winners, winner), pending=(0, 0))
            case Scored():
                view = replace(view, points=event.points, carry=event.carry, totals=event.totals)
    return replace(view, phase=Phase.OVER, to_act=None)


def _seat(eye: Eye, view: View, seat: Seat, scored: Scored | None) -> SeatScene:
    own: View | None = eye.own_view(seat)
    badges = [DEALER] if seat == view.dealer else []
    if seat == view.closer:
        badges.append(Badge(("closed the stock",), Tone.MARKED))
    return SeatScene(
        seat,
        str(view.totals[seat]),
        tuple(badges),
        _facts(view, seat, scored),
        shown_zones(
            hand(
                view.hand_sizes[seat],
                None if own is None else by_suit(own.held),
                by_suit(view.known[seat]),
            ),
            tricks(view.winners.count(seat)),
            said(_just_said(eye, seat)),
        ),
        active=view.to_act == seat,
    )


def _facts(view: View, seat: Seat, scored: Scored | None) -> tuple[Fact, ...]:
    points = fact("this hand", view.points[seat], tone=Tone.MARKED)
    waiting = (fact("marriage waits", view.pending[seat]),) if view.pending[seat] else ()
    if scored is None:
        return (points, *waiting)
    return (points, *waiting, fact("scores", f"{scored.gained[seat]:+}", tone=Tone.MARKED))


def _just_said(eye: Eye, seat: Seat) -> Line:
    event = last_by(seat, eye.news, (Claimed, Closed, Exchanged, Married))
    match event:
        case Claimed():
            return ("I have 66",)
        case Closed():
            return ("closed",)
        case Exchanged(_, card):
            return line("takes ", Face(card))
        case Married(_, suit, value, _):
            return line(f"{value} in ", Suit(suit))
    return ()


def _reasons(event: Scored) -> tuple[Line, ...]:
    ahead = Seat(0) if event.gained[0] else Seat(1)
    why = fill(_WHY[event.reason], _Sides(ahead, Seat(1 - ahead)))
    carried = f" {event.carry} more for whoever wins next." if event.carry else ""
    return (
        line("Points: ", *by_seat(event.points), "."),
        why,
        line("Scored: ", *by_seat(event.gained, signed=True), ".", carried),
    )
