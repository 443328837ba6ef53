"""Scenes of the Abstrac games."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.games.abstrac.messages import (
    HALF,
    Choose,
    Chosen,
    Dealt,
    Order,
    Phase,
    Scored,
    Take,
    Taken,
    Variant,
    View,
)
from arena.games.abstrac.scoring import (
    Combination,
    combination_points,
    combinations,
    half_factors,
    half_points,
)
from arena.games.cards import Card as Code
from arena.games.contract import Event, Seat, with_entry
from arena.pictures import drawing as draw
from arena.pictures.choices import Asks, MoveWords, Target, Targets, Widget
from arena.pictures.sentences import Sentences, counted, faces, joined, line, score_lines
from arena.pictures.viewer import Perspective, latest
from arena.pictures.vocabulary import (
    Card,
    Fact,
    Group,
    Line,
    Name,
    Scene,
    SeatScene,
    Tone,
    Zone,
    ZoneKind,
)

HAND_ENDS: Final = (Scored,)
SENTENCES: Final[Sentences] = {
    Dealt: lambda event: (
        "The second half is laid out: {row}."
        if event.half > 1
        else "A row is laid out: {row}. {dealer} deals, so the other seat says who takes first."
    ),
    Chosen: lambda event: (
        "{seat} takes first." if event.order is Order.FIRST else "{seat} lets the other take first."
    ),
    Taken: "{seat} takes {cards}.",
    Scored: lambda event: joined(_scored(event)),
}
_WORDS: Final[Sentences] = {
    Taken: lambda event: f"takes {len(event.cards)}",
    Chosen: lambda event: "I take first" if event.order is Order.FIRST else "you take first",
}

ASKS: Final[Asks] = {
    Phase.CHOOSE: (Widget.CLICK, "Say who takes first from the row."),
    Phase.TAKE: (
        Widget.CLICK,
        "Take cards from the left end of the row: click the last one that you take.",
    ),
}
MOVES: Final[MoveWords] = {
    Choose: lambda move, _: (
        "Take first" if move.order is Order.FIRST else "Let the other seat take first"
    ),
    Take: lambda move, view: line("Take ", *faces(view.row[: move.count])),
}
TARGETS: Final[Targets] = {Take: lambda move, view: Target("centre/row", view.row[move.count - 1])}


def scene(perspective: Perspective) -> Scene:
    """Draw the row between the cards taken; cards that may be taken are marked."""
    view: View = perspective.view
    scored = perspective.last_event(Scored)
    row = tuple(
        Card(code, Tone.MARKED if at < view.limit else Tone.PLAIN)
        for at, code in enumerate(view.row)
    )
    may = (
        (draw.fact("may take", f"1 to {view.limit}" if view.limit > 1 else "1"),)
        if view.limit
        else ()
    )
    half = (draw.fact("half", f"{view.half} of 2"),) if _in_halves(perspective) else ()
    return Scene(
        tuple(_seat(perspective, view, Seat(seat), scored) for seat in range(perspective.seats)),
        "points",
        draw.shown_zones(
            Zone("row", ZoneKind.ROW, row, ("the row, its top on the left",)),
            draw.pile("undealt", view.undealt, "for the second half"),
        ),
        (*may, *half, draw.goal(perspective.options, view.hand)),
        () if scored is None else (*_why(perspective, view), *_scored(scored)),
    )


def close(view: View, events: Sequence[Event], seat: Seat | None) -> View:
    """Return the view at the end of a row: all cards are taken."""
    for event in events:
        match event:
            case Taken(taker, taken):
                heaps = with_entry(view.taken, taker, view.taken[taker] + taken)
                view = replace(view, row=view.row[len(taken) :], taken=heaps, limit=0)
            case Scored():
                view = replace(view, totals=event.totals)
    return replace(view, phase=Phase.OVER, to_act=None)


def _in_halves(perspective: Perspective) -> bool:
    return bool(perspective.options.variant == Variant.FIFTYTWO)


def _seat(perspective: Perspective, view: View, seat: Seat, scored: Scored | None) -> SeatScene:
    heap = view.taken[seat]
    combined = () if _in_halves(perspective) else combinations(heap)
    groups = tuple(
        Group(draw.cards(combination.cards), (_called(combination),)) for combination in combined
    )
    just = latest(perspective.latest_events, (Taken, Chosen), seat)
    zones = (
        Zone("taken", ZoneKind.FAN, _heap(heap, just)),
        Zone("combinations", ZoneKind.MELD, groups),
        draw.latest_words(seat, perspective.latest_events, _WORDS),
    )
    facts = _facts(perspective, view, seat, scored)
    return draw.seat_scene(view, seat, str(view.totals[seat]), (), facts, zones)


def _heap(heap: tuple[Code, ...], just: Event | None) -> tuple[Card, ...]:
    """Return the cards taken by suit; those of this step are marked."""
    fresh = just.cards if isinstance(just, Taken) else ()
    return tuple(
        Card(code, Tone.MARKED if code in fresh else Tone.PLAIN) for code in draw.by_suit(heap)
    )


def _called(each: Combination) -> str:
    kind = "run" if each.is_run else "set"
    return f"{kind} of {len(each.cards)}: {each.points}"


def _facts(
    perspective: Perspective, view: View, seat: Seat, scored: Scored | None
) -> tuple[Fact, ...]:
    heap = view.taken[seat]
    facts = [draw.fact("cards", len(heap))]
    if _in_halves(perspective):
        flush, run, group = half_factors(heap)
        facts += [
            draw.fact("of a suit", flush),
            draw.fact("in a row", run),
            draw.fact("of a rank", group),
        ]
    else:
        facts.append(draw.fact("sets and runs", combination_points(heap), tone=Tone.MARKED))
    if scored is not None:
        facts.append(draw.gain("scores", scored.points[seat]))
    return tuple(facts)


def _why(perspective: Perspective, view: View) -> tuple[Line, ...]:
    if _in_halves(perspective):
        return tuple(_factors(Seat(seat), heap) for seat, heap in enumerate(view.taken))
    worth = [combination_points(heap) for heap in view.taken]
    sizes = [len(heap) for heap in view.taken]
    products = tuple(
        line(
            Name(Seat(player)),
            f": {worth[player]} in sets and runs × ",
            f"{counted(sizes[1 - player], 'card')} of ",
            Name(Seat(1 - player)),
            f" = {worth[player] * sizes[1 - player]}.",
        )
        for player in range(perspective.seats)
    )
    if (worth[0] == 0) == (worth[1] == 0):
        return products
    bare = Seat(0) if worth[0] == 0 else Seat(1)
    return (*products, line(Name(bare), " has no set and no run: the two change places."))


def _factors(seat: Seat, heap: tuple[Code, ...]) -> Line:
    flush, run, group = half_factors(heap)
    short = HALF // 2 - len(heap)
    bonus = f" × {2 * short} for {counted(short, 'card')} under 13" if short > 0 else ""
    text = f": {flush} of a suit × {run} in a row × {group} of a rank{bonus} = {half_points(heap)}."
    return line(Name(seat), text)


def _scored(event: Scored) -> list[Line]:
    return score_lines(event.points, event.totals)
