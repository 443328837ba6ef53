"""Scenes of Jam."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from arena.games.contract import Event, Seat
from arena.games.jam import messages as jam
from arena.games.jam.messages import Phase, View
from arena.games.jam.scoring import TRICKS, Claim, claim_points
from arena.pictures import drawing as draw
from arena.pictures.choices import Asks, MoveWords, Target, Targets, Widget
from arena.pictures.sentences import Sentences, by_seat, counted, joined, line
from arena.pictures.two_hand_tricks import latest_trick, with_played
from arena.pictures.viewer import Perspective
from arena.pictures.vocabulary import Badge, Face, Fact, Line, Name, Scene, SeatScene, Tone

HAND_ENDS: Final = (jam.Scored,)
SENTENCES: Final[Sentences] = {
    jam.Began: "A hand is dealt. {dealer} deals and has the black cards, the other seat the red ones.",
    jam.Dealt: "{seat} gets {cards}.",
    jam.Played: "{seat} plays {card}.",
    jam.Won: "{seat} takes the trick.",
    jam.Drawn: lambda event: (
        "{seat} draws from its stock."
        if event.source is jam.Source.STOCK
        else "{seat} takes {card} back from its discards."
    ),
    jam.Received: "{seat} gets {card}.",
    jam.Discarded: "{seat} discards {card}.",
    jam.Scored: lambda event: joined(_reasons(event)),
}
_WORDS: Final[Sentences] = {
    jam.Drawn: lambda event: "draws" if event.source is jam.Source.STOCK else "takes a discard",
    jam.Discarded: "discards",
}

ASKS: Final[Asks] = {
    Phase.LEAD: (Widget.CLICK, "Lead any card to the trick."),
    Phase.FOLLOW: (
        Widget.CLICK,
        "Play any card; the higher rank takes the trick, and the lead takes a tie.",
    ),
    Phase.DRAW: (Widget.CLICK, "Draw from your stock, or take back your last discard."),
    Phase.DISCARD: (Widget.CLICK, "Discard a card."),
}
MOVES: Final[MoveWords] = {
    jam.Play: "Play {card}",
    jam.Draw: lambda move, view: (
        "Draw from your stock"
        if move.source is jam.Source.STOCK
        else line("Take ", Face(view.discards[view.to_act][-1]), " back from your discards")
    ),
    jam.Discard: "Discard {card}",
}
TARGETS: Final[Targets] = {jam.Draw: lambda move, _: Target(f"own/{move.source}")}


def scene(perspective: Perspective) -> Scene:
    """Draw both seats and the trick between them."""
    view: View = perspective.view
    scored = perspective.last_event(jam.Scored)
    draws = (draw.fact("still to draw", view.draws_left),) if view.draws_left else ()
    return Scene(
        tuple(_seat(perspective, view, Seat(seat), scored) for seat in range(perspective.seats)),
        "points",
        draw.shown_zones(latest_trick(view, TRICKS)),
        (
            *draws,
            draw.fact("tricks played", f"{len(view.winners)} of {TRICKS}"),
            _goal(perspective, view),
        ),
        () if scored is None else _reasons(scored),
    )


def close(view: View, events: Sequence[Event], seat: Seat | None) -> View:
    """Return the view at the end of a hand: after the last trick."""
    for event in events:
        match event:
            case jam.Played(player, card):
                view = with_played(view, player, card)
            case jam.Won(winner):
                view = replace(view, winners=(*view.winners, winner))
            case jam.Scored():
                view = replace(view, totals=event.totals, rubbers=event.rubbers)
    return replace(view, phase=Phase.OVER, to_act=None)


def _goal(perspective: Perspective, view: View) -> Fact:
    if not perspective.options.hands and perspective.options.rubbers > 1:
        return draw.fact("rubbers to win", perspective.options.rubbers)
    return draw.goal(perspective.options, view.hand)


def _seat(perspective: Perspective, view: View, seat: Seat, scored: jam.Scored | None) -> SeatScene:
    seat_view: View | None = perspective.view_of(seat)
    colour = Badge(("black cards" if seat == view.dealer else "red cards",))
    discards = view.discards[seat]
    top = discards[-1] if discards else None
    zones = (
        draw.hand(
            view.hand_sizes[seat], None if seat_view is None else seat_view.held, view.known[seat]
        ),
        draw.pile("stock", view.stock_sizes[seat], "in stock"),
        draw.pile("discards", len(discards), "discarded", top),
        draw.tricks(view.winners.count(seat)),
        draw.latest_words(seat, perspective.latest_events, _WORDS),
    )
    facts = _facts(perspective, view, seat, scored)
    return draw.seat_scene(view, seat, str(view.totals[seat]), (colour,), facts, zones)


def _facts(
    perspective: Perspective, view: View, seat: Seat, scored: jam.Scored | None
) -> tuple[Fact, ...]:
    runs = [(who, sum(1 for _ in run)) for who, run in groupby(view.winners)]
    lengths = [str(length) for who, length in runs if who == seat]
    facts = [draw.fact("tricks in a row", " · ".join(lengths) if lengths else "none")]
    if not perspective.options.hands and perspective.options.rubbers > 1:
        facts.append(draw.fact("rubbers", view.rubbers[seat]))
    if scored is not None:
        facts.append(draw.fact("claims", _claimed(scored.claims[seat]), tone=Tone.MARKED))
        facts.append(draw.gain("scores", scored.points[seat]))
    return tuple(facts)


def _claimed(claim: Claim) -> str:
    parts = []
    if claim.babies:
        parts.append(counted(claim.babies, "baby slam"))
    if claim.grand:
        parts.append("a grand slam")
    if claim.majority:
        parts.append("15 tricks or more" if claim.majority > 14 else "14 tricks or more")
    return ", ".join(parts) or "nothing"


def _reasons(event: jam.Scored) -> tuple[Line, ...]:
    claims = (
        line(
            Name(Seat(seat)), f" claims {_claimed(claim)}: {counted(claim_points(claim), 'point')}."
        )
        for seat, claim in enumerate(event.claims)
    )
    return (*claims, line("Totals: ", *by_seat(event.totals), "."))
