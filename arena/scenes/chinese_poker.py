"""Pictures of Chinese Poker."""

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
from arena.games.chinese_poker.words import (
    Dealt,
    DeclareNatural,
    HandBegan,
    NaturalDeclared,
    Phase,
    Play,
    Revealed,
    Scored,
    Set,
    ShownNatural,
    Surrender,
    Surrendered,
    View,
)
from arena.games.contract import Event, Seat
from arena.scenes.drawing import DEALER, by_suit, cards, fact, goal, hand, shown_zones
from arena.scenes.eye import Eye
from arena.scenes.rows import grid, settled, signed_rows
from arena.scenes.sentences import Words, by_seat, joined, line, plain
from arena.scenes.vocabulary import (
    Badge,
    Fact,
    Group,
    Kind,
    Line,
    Scene,
    SeatScene,
    Tone,
    Zone,
)

ENDS: Final = (Scored,)
WORDS: Final[Words] = {
    HandBegan: "A hand is dealt, thirteen cards each. {dealer} deals; all set their cards unseen.",
    Dealt: "{seat} gets {cards}.",
    NaturalDeclared: "{seat} declares a natural, {natural}: {cards}.",
    Surrendered: "{seat} surrenders.",
    Revealed: lambda event: (
        "{seat} shows {front} in front, {middle} in the middle, {back} at the back: a foul."
        if event.fouled
        else "{seat} shows {front} in front, {middle} in the middle, {back} at the back."
    ),
    Scored: lambda event: joined(_sums(event)),
}

QUIET: Final[Words] = {
    Set: "sets {front} in front, {middle} in the middle, {back} at the back",
    DeclareNatural: "declares a natural",
    Play: "stands by its setting",
    Surrender: "surrenders",
}


def scene(eye: Eye) -> Scene:
    """The table: thirteen cards a seat, in three rows once they are shown."""
    view: View = eye.view
    scored = eye.last_told(Scored)
    task = {Phase.SET: "all set their cards", Phase.SURRENDER: "play, or surrender"}
    now = (fact("now", task[view.phase]),) if view.phase in task else ()
    standings = _standings(eye)
    banner: tuple[Line, ...] = ()
    if scored is not None:
        banner = (*_pairs(standings), *_sums(scored))
    return Scene(
        tuple(_seat(eye, view, Seat(seat), scored, standings) for seat in range(eye.seats)),
        "units",
        (),
        (*now, goal(eye.options, view.hand)),
        banner,
    )


def close(view: View, told: Sequence[Event], seat: Seat | None) -> View:
    """The hand's last picture; the rows shown are events."""
    for event in told:
        match event:
            case NaturalDeclared(player, natural, shown):
                naturals = (*view.naturals, ShownNatural(player, natural, shown))
                view = replace(view, naturals=naturals)
            case Scored():
                view = replace(view, totals=event.totals)
    return replace(view, phase=Phase.OVER, to_act=())


def _standings(eye: Eye) -> dict[Seat, Standing]:
    """What each seat settles with, as far as it was shown."""
    found: dict[Seat, Standing] = {}
    for event in eye.told:
        match event:
            case Revealed(seat, front, middle, back, _):
                found[seat] = strengths(front, middle, back)
            case Surrendered(seat):
                found[seat] = SURRENDERED
            case NaturalDeclared(seat, _, shown):
                natural = best_natural(shown)
                assert natural is not None
                found[seat] = natural
    return found


def _seat(
    eye: Eye, view: View, seat: Seat, scored: Scored | None, standings: Mapping[Seat, Standing]
) -> SeatScene:
    standing = standings.get(seat)
    badges = [DEALER] if seat == view.dealer else []
    if isinstance(standing, NaturalHand):
        badges.append(Badge((plain(standing.natural),), Tone.MARKED))
    elif standing is SURRENDERED:
        badges.append(Badge(("surrendered",), Tone.WRONG))
    elif isinstance(standing, Strengths) and is_foul(standing):
        badges.append(Badge(("foul",), Tone.WRONG))
    gained: tuple[Fact, ...] = ()
    if scored is not None:
        gained = (fact("this hand", f"{scored.units[seat]:+}", tone=Tone.MARKED),)
    return SeatScene(
        seat,
        f"{view.totals[seat]:+}",
        tuple(badges),
        gained,
        shown_zones(*_cards(eye, seat, standings)),
        active=seat in view.to_act,
        out=standing is SURRENDERED,
    )


def _cards(eye: Eye, seat: Seat, standings: Mapping[Seat, Standing]) -> tuple[Zone, ...]:
    revealed = next((each for each in eye.all_told(Revealed) if each.seat == seat), None)
    if revealed is not None:
        rows = (revealed.front, revealed.middle, revealed.back)
        won = _won_by_row(seat, standings)
        tone = Tone.WRONG if revealed.fouled else Tone.PLAIN
        return (grid(rows, lambda at: (f" {won[at]:+}",) if won else (), tone=tone),)
    natural = next((each for each in eye.all_told(NaturalDeclared) if each.seat == seat), None)
    if natural is not None:
        group = Group(cards(natural.cards), (plain(natural.natural),), Tone.MARKED)
        return (Zone("natural", Kind.MELD, (group,)),)
    own: View | None = eye.own_view(seat)
    setting: Rows | None = None if own is None else own.setting
    if setting is not None:
        tone = Tone.DIM if seat in standings else Tone.PLAIN
        return (grid((setting.front, setting.middle, setting.back), lambda _: (), tone=tone),)
    return (hand(HAND_SIZE, None if own is None else by_suit(own.held)),)


def _won_by_row(seat: Seat, standings: Mapping[Seat, Standing]) -> tuple[int, ...]:
    """What each row wins of all others whose rows it is compared with; none if of nobody."""
    ours = standings[seat]
    if not isinstance(ours, Strengths) or is_foul(ours):
        return ()
    against = [
        rows_won(ours, theirs)
        for other, theirs in standings.items()
        if other != seat and isinstance(theirs, Strengths) and not is_foul(theirs)
    ]
    return tuple(map(sum, zip(*against, strict=True)))


def _pairs(of: Mapping[Seat, Standing]) -> tuple[Line, ...]:
    """What every pair of seats settles, and why."""
    return settled(
        sorted(of),
        lambda one, two: pair_units(of[one], of[two]),
        lambda one, two: _how(of[one], of[two]),
    )


def _how(ours: Standing, theirs: Standing) -> Line:
    """By what two seats settle, to follow the sum."""
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


def _sums(event: Scored) -> tuple[Line, ...]:
    return (
        line("Scored: ", *by_seat(event.units, signed=True), "."),
        line("In all: ", *by_seat(event.totals, signed=True), "."),
    )
