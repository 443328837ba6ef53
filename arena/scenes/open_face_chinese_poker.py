"""Pictures of Open-Face Chinese Poker."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.games.chinese.hands import HAND_SIZE
from arena.games.contract import Event, Seat
from arena.games.open_face_chinese_poker.rules import INITIAL
from arena.games.open_face_chinese_poker.scoring import (
    SWEEP_UNITS,
    Scoring,
    pair_units,
    rows_won,
    score_rows,
)
from arena.games.open_face_chinese_poker.words import (
    Dealt,
    Drawn,
    HandBegan,
    Layout,
    Phase,
    Place,
    Placed,
    Revealed,
    Scored,
    View,
)
from arena.scenes.drawing import DEALER, cards, fact, hand, shown_zones
from arena.scenes.eye import Eye, last_by
from arena.scenes.rows import grid, settled, signed_rows
from arena.scenes.sentences import Words, by_seat, faces, joined, line, listed, names
from arena.scenes.vocabulary import (
    Badge,
    Card,
    Fact,
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
    HandBegan: lambda event: line(
        "A hand begins. ",
        Name(event.dealer),
        " deals.",
        *(
            line(" In Fantasyland: ", *_there(event.fantasyland), ".")
            if any(event.fantasyland)
            else ()
        ),
    ),
    Dealt: "{seat} gets {cards}.",
    Drawn: "{seat} draws {card}.",
    Placed: lambda event: line(Name(event.seat), " puts ", *_into(event), "."),
    Revealed: "{seat} shows {front} in front, {middle} in the middle, {back} at the back.",
    Scored: lambda event: joined(_sums(event)),
}

QUIET: Final[Words] = {Place: "sets {front} in front, {middle} in the middle, {back} at the back"}


def scene(eye: Eye) -> Scene:
    """The table: three rows a seat, and the card that was drawn."""
    view: View = eye.view
    scored = eye.last_told(Scored)
    drawn = () if view.drawn is None else (Card(view.drawn, Tone.MARKED, ("drawn",)),)
    banner: tuple[Line, ...] = ()
    if scored is not None:
        banner = (*_pairs(view), *_sums(scored))
    return Scene(
        tuple(_seat(eye, view, Seat(seat), scored) for seat in range(eye.seats)),
        "units",
        shown_zones(Zone("drawn", Kind.TRICK, drawn)),
        (fact("in the stock", view.stock), fact("hands to go", view.hands_left)),
        banner,
    )


def close(view: View, told: Sequence[Event], seat: Seat | None) -> View:
    """The hand's last picture: all rows are full."""
    for event in told:
        match event:
            case Placed(player, front, middle, back):
                layouts = list(view.layouts)
                layouts[player] = layouts[player].with_placed(Place(front, middle, back))
                left = () if player == seat else view.to_place
                view = replace(view, layouts=tuple(layouts), to_place=left, drawn=None)
            case Revealed(player, front, middle, back):
                layouts = list(view.layouts)
                layouts[player] = Layout(front, middle, back)
                view = replace(view, layouts=tuple(layouts), own_setting=None)
                if player == seat:
                    view = replace(view, to_place=())
            case Scored():
                view = replace(view, totals=event.totals)
    return replace(view, phase=Phase.OVER, to_act=())


def _there(fantasyland: Sequence[bool]) -> Line:
    return names([seat for seat, there in enumerate(fantasyland) if there])


def _into(event: Placed) -> Line:
    """Which cards went into which rows."""
    rows = (("in front", event.front), ("in the middle", event.middle), ("at the back", event.back))
    return listed([line(*faces(row), f" {where}") for where, row in rows if row])


def _scoring(layout: Layout) -> Scoring | None:
    """What full rows come to."""
    if any(layout.room()):
        return None
    return score_rows(layout.front, layout.middle, layout.back)


