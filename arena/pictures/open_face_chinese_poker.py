"""Scenes of Open-Face Chinese Poker."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.games.chinese.hands import HAND_SIZE
from arena.games.chinese.unit_values import UnitValues, unit_values
from arena.games.contract import Event, Seat
from arena.games.open_face_chinese_poker import messages as open_face
from arena.games.open_face_chinese_poker.messages import Phase, View
from arena.games.open_face_chinese_poker.rules import INITIAL
from arena.games.open_face_chinese_poker.scoring import (
    SWEEP_UNITS,
    Scoring,
    pair_units,
    rows_won,
    score_rows,
)
from arena.pictures import drawing as draw
from arena.pictures.choices import Asks, MoveWords, Placing, Widget
from arena.pictures.rows import grid, settled, signed_rows
from arena.pictures.sentences import (
    Sentences,
    faces,
    joined,
    line,
    listed,
    names,
    score_lines,
    with_sign,
)
from arena.pictures.viewer import Perspective, latest
from arena.pictures.vocabulary import (
    Badge,
    Card,
    Fact,
    Line,
    Name,
    Scene,
    SeatScene,
    Tone,
    Zone,
    ZoneKind,
)

HAND_ENDS: Final = (open_face.Scored,)
SENTENCES: Final[Sentences] = {
    open_face.HandBegan: lambda event: line(
        "A hand begins. ",
        Name(event.dealer),
        " deals.",
        *(
            line(" In Fantasyland: ", *_in_fantasyland(event.fantasyland), ".")
            if any(event.fantasyland)
            else ()
        ),
    ),
    open_face.Dealt: "{seat} gets {cards}.",
    open_face.Drawn: "{seat} draws {card}.",
    open_face.Placed: lambda event: line(Name(event.seat), " puts ", *_into(event), "."),
    open_face.Revealed: "{seat} shows {front} in front, {middle} in the middle, {back} at the back.",
    open_face.Scored: lambda event: joined(_sums(event)),
    open_face.Place: "sets {front} in front, {middle} in the middle, {back} at the back",
}

ASKS: Final[Asks] = {
    Phase.FANTASYLAND: (Widget.ROWS, "You are in Fantasyland: set all thirteen cards unseen."),
    Phase.PLACE: (
        Widget.ROWS,
        "Place your cards into rows; a card that was placed stays where it is.",
    ),
}
MOVES: Final[MoveWords] = {open_face.Place: lambda move, _: line("Place ", *_into(move))}


def to_place(view: View, seat: Seat) -> Placing:
    """Return the cards to place, and the rows so far."""
    layout = view.layouts[seat]
    return Placing(view.to_place, (layout.front, layout.middle, layout.back), open_face.Place)


def scene(perspective: Perspective) -> Scene:
    """Draw three rows for each seat; the card that was drawn lies beside those of its seat."""
    view: View = perspective.view
    scored = perspective.last_event(open_face.Scored)
    banner: tuple[Line, ...] = ()
    if scored is not None:
        values = unit_values(perspective.options.unit_values, perspective.seats)
        banner = (*_pairs(view, values), *_sums(scored))
    return Scene(
        tuple(_seat(perspective, view, Seat(seat), scored) for seat in range(perspective.seats)),
        "units",
        (),
        (draw.fact("in the stock", view.stock), draw.fact("hands to go", view.hands_left)),
        banner,
    )


def close(view: View, events: Sequence[Event], seat: Seat | None) -> View:
    """Return the view at the end of a hand: all rows are full."""
    for event in events:
        match event:
            case open_face.Placed(player, front, middle, back):
                layouts = list(view.layouts)
                layouts[player] = layouts[player].with_placed(open_face.Place(front, middle, back))
                left = () if player == seat else view.to_place
                view = replace(view, layouts=tuple(layouts), to_place=left, drawn=None)
            case open_face.Revealed(player, front, middle, back):
                layouts = list(view.layouts)
                layouts[player] = open_face.Layout(front, middle, back)
                view = replace(view, layouts=tuple(layouts), own_setting=None)
                if player == seat:
                    view = replace(view, to_place=())
            case open_face.Scored():
                view = replace(view, totals=event.totals)
    return replace(view, phase=Phase.OVER, to_act=())


def _in_fantasyland(fantasyland: Sequence[bool]) -> Line:
    return names([seat for seat, there in enumerate(fantasyland) if there])


def _into(event: open_face.Placed) -> Line:
    rows = (("in front", event.front), ("in the middle", event.middle), ("at the back", event.back))
    return listed([line(*faces(row), f" {where}") for where, row in rows if row])


def _scoring(layout: open_face.Layout) -> Scoring | None:
    """Return the score of full rows, or None."""
    if any(layout.room()):
        return None
    return score_rows(layout.front, layout.middle, layout.back)


def _seat(
    perspective: Perspective, view: View, seat: Seat, scored: open_face.Scored | None
) -> SeatScene:
    badges = []
    if view.fantasyland[seat]:
        badges.append(Badge(("in Fantasyland",), Tone.MARKED))
    if scored is not None and scored.fouls[seat]:
        badges.append(Badge(("foul",), Tone.WRONG))
    if scored is not None and scored.fantasyland[seat]:
        badges.append(Badge(("to Fantasyland",), Tone.MARKED))
    zones = (_rows(perspective, view, seat, scored), _to_place(perspective, view, seat))
    total = with_sign(view.totals[seat])
    return draw.seat_scene(view, seat, total, badges, _facts(seat, scored), zones)


def _facts(seat: Seat, scored: open_face.Scored | None) -> tuple[Fact, ...]:
    if scored is None:
        return ()
    return (
        draw.fact("royalties", scored.royalties[seat]),
        draw.gain("this hand", scored.units[seat]),
    )


def _rows(
    perspective: Perspective, view: View, seat: Seat, scored: open_face.Scored | None
) -> Zone:
    seat_view: View | None = perspective.view_of(seat)
    layout = view.layouts[seat]
    if seat_view is not None and seat_view.own_setting is not None:
        layout = seat_view.own_setting
    placed = latest(perspective.latest_events, open_face.Placed, seat)
    fresh = () if placed is None else (*placed.front, *placed.middle, *placed.back)
    scoring = _scoring(layout)
    royalties = scoring.royalties if scoring is not None else (0, 0, 0)
    foul = scoring is not None and scoring.foul
    return grid(
        (layout.front, layout.middle, layout.back),
        lambda at: (f", royalty {royalties[at]}",) if royalties[at] else (),
        marked=() if scored is not None else fresh,
        tone=Tone.WRONG if foul else Tone.PLAIN,
    )


def _to_place(perspective: Perspective, view: View, seat: Seat) -> Zone:
    """Return the cards that the seat has still to place, or backs; all may see a card that is drawn."""
    seat_view: View | None = perspective.view_of(seat)
    if view.drawn is not None and seat in view.to_act:
        return Zone("hand", ZoneKind.FAN, (Card(view.drawn, Tone.MARKED, ("drawn",)),))
    if seat_view is not None:
        return Zone("hand", ZoneKind.FAN, draw.cards(seat_view.to_place, Tone.MARKED))
    layout = view.layouts[seat]
    if view.phase is Phase.OVER or layout.front or layout.middle or layout.back:
        return Zone("hand", ZoneKind.FAN, ())
    return draw.hand(HAND_SIZE if view.fantasyland[seat] else INITIAL, None, label="unseen")


def _pairs(view: View, values: UnitValues) -> tuple[Line, ...]:
    of = [score_rows(layout.front, layout.middle, layout.back) for layout in view.layouts]
    return settled(
        map(Seat, range(len(of))),
        lambda one, two: pair_units(of[one], of[two]),
        lambda one, two: _how(of[one], of[two]),
        values,
    )


def _how(ours: Scoring, theirs: Scoring) -> Line:
    """Return the reason for the settlement of two seats."""
    royalties = ours.royalty_units - theirs.royalty_units
    more = f", royalties {with_sign(royalties)}" if royalties else ""
    if ours.foul and theirs.foul:
        return (", for a foul each",)
    if ours.foul or theirs.foul:
        return (f" for a foul{more}",)
    rows = rows_won(ours, theirs)
    sweep = f", all three +{SWEEP_UNITS}" if min(rows) > 0 else ""
    if max(rows) < 0:
        sweep = f", all three -{SWEEP_UNITS}"
    return (f": {signed_rows(rows)}{sweep}{more}",)


def _sums(event: open_face.Scored) -> tuple[Line, ...]:
    earned = event.fantasyland
    return (
        *score_lines(event.units, event.totals, signed=True),
        *((line("To Fantasyland: ", *_in_fantasyland(earned), "."),) if any(earned) else ()),
    )
