"""Pictures of the four Abstracs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.cards import Card as Code
from arena.games.abstrac.options import Variant
from arena.games.abstrac.scoring import (
    Combination,
    combination_points,
    combinations,
    half_factors,
    half_points,
)
from arena.games.abstrac.words import HALF, Chosen, Dealt, Order, Phase, Scored, Taken, View
from arena.games.contract import Event, Seat
from arena.scenes.drawing import DEALER, by_suit, cards, fact, goal, pile, said, shown_zones
from arena.scenes.eye import Eye, last_by
from arena.scenes.sentences import Words, by_seat, counted, joined, line
from arena.scenes.vocabulary import (
    Card,
    Fact,
    Group,
    Kind,
    Line,
    Name,
    Scene,
    SeatScene,
    Tone,
    Zone,
)

ENDS: Final = (Scored,)
WORDS: Final[Words] = {
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

QUIET: Final[Words] = {}


def scene(eye: Eye) -> Scene:
    """The row, of which the cards that may be taken are marked, between two heaps."""
    view: View = eye.view
    scored = eye.last_told(Scored)
    row = tuple(
        Card(code, Tone.MARKED if at < view.limit else Tone.PLAIN)
        for at, code in enumerate(view.row)
    )
    may = (fact("may take", f"1 to {view.limit}" if view.limit > 1 else "1"),) if view.limit else ()
    half = (fact("half", f"{view.half} of 2"),) if _in_halves(eye) else ()
    return Scene(
        tuple(_seat(eye, view, Seat(seat), scored) for seat in range(eye.seats)),
        "points",
        shown_zones(
            Zone("row", Kind.ROW, row, ("the row, its top on the left",)),
            pile("undealt", view.undealt, "for the second half"),
        ),
        (*may, *half, goal(eye.options, view.hand)),
        () if scored is None else (*_why(eye, view), *_scored(scored)),
    )


def close(view: View, told: Sequence[Event], seat: Seat | None) -> View:
    """The row's last picture: all of it is taken."""
    for event in told:
        match event:
            case Taken(taker, taken):
                heaps = list(view.taken)
                heaps[taker] += taken
                view = replace(view, row=view.row[len(taken) :], taken=tuple(heaps), limit=0)
            case Scored():
                view = replace(view, totals=event.totals)
    return replace(view, phase=Phase.OVER, to_act=None)


def _in_halves(eye: Eye) -> bool:
    return bool(eye.options.variant == Variant.FIFTYTWO)


def _seat(eye: Eye, view: View, seat: Seat, scored: Scored | None) -> SeatScene:
    heap = view.taken[seat]
    combined = () if _in_halves(eye) else combinations(heap)
    groups = tuple(Group(cards(each.cards), (_called(each),)) for each in combined)
    just = last_by(seat, eye.news, (Taken, Chosen))
    return SeatScene(
        seat,
        str(view.totals[seat]),
        (DEALER,) if seat == view.dealer else (),
        _facts(eye, view, seat, scored),
        shown_zones(
            Zone("taken", Kind.FAN, _heap(heap, just)),
            Zone("combinations", Kind.MELD, groups),
            said(_said(just)),
        ),
        active=view.to_act == seat,
    )


def _heap(heap: tuple[Code, ...], just: Event | None) -> tuple[Card, ...]:
    """What was taken, suit by suit; the cards of this step are marked."""
    fresh = just.cards if isinstance(just, Taken) else ()
    return tuple(Card(code, Tone.MARKED if code in fresh else Tone.PLAIN) for code in by_suit(heap))


def _said(event: Event | None) -> Line:
    match event:
        case Taken(_, taken):
            return (f"takes {len(taken)}",)
        case Chosen(_, order):
            return ("I take first" if order is Order.FIRST else "you take first",)
    return ()


def _called(each: Combination) -> str:
    kind = "run" if each.is_run else "set"
    return f"{kind} of {len(each.cards)}: {each.points}"


def _facts(eye: Eye, view: View, seat: Seat, scored: Scored | None) -> tuple[Fact, ...]:
    heap = view.taken[seat]
    facts = [fact("cards", len(heap))]
    if _in_halves(eye):
        flush, run, group = half_factors(heap)
        facts += [fact("of a suit", flush), fact("in a row", run), fact("of a rank", group)]
    else:
        facts.append(fact("sets and runs", combination_points(heap)))
    if scored is not None:
        facts.append(fact("scores", f"{scored.points[seat]:+}", tone=Tone.MARKED))
    return tuple(facts)


def _why(eye: Eye, view: View) -> tuple[Line, ...]:
    """How the points of each seat come about."""
    if _in_halves(eye):
        return tuple(_factors(Seat(seat), heap) for seat, heap in enumerate(view.taken))
    worth = [combination_points(heap) for heap in view.taken]
    sizes = [len(heap) for heap in view.taken]
    products = tuple(
        line(
            Name(Seat(seat)),
            f": {worth[seat]} in sets and runs × ",
            f"{counted(sizes[1 - seat], 'card')} of ",
            Name(Seat(1 - seat)),
            f" = {worth[seat] * sizes[1 - seat]}.",
        )
        for seat in range(eye.seats)
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


def _scored(event: Scored) -> tuple[Line, ...]:
    return (
        line("Scored: ", *by_seat(event.points, signed=True), "."),
        line("In all: ", *by_seat(event.totals), "."),
    )
