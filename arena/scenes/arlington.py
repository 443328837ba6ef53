"""Pictures of Arlington."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.cards import Card as Code
from arena.cards import in_order
from arena.games.arlington.layout import table_of
from arena.games.arlington.sets import TWO_OF_SPADES, Spectrum, reading_of
from arena.games.arlington.words import (
    Began,
    CardAdded,
    CardLed,
    CardPlayed,
    Dealt,
    JokerTaken,
    Killed,
    Overplayed,
    Passed,
    Phase,
    S2Played,
    Scored,
    SetKept,
    SetLed,
    Table,
    TrickTaken,
    View,
)
from arena.games.contract import Event, Seat
from arena.scenes.drawing import (
    DEALER,
    cards,
    fact,
    goal,
    hand,
    named,
    pile,
    said,
    shown_zones,
    trick,
)
from arena.scenes.eye import Eye, last_by
from arena.scenes.sentences import Words, by_seat, joined, line
from arena.scenes.vocabulary import Badge, Fact, Group, Kind, Line, Scene, SeatScene, Tone, Zone

_KINDS: Final = {
    Spectrum.ACES: "aces",
    Spectrum.MULTIPLES: "of a rank",
    Spectrum.COUPLES: "couple",
    Spectrum.RUNS: "run",
}

ENDS: Final = (Scored,)
WORDS: Final[Words] = {
    Began: "A hand is dealt. {dealer} deals; the next seat has the lead.",
    Dealt: "{seat} gets {cards}.",
    CardLed: "{seat} leads {card} to a trick.",
    CardPlayed: "{seat} plays {card}.",
    TrickTaken: "{seat} takes the trick: its own card is buried, the others go to its hand.",
    SetLed: lambda event: f"{{seat}} leads a set: {{cards}}, {_KINDS[event.spectrum]}.",
    Passed: "{seat} passes.",
    Overplayed: "{seat} overplays with {cards}; the set before it is buried.",
    Killed: "{seat} buries the set with the two of spades, and has the lead.",
    SetKept: "{seat} keeps the set and has the lead.",
    S2Played: "{seat} buries a set of {owner} with the two of spades.",
    CardAdded: "{seat} adds {card} to a set of {owner}.",
    JokerTaken: "{seat} takes a joker from a set of {owner}, and puts {card} there.",
    Scored: lambda event: joined(_reasons(event)),
}

QUIET: Final[Words] = {}


def scene(eye: Eye) -> Scene:
    """The table: the sets in front of each seat, the trick in the middle."""
    view: View = eye.view
    scored = eye.last_told(Scored)
    return Scene(
        tuple(_seat(eye, view, Seat(seat), scored) for seat in range(eye.seats)),
        "points",
        shown_zones(_trick(eye, view), pile("graveyard", view.graveyard, "in the graveyard")),
        (*_task(view), goal(eye.options, view.hand)),
        () if scored is None else _reasons(scored),
    )


def close(view: View, told: Sequence[Event], seat: Seat | None) -> View:
    """The hand's last picture: the seat with the lead has no cards."""
    for event in told:
        view = _after(view, event, seat)
    return replace(view, phase=Phase.OVER, to_act=None, active=None)


def _after(view: View, event: Event, own: Seat | None) -> View:
    """The view after one event, as far as the end of a hand can have it."""
    match event:
        case CardLed(seat, card) | CardPlayed(seat, card):
            return replace(
                _spent(view, seat, (card,), own),
                trick_seats=(*view.trick_seats, seat),
                trick_cards=(*view.trick_cards, card),
            )
        case TrickTaken(seat):
            return _taken(view, seat, own)
        case SetLed(seat, cards_, _):
            return _placed(_spent(view, seat, cards_, own), seat, cards_)
        case Overplayed(seat, cards_):
            return _placed(_spent(_without_active(view), seat, cards_, own), seat, cards_)
        case Killed(seat):
            return _buried(
                _spent(_without_active(view), seat, (TWO_OF_SPADES,), own), (TWO_OF_SPADES,)
            )
        case S2Played(seat, owner, index):
            left = _without_set(_spent(view, seat, (TWO_OF_SPADES,), own), owner, index)
            return _buried(left, (TWO_OF_SPADES,))
        case CardAdded(seat, owner, index, card):
            grown = in_order((*view.tables[owner].sets[index], card))
            return _changed(_spent(view, seat, (card,), own), owner, index, grown)
        case JokerTaken(seat, owner, index, card):
            # The joker is then in a hand, so the hand that ends is not this one's.
            joker_last = view.tables[owner].sets[index]
            swapped = in_order((*joker_last[:-1], card))
            return _changed(_spent(view, seat, (card,), own), owner, index, swapped)
        case Scored():
            return replace(view, totals=event.totals)
    return view


def _spent(view: View, seat: Seat, gone: Sequence[Code], own: Seat | None) -> View:
    sizes, known = list(view.hand_sizes), list(view.known)
    sizes[seat] -= len(gone)
    known[seat] = _less(known[seat], gone)
    held = _less(view.held, gone) if seat == own else view.held
    return replace(view, held=held, hand_sizes=tuple(sizes), known=tuple(known))


