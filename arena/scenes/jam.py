"""Pictures of Jam."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from arena.games.contract import Event, Seat
from arena.games.jam.scoring import TRICKS, Claim, claim_points
from arena.games.jam.words import (
    Began,
    Dealt,
    Discarded,
    Drawn,
    Phase,
    Played,
    Received,
    Scored,
    Source,
    View,
    Won,
)
from arena.scenes.drawing import (
    DEALER,
    fact,
    goal,
    hand,
    pile,
    said,
    shown_zones,
    tricks,
)
from arena.scenes.eye import Eye, last_by
from arena.scenes.sentences import Words, by_seat, counted, joined, line
from arena.scenes.two_hand_tricks import latest_trick, with_played
from arena.scenes.vocabulary import Badge, Fact, Line, Name, Scene, SeatScene, Tone

ENDS: Final = (Scored,)
WORDS: Final[Words] = {
    Began: "A hand is dealt. {dealer} deals and has the black cards, the other seat the red ones.",
    Dealt: "{seat} gets {cards}.",
    Played: "{seat} plays {card}.",
    Won: "{seat} takes the trick.",
    Drawn: lambda event: (
        "{seat} draws from its stock."
        if event.source is Source.STOCK
        else "{seat} takes {card} back from its discards."
    ),
    Received: "{seat} gets {card}.",
    Discarded: "{seat} discards {card}.",
    Scored: lambda event: joined(_reasons(event)),
}

QUIET: Final[Words] = {}


def scene(eye: Eye) -> Scene:
    """The table: a colour for each seat, and the trick between them."""
    view: View = eye.view
    scored = eye.last_told(Scored)
    draws = (fact("still to draw", view.draws_left),) if view.draws_left else ()
    return Scene(
        tuple(_seat(eye, view, Seat(seat), scored) for seat in range(eye.seats)),
        "points",
        shown_zones(latest_trick(view, TRICKS)),
        (*draws, fact("tricks played", f"{len(view.winners)} of {TRICKS}"), _goal(eye, view)),
        () if scored is None else _reasons(scored),
    )


def close(view: View, told: Sequence[Event], seat: Seat | None) -> View:
    """The hand's last picture: the last trick, and the claims."""
    for event in told:
        match event:
            case Played(player, card):
                view = with_played(view, player, card)
            case Won(winner):
                view = replace(view, winners=(*view.winners, winner))
            case Scored():
                view = replace(view, totals=event.totals, rubbers=event.rubbers)
    return replace(view, phase=Phase.OVER, to_act=None)


def _goal(eye: Eye, view: View) -> Fact:
    if not eye.options.hands and eye.options.rubbers > 1:
        return fact("rubbers to win", eye.options.rubbers)
    return goal(eye.options, view.hand)


def _seat(eye: Eye, view: View, seat: Seat, scored: Scored | None) -> SeatScene:
    own: View | None = eye.own_view(seat)
    black = seat == view.dealer
    colour = Badge(("black cards" if black else "red cards",))
    discards = view.discards[seat]
    top = discards[-1] if discards else None
    return SeatScene(
        seat,
        str(view.totals[seat]),
        (DEALER, colour) if black else (colour,),
        _facts(eye, view, seat, scored),
        shown_zones(
            hand(view.hand_sizes[seat], None if own is None else own.held, view.known[seat]),
            pile("stock", view.stock_sizes[seat], "in stock"),
            pile("discards", len(discards), "discarded", top),
            tricks(view.winners.count(seat)),
            said(_just_done(eye, seat)),
        ),
        active=view.to_act == seat,
    )


def _facts(eye: Eye, view: View, seat: Seat, scored: Scored | None) -> tuple[Fact, ...]:
    runs = [(who, sum(1 for _ in run)) for who, run in groupby(view.winners)]
    own = [str(length) for who, length in runs if who == seat]
    facts = [fact("tricks in a row", " · ".join(own) if own else "none")]
    if not eye.options.hands and eye.options.rubbers > 1:
        facts.append(fact("rubbers", view.rubbers[seat]))
    if scored is not None:
        facts.append(fact("claims", _claimed(scored.claims[seat]), tone=Tone.MARKED))
        facts.append(fact("scores", f"{scored.points[seat]:+}", tone=Tone.MARKED))
    return tuple(facts)


def _just_done(eye: Eye, seat: Seat) -> Line:
    match last_by(seat, eye.news, (Drawn, Discarded)):
        case Drawn(_, source, _):
            return ("draws",) if source is Source.STOCK else ("takes a discard",)
        case Discarded():
            return ("discards",)
    return ()


def _claimed(claim: Claim) -> str:
    """What a seat claims, and what each is worth."""
    parts = []
    if claim.babies:
        parts.append(counted(claim.babies, "baby slam"))
    if claim.grand:
        parts.append("a grand slam")
    if claim.majority:
        parts.append("15 tricks or more" if claim.majority > 14 else "14 tricks or more")
    return ", ".join(parts) or "nothing"


def _reasons(event: Scored) -> tuple[Line, ...]:
    claims = (
        line(
            Name(Seat(seat)), f" claims {_claimed(claim)}: {counted(claim_points(claim), 'point')}."
        )
        for seat, claim in enumerate(event.claims)
    )
    return (*claims, line("Totals: ", *by_seat(event.totals), "."))