def _seat(eye: Eye, view: View, seat: Seat, scored: Scored | None) -> SeatScene:
    badges = [DEALER] if seat == view.dealer else []
    if view.fantasyland[seat]:
        badges.append(Badge(("in Fantasyland",), Tone.MARKED))
    if scored is not None and scored.fouls[seat]:
        badges.append(Badge(("foul",), Tone.WRONG))
    if scored is not None and scored.fantasyland[seat]:
        badges.append(Badge(("to Fantasyland",), Tone.MARKED))
    return SeatScene(
        seat,
        f"{view.totals[seat]:+}",
        tuple(badges),
        _facts(seat, scored),
        shown_zones(_rows(eye, view, seat, scored), _to_place(eye, view, seat)),
        active=seat in view.to_act,
    )


def _facts(seat: Seat, scored: Scored | None) -> tuple[Fact, ...]:
    if scored is None:
        return ()
    return (
        fact("royalties", scored.royalties[seat]),
        fact("this hand", f"{scored.units[seat]:+}", tone=Tone.MARKED),
    )


def _rows(eye: Eye, view: View, seat: Seat, scored: Scored | None) -> Zone:
    own: View | None = eye.own_view(seat)
    layout = view.layouts[seat]
    if own is not None and own.own_setting is not None:
        layout = own.own_setting
    placed = last_by(seat, eye.news, (Placed,))
    fresh = (*placed.front, *placed.middle, *placed.back) if isinstance(placed, Placed) else ()
    scoring = _scoring(layout)
    royalties = scoring.royalties if scoring is not None else (0, 0, 0)
    foul = scoring is not None and scoring.foul
    return grid(
        (layout.front, layout.middle, layout.back),
        lambda at: (f", royalty {royalties[at]}",) if royalties[at] else (),
        marked=() if scored is not None else fresh,
        tone=Tone.WRONG if foul else Tone.PLAIN,
    )


def _to_place(eye: Eye, view: View, seat: Seat) -> Zone:
    """What the seat has still to place: its cards, or backs."""
    own: View | None = eye.own_view(seat)
    if own is not None:
        return Zone("hand", Kind.FAN, cards(own.to_place, Tone.MARKED))
    if view.phase is Phase.OVER or any(map(bool, _cards_of(view.layouts[seat]))):
        return Zone("hand", Kind.FAN, ())
    return hand(HAND_SIZE if view.fantasyland[seat] else INITIAL, None, label="unseen")


def _cards_of(layout: Layout) -> tuple[tuple[str, ...], ...]:
    return layout.front, layout.middle, layout.back


def _pairs(view: View) -> tuple[Line, ...]:
    """What every pair of seats settles, and why."""
    of = [score_rows(each.front, each.middle, each.back) for each in view.layouts]
    return settled(
        map(Seat, range(len(of))),
        lambda one, two: pair_units(of[one], of[two]),
        lambda one, two: _how(of[one], of[two]),
    )


def _how(ours: Scoring, theirs: Scoring) -> Line:
    """By what two seats settle, to follow the sum."""
    royalties = ours.royalty_units - theirs.royalty_units
    more = f", royalties {royalties:+}" if royalties else ""
    if ours.foul and theirs.foul:
        return (", for a foul each",)
    if ours.foul or theirs.foul:
        return (f" for a foul{more}",)
    rows = rows_won(ours, theirs)
    sweep = f", all three +{SWEEP_UNITS}" if min(rows) > 0 else ""
    if max(rows) < 0:
        sweep = f", all three -{SWEEP_UNITS}"
    return (f": {signed_rows(rows)}{sweep}{more}",)


def _sums(event: Scored) -> tuple[Line, ...]:
    earned = event.fantasyland
    return (
        line("Scored: ", *by_seat(event.units, signed=True), "."),
        line("In all: ", *by_seat(event.totals, signed=True), "."),
        *((line("To Fantasyland: ", *_there(earned), "."),) if any(earned) else ()),
    )
