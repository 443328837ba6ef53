"""Scenes of Arlington."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from arena.games.arlington import messages as arlington
from arena.games.arlington.layout import table_of
from arena.games.arlington.messages import Phase, View
from arena.games.arlington.sets import TWO_OF_SPADES, Spectrum, reading_of
from arena.games.cards import Card as Code
from arena.games.cards import in_order
from arena.games.contract import Event, Seat, with_entry
from arena.pictures import drawing as draw
from arena.pictures.choices import Asks, Cards, MoveWords, Widget
from arena.pictures.drawing import spent
from arena.pictures.sentences import Sentences, faces, joined, line, score_lines
from arena.pictures.viewer import Perspective, latest
from arena.pictures.vocabulary import (
    Badge,
    Face,
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

_KINDS: Final = {
    Spectrum.ACES: "aces",
    Spectrum.MULTIPLES: "of a rank",
    Spectrum.COUPLES: "couple",
    Spectrum.RUNS: "run",
}

HAND_ENDS: Final = (arlington.Scored,)
SENTENCES: Final[Sentences] = {
    arlington.Began: "A hand is dealt. {dealer} deals; the next seat has the lead.",
    arlington.Dealt: "{seat} gets {cards}.",
    arlington.CardLed: "{seat} leads {card} to a trick.",
    arlington.CardPlayed: "{seat} plays {card}.",
    arlington.TrickTaken: "{seat} takes the trick: its own card is buried, the others go to its hand.",
    arlington.SetLed: lambda event: f"{{seat}} leads a set: {{cards}}, {_KINDS[event.spectrum]}.",
    arlington.Passed: "{seat} passes.",
    arlington.Overplayed: "{seat} overplays with {cards}; the set before it is buried.",
    arlington.Killed: "{seat} buries the set with the two of spades, and has the lead.",
    arlington.SetKept: "{seat} keeps the set and has the lead.",
    arlington.S2Played: "{seat} buries a set of {owner} with the two of spades.",
    arlington.CardAdded: "{seat} adds {card} to a set of {owner}.",
    arlington.JokerTaken: "{seat} takes a joker from a set of {owner}, and puts {card} there.",
    arlington.Scored: lambda event: joined(_reasons(event)),
}
_WORDS: Final[Sentences] = {
    arlington.Passed: "passes",
    arlington.Killed: "buries it",
    arlington.S2Played: "buries it",
    arlington.Overplayed: "overplays",
    arlington.SetKept: "keeps the set",
    arlington.JokerTaken: "takes a joker",
}

ASKS: Final[Asks] = {
    Phase.LEAD: (
        Widget.SELECT,
        "You have the lead: choose a card for a trick or the cards of a set, or a card for a set on a table.",
    ),
    Phase.TRICK: (Widget.CLICK, "A card was led: play any card to the trick."),
    Phase.RESPOND: (Widget.SELECT, "Beat the marked set with a higher one of its kind, or pass."),
}
MOVES: Final[MoveWords] = {
    arlington.LeadCard: "Lead {card} to a trick",
    arlington.LeadSet: lambda move, _: f"Lead {{cards}} as a set, {_KINDS[move.spectrum]}",
    arlington.PlayS2: lambda move, view: line(
        "Bury ", *_on_table(move, view), " with the two of spades"
    ),
    arlington.Add: lambda move, view: line("Add ", Face(move.card), " to ", *_on_table(move, view)),
    arlington.TakeJoker: lambda move, view: line(
        "Take the joker and put ", Face(move.card), " into ", *_on_table(move, view)
    ),
    arlington.PlayCard: "Play {card}",
    arlington.Pass: "Pass",
    arlington.Overplay: "Overplay with {cards}",
    arlington.Kill: "Bury the set with the two of spades",
}
CARDS: Final[Cards] = {
    arlington.PlayS2: lambda *_: (TWO_OF_SPADES,),
    arlington.Kill: lambda *_: (TWO_OF_SPADES,),
}


def _on_table(move: Any, view: View) -> Line:
    cards = faces(view.tables[move.seat].sets[move.index])
    return line(f"set {move.index + 1} of ", Name(move.seat), ", ", *cards)


def made(view: View, cards: tuple[Code, ...]) -> tuple[arlington.Move, ...]:
    """Return the sets that these cards may be."""
    if view.phase is Phase.RESPOND:
        return (arlington.Overplay(cards),)
    return tuple(arlington.LeadSet(cards, spectrum) for spectrum in Spectrum)


def scene(perspective: Perspective) -> Scene:
    """Draw the sets in front of each seat, and the trick in the centre."""
    view: View = perspective.view
    scored = perspective.last_event(arlington.Scored)
    return Scene(
        tuple(_seat(perspective, view, Seat(seat), scored) for seat in range(perspective.seats)),
        "points",
        draw.shown_zones(
            _trick(perspective, view), draw.pile("graveyard", view.graveyard, "in the graveyard")
        ),
        (*_task(view), draw.goal(perspective.options, view.hand)),
        () if scored is None else _reasons(scored),
    )


def close(view: View, events: Sequence[Event], seat: Seat | None) -> View:
    """Return the view at the end of a hand: the seat with the lead has no cards."""
    for event in events:
        view = _after(view, event, seat)
    return replace(view, phase=Phase.OVER, to_act=None, active=None)


def _after(view: View, event: Event, own: Seat | None) -> View:
    """Return the view after one event that can occur in the last step of a hand."""
    match event:
        case arlington.CardLed(seat, card) | arlington.CardPlayed(seat, card):
            return replace(
                spent(view, seat, (card,), own),
                trick_seats=(*view.trick_seats, seat),
                trick_cards=(*view.trick_cards, card),
            )
        case arlington.TrickTaken(seat):
            return _taken(view, seat, own)
        case arlington.SetLed(seat, cards_, _):
            return _placed(spent(view, seat, cards_, own), seat, cards_)
        case arlington.Overplayed(seat, cards_):
            return _placed(spent(_without_active(view), seat, cards_, own), seat, cards_)
        case arlington.Killed(seat):
            return _buried(
                spent(_without_active(view), seat, (TWO_OF_SPADES,), own), (TWO_OF_SPADES,)
            )
        case arlington.S2Played(seat, owner, index):
            left = _without_set(spent(view, seat, (TWO_OF_SPADES,), own), owner, index)
            return _buried(left, (TWO_OF_SPADES,))
        case arlington.CardAdded(seat, owner, index, card):
            grown = in_order((*view.tables[owner].sets[index], card))
            return _changed(spent(view, seat, (card,), own), owner, index, grown)
        case arlington.JokerTaken(seat, owner, index, card):
            # The seat has the joker then, so the hand does not end with this event.
            joker_last = view.tables[owner].sets[index]
            swapped = in_order((*joker_last[:-1], card))
            return _changed(spent(view, seat, (card,), own), owner, index, swapped)
        case arlington.Scored():
            return replace(view, totals=event.totals)
    return view


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


def _with_table(view: View, owner: Seat, table: arlington.Table) -> View:
    tables = with_entry(view.tables, owner, table)
    return replace(view, tables=tables)


def _placed(view: View, owner: Seat, placed: tuple[Code, ...]) -> View:
    return _with_table(view, owner, table_of((*view.tables[owner].sets, placed)))


def _changed(view: View, owner: Seat, index: int, grown: tuple[Code, ...]) -> View:
    sets = view.tables[owner].sets
    return _with_table(view, owner, table_of(with_entry(sets, index, grown)))


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
            return (draw.fact("now", "a lead"),)
        case Phase.TRICK:
            return (draw.fact("now", "a card to the trick"),)
        case Phase.RESPOND:
            return (draw.fact("now", "an answer to the marked set"),)
    return ()


def _seat(
    perspective: Perspective, view: View, seat: Seat, scored: arlington.Scored | None
) -> SeatScene:
    seat_view: View | None = perspective.view_of(seat)
    table = view.tables[seat]
    active = view.active
    answered = active.index if active is not None and active.owner == seat else None
    sets = tuple(
        _set(codes, points, marked=at == answered)
        for at, (codes, points) in enumerate(zip(table.sets, table.points, strict=True))
    )
    leads = seat == view.lead and view.phase is not Phase.OVER
    badges = (Badge(("has the lead",), Tone.MARKED),) if leads else ()
    gained = () if scored is None else (draw.gain("scores", scored.points[seat]),)
    size = view.hand_sizes[seat]
    facts = (
        draw.fact("cards", size),
        draw.fact("on the table", sum(table.points), tone=Tone.MARKED),
        *gained,
    )
    zones = (
        draw.hand(size, None if seat_view is None else seat_view.held, view.known[seat]),
        Zone("sets", ZoneKind.MELD, sets),
        draw.latest_words(seat, perspective.latest_events, _WORDS),
    )
    return draw.seat_scene(view, seat, str(view.totals[seat]), badges, facts, zones)


def _set(codes: tuple[Code, ...], points: int, *, marked: bool) -> Group:
    kind = _KINDS[reading_of(codes)]
    label = f"{kind}, {points}"
    return Group(draw.cards(codes), (label,), Tone.MARKED if marked else Tone.PLAIN)


def _trick(perspective: Perspective, view: View) -> Zone:
    if view.trick_cards:
        return draw.trick(zip(view.trick_seats, view.trick_cards, strict=True), title=("trick",))
    taken = latest(perspective.latest_events, arlington.TrickTaken)
    if taken is None:
        return draw.trick(())
    played: list[tuple[int, Code | None]] = []
    for event in reversed(perspective.events):
        if isinstance(event, arlington.CardLed | arlington.CardPlayed):
            played.insert(0, (event.seat, event.card))
        if isinstance(event, arlington.CardLed):
            break
    return draw.trick(played, taken.seat, line("trick of ", *draw.named(taken.seat)))


def _reasons(event: arlington.Scored) -> tuple[Line, ...]:
    return (
        ("The seat with the lead has no cards left: each scores the sets on its table.",),
        *score_lines(event.points, event.totals),
    )
