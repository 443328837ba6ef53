"""Scenes of Chinese Poker."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from arena.games.chinese.hands import (
    HAND_SIZE,
    SCOOP_UNITS,
    SURRENDERED,
    Rows,
    Standing,
    Strengths,
    is_foul,
    pair_units,
    rows_won,
    strengths,
)
from arena.games.chinese.naturals import NaturalHand, best_natural
from arena.games.chinese.unit_values import UnitValues, unit_values
from arena.games.chinese_poker import messages as chinese
from arena.games.chinese_poker.messages import Phase, View
from arena.games.contract import Event, Seat
from arena.pictures import drawing as draw
from arena.pictures.choices import Asks, MoveWords, Placing, Widget
from arena.pictures.rows import grid, settled, signed_rows
from arena.pictures.sentences import Sentences, joined, plain, score_lines, with_sign
from arena.pictures.viewer import Perspective
from arena.pictures.vocabulary import Badge, Group, Line, Scene, SeatScene, Tone, Zone, ZoneKind

HAND_ENDS: Final = (chinese.Scored,)
SENTENCES: Final[Sentences] = {
    chinese.HandBegan: "A hand is dealt, thirteen cards each. {dealer} deals; all set their cards unseen.",
    chinese.Dealt: "{seat} gets {cards}.",
    chinese.NaturalDeclared: "{seat} declares a natural, {natural}: {cards}.",
    chinese.Surrendered: "{seat} surrenders.",
    chinese.Revealed: lambda event: (
        "{seat} shows {front} in front, {middle} in the middle, {back} at the back: a foul."
        if event.fouled
        else "{seat} shows {front} in front, {middle} in the middle, {back} at the back."
    ),
    chinese.Scored: lambda event: joined(_sums(event)),
    chinese.Set: "sets {front} in front, {middle} in the middle, {back} at the back",
    chinese.DeclareNatural: "declares a natural",
    chinese.Play: "stands by its setting",
    chinese.Surrender: "surrenders",
}

ASKS: Final[Asks] = {
    Phase.SET: (
        Widget.ROWS,
        "Set your thirteen cards: the back must not be weaker than the middle, nor the middle than the front.",
    ),
    Phase.SURRENDER: (Widget.CLICK, "Play the hand as you set it, or surrender."),
}
MOVES: Final[MoveWords] = {
    chinese.Set: "Set {front} in front, {middle} in the middle, {back} at the back",
    chinese.DeclareNatural: lambda _, view: f"Declare your natural: {plain(view.natural)}",
    chinese.Play: "Play the hand",
    chinese.Surrender: "Surrender: pay two units to each",
}


def to_place(view: View, _seat: Seat) -> Placing:
    """Return the cards to set; the rows are empty."""
    return Placing(view.held, ((), (), ()), chinese.Set)


def scene(perspective: Perspective) -> Scene:
    """Draw thirteen cards for each seat, in three rows after they are shown."""
    view: View = perspective.view
    scored = perspective.last_event(chinese.Scored)
    task = {Phase.SET: "all set their cards", Phase.SURRENDER: "play, or surrender"}
    now = (draw.fact("now", task[view.phase]),) if view.phase in task else ()
    standings = _standings(perspective)
    values = unit_values(perspective.options.unit_values, perspective.seats)
    banner: tuple[Line, ...] = ()
    if scored is not None:
        banner = (*_pairs(standings, values), *_sums(scored))
    return Scene(
        tuple(
            _seat(perspective, view, Seat(player), scored, standings, values)
            for player in range(perspective.seats)
        ),
        "units",
        (),
        (*now, draw.goal(perspective.options, view.hand)),
        banner,
    )


def close(view: View, events: Sequence[Event], seat: Seat | None) -> View:
    """Return the view at the end of a hand; the rows are drawn from events."""
    for event in events:
        match event:
            case chinese.NaturalDeclared(player, natural, shown):
                naturals = (*view.naturals, chinese.ShownNatural(player, natural, shown))
                view = replace(view, naturals=naturals)
            case chinese.Scored():
                view = replace(view, totals=event.totals)
    return replace(view, phase=Phase.OVER, to_act=())


def _standings(perspective: Perspective) -> dict[Seat, Standing]:
    standings: dict[Seat, Standing] = {}
    for event in perspective.events:
        match event:
            case chinese.Revealed(seat, front, middle, back, _):
                standings[seat] = strengths(front, middle, back)
            case chinese.Surrendered(seat):
                standings[seat] = SURRENDERED
            case chinese.NaturalDeclared(seat, _, shown):
                natural = best_natural(shown)
                assert natural is not None
                standings[seat] = natural
    return standings


def _seat(
    perspective: Perspective,
    view: View,
    seat: Seat,
    scored: chinese.Scored | None,
    standings: Mapping[Seat, Standing],
    values: UnitValues,
) -> SeatScene:
    standing = standings.get(seat)
    badges = []
    if isinstance(standing, NaturalHand):
        badges.append(Badge((plain(standing.natural),), Tone.MARKED))
    elif standing is SURRENDERED:
        badges.append(Badge(("surrendered",), Tone.WRONG))
    elif isinstance(standing, Strengths) and is_foul(standing):
        badges.append(Badge(("foul",), Tone.WRONG))
    gained = () if scored is None else (draw.gain("this hand", scored.units[seat]),)
    zones = _cards(perspective, seat, standings, values)
    surrendered = standing is SURRENDERED
    total = with_sign(view.totals[seat])
    return draw.seat_scene(view, seat, total, badges, gained, zones, out=surrendered)


def _cards(
    perspective: Perspective, seat: Seat, standings: Mapping[Seat, Standing], values: UnitValues
) -> tuple[Zone, ...]:
    revealed = perspective.last_event(chinese.Revealed, seat)
    if revealed is not None:
        rows = (revealed.front, revealed.middle, revealed.back)
        won = _won_by_row(seat, standings, values)
        tone = Tone.WRONG if revealed.fouled else Tone.PLAIN
        return (grid(rows, lambda at: (f" {with_sign(won[at])}",) if won else (), tone=tone),)
    natural = perspective.last_event(chinese.NaturalDeclared, seat)
    if natural is not None:
        group = Group(draw.cards(natural.cards), (plain(natural.natural),), Tone.MARKED)
        return (Zone("natural", ZoneKind.MELD, (group,)),)
    seat_view: View | None = perspective.view_of(seat)
    setting: Rows | None = None if seat_view is None else seat_view.setting
    if setting is not None:
        tone = Tone.DIM if seat in standings else Tone.PLAIN
        return (grid((setting.front, setting.middle, setting.back), lambda _: (), tone=tone),)
    return (draw.hand(HAND_SIZE, None if seat_view is None else draw.by_suit(seat_view.held)),)


def _won_by_row(
    seat: Seat, standings: Mapping[Seat, Standing], values: UnitValues
) -> tuple[int, ...]:
    """Return what each row wins from all compared seats; empty without any."""
    ours = standings[seat]
    if not isinstance(ours, Strengths) or is_foul(ours):
        return ()
    against = [
        [values[seat][other] * units for units in rows_won(ours, theirs)]
        for other, theirs in standings.items()
        if other != seat and isinstance(theirs, Strengths) and not is_foul(theirs)
    ]
    return tuple(map(sum, zip(*against, strict=True)))


def _pairs(of: Mapping[Seat, Standing], values: UnitValues) -> tuple[Line, ...]:
    return settled(
        sorted(of),
        lambda one, two: pair_units(of[one], of[two]),
        lambda one, two: _how(of[one], of[two]),
        values,
    )


def _how(ours: Standing, theirs: Standing) -> Line:
    """Return the reason for the settlement of two seats."""
    if isinstance(ours, NaturalHand) or isinstance(theirs, NaturalHand):
        return (" for a natural",)
    if ours is SURRENDERED or theirs is SURRENDERED:
        return (" for a surrender",)
    assert isinstance(ours, Strengths)
    assert isinstance(theirs, Strengths)
    if is_foul(ours) and is_foul(theirs):
        return (", for a foul each",)
    if is_foul(ours) or is_foul(theirs):
        return (" for a foul",)
    rows = rows_won(ours, theirs)
    scoop = f", all three +{SCOOP_UNITS}" if min(rows) > 0 else ""
    return (f": {signed_rows(rows)}{scoop}",)


def _sums(event: chinese.Scored) -> list[Line]:
    return score_lines(event.units, event.totals, signed=True)