def _less(held: Sequence[Code], gone: Sequence[Code]) -> tuple[Code, ...]:
    left = list(held)
    for card in gone:
        if card in left:
            left.remove(card)
    return tuple(left)


def _taken(view: View, seat: Seat, own: Seat | None) -> View:
    at = view.trick_seats.index(seat)
    gained = view.trick_cards[:at] + view.trick_cards[at + 1 :]
    sizes, known = list(view.hand_sizes), list(view.known)
    sizes[seat] += len(gained)
    known[seat] = in_order((*known[seat], *gained))
    held = in_order((*view.held, *gained)) if seat == own else view.held
    taken = replace(view, held=held, hand_sizes=tuple(sizes), known=tuple(known))
    return _buried(replace(taken, trick_seats=(), trick_cards=()), view.trick_cards[at : at + 1])


def _buried(view: View, gone: Sequence[Code]) -> View:
    return replace(view, graveyard=view.graveyard + len(gone), buried=(*view.buried, *gone))


def _with_table(view: View, owner: Seat, table: Table) -> View:
    tables = (*view.tables[:owner], table, *view.tables[owner + 1 :])
    return replace(view, tables=tables)


def _placed(view: View, owner: Seat, placed: tuple[Code, ...]) -> View:
    return _with_table(view, owner, table_of((*view.tables[owner].sets, placed)))


def _changed(view: View, owner: Seat, index: int, grown: tuple[Code, ...]) -> View:
    sets = view.tables[owner].sets
    return _with_table(view, owner, table_of((*sets[:index], grown, *sets[index + 1 :])))


def _without_set(view: View, owner: Seat, index: int) -> View:
    sets = view.tables[owner].sets
    left = _with_table(view, owner, table_of(sets[:index] + sets[index + 1 :]))
    return _buried(left, sets[index])


def _without_active(view: View) -> View:
    active = view.active
    return view if active is None else _without_set(view, active.owner, active.index)


def _task(view: View) -> tuple[Fact, ...]:
    match view.phase:
        case Phase.LEAD:
            return (fact("now", "a lead"),)
        case Phase.TRICK:
            return (fact("now", "a card to the trick"),)
        case Phase.RESPOND:
            return (fact("now", "an answer to the marked set"),)
    return ()


def _seat(eye: Eye, view: View, seat: Seat, scored: Scored | None) -> SeatScene:
    own: View | None = eye.own_view(seat)
    table = view.tables[seat]
    active = view.active
    answered = active.index if active is not None and active.owner == seat else None
    sets = tuple(
        _set(each, points, marked=at == answered)
        for at, (each, points) in enumerate(zip(table.sets, table.points, strict=True))
    )
    badges = [DEALER] if seat == view.dealer else []
    if seat == view.lead and view.phase is not Phase.OVER:
        badges.append(Badge(("has the lead",), Tone.MARKED))
    gained = (
        () if scored is None else (fact("scores", f"{scored.points[seat]:+}", tone=Tone.MARKED),)
    )
    return SeatScene(
        seat,
        str(view.totals[seat]),
        tuple(badges),
        (fact("cards", view.hand_sizes[seat]), fact("on the table", sum(table.points)), *gained),
        shown_zones(
            hand(view.hand_sizes[seat], None if own is None else own.held, view.known[seat]),
            Zone("sets", Kind.MELD, sets),
            said(_just_said(eye, seat)),
        ),
        active=view.to_act == seat,
    )


def _set(codes: tuple[Code, ...], points: int, *, marked: bool) -> Group:
    kind = _KINDS[reading_of(codes)]
    label = f"{kind}, {points}"
    return Group(cards(codes), (label,), Tone.MARKED if marked else Tone.PLAIN)


def _just_said(eye: Eye, seat: Seat) -> Line:
    match last_by(seat, eye.news, (Passed, Killed, Overplayed, SetKept, S2Played, JokerTaken)):
        case Passed():
            return ("passes",)
        case Killed() | S2Played():
            return ("buries it",)
        case Overplayed():
            return ("overplays",)
        case SetKept():
            return ("keeps the set",)
        case JokerTaken():
            return ("takes a joker",)
    return ()


def _trick(eye: Eye, view: View) -> Zone:
    """The trick that is played, or the one that this step ended."""
    if view.trick_cards:
        return trick(zip(view.trick_seats, view.trick_cards, strict=True), title=("trick",))
    taken = next((each for each in eye.news if isinstance(each, TrickTaken)), None)
    if taken is None:
        return trick(())
    played: list[tuple[int, Code | None]] = []
    for event in reversed(eye.told):
        if isinstance(event, CardLed | CardPlayed):
            played.insert(0, (event.seat, event.card))
        if isinstance(event, CardLed):
            break
    return trick(played, taken.seat, line("trick of ", *named(taken.seat)))


def _reasons(event: Scored) -> tuple[Line, ...]:
    return (
        ("The seat with the lead has no cards left: each scores the sets on its table.",),
        line("Scored: ", *by_seat(event.points, signed=True), "."),
        line("In all: ", *by_seat(event.totals), "."),
    )
