"""Scenes of Oklahoma Rummy."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Final

from arena.games.cards import Card as Code
from arena.games.cards import without
from arena.games.contract import Event, Seat, with_entry
from arena.games.oklahoma_rummy import messages as rummy
from arena.games.oklahoma_rummy.melds import (
    OUT_POINTS,
    QUEEN_OF_SPADES,
    SIZES,
    End,
    MeldKind,
    TableMeld,
    extended,
)
from arena.games.oklahoma_rummy.messages import Phase, View
from arena.pictures import drawing as draw
from arena.pictures.choices import Asks, Cards, MoveWords, Target, Targets, Widget
from arena.pictures.drawing import spent
from arena.pictures.sentences import Sentences, faces, joined, line, score_lines
from arena.pictures.viewer import Perspective
from arena.pictures.vocabulary import (
    Badge,
    Card,
    Face,
    Fact,
    Group,
    Line,
    Name,
    Pile,
    Scene,
    SeatScene,
    Tone,
    Zone,
    ZoneKind,
)

_PILE_SHOWN: Final = 12
"""The number of latest discards that are drawn side by side; the others are a pile."""
_ENDS_OF_RUN: Final = {
    End.LOW: "{seat} adds {card} below a run.",
    End.HIGH: "{seat} adds {card} above a run.",
    None: "{seat} adds {card} to a set.",
}

HAND_ENDS: Final = (rummy.Scored,)
SENTENCES: Final[Sentences] = {
    rummy.Began: "A hand is dealt, {hand_size:count card} each. {dealer} deals; {upcard} is turned up.",
    rummy.Dealt: "{seat} gets {cards}.",
    rummy.StockRebuilt: "The discards are shuffled into a new stock of {stock:count card}.",
    rummy.Drew: "{seat} draws from the stock.",
    rummy.Received: "{seat} gets {card}.",
    rummy.PileTaken: lambda event: line(
        Name(event.seat),
        " takes the pile with ",
        *faces(event.meld.cards),
        *(line(", and gets ", *faces(event.cards)) if event.cards else ()),
        ".",
    ),
    rummy.Declined: "{seat} leaves the pile, and nothing can be drawn.",
    rummy.Melded: lambda event: line(
        Name(event.seat), f" melds a {event.meld.kind}: ", *faces(event.meld.cards), "."
    ),
    rummy.Extended: lambda event: _ENDS_OF_RUN[event.end],
    rummy.Discarded: "{seat} discards {card}.",
    rummy.KeptQueens: "{seat} has nothing but queens of spades, and discards nothing.",
    rummy.Scored: lambda event: joined(_reasons(event)),
}
_WORDS: Final[Sentences] = {
    rummy.Drew: "draws",
    rummy.PileTaken: "takes the pile",
    rummy.Melded: "melds",
    rummy.Extended: "adds {card}",
    rummy.Discarded: "discards {card}",
    rummy.Declined: "leaves the pile",
}

ASKS: Final[Asks] = {
    Phase.DRAW: (
        Widget.SELECT,
        "Draw from the stock, or choose two cards that make a meld with the top discard, and take the pile.",
    ),
    Phase.PLAY: (
        Widget.SELECT,
        "Choose cards to meld, or one to add to your melds; a discard ends your turn.",
    ),
}
MOVES: Final[MoveWords] = {
    rummy.Draw: "Draw from the stock",
    rummy.TakePile: "Take the pile with the {kind} {cards}",
    rummy.Decline: "Leave the pile: the hand ends",
    rummy.Meld: "Meld the {kind} {cards}",
    rummy.Extend: lambda move, view: line(
        "Add ",
        Face(move.card),
        f" {'to' if move.end is None else 'below' if move.end is End.LOW else 'above'} meld "
        f"{move.index + 1}, ",
        *faces(view.tables[view.to_act].melds[move.index].cards),
    ),
    rummy.Discard: "Discard {card}",
    rummy.NoDiscard: "End the turn without a discard",
}
TARGETS: Final[Targets] = {
    rummy.Draw: lambda _, view: Target("centre/stock") if view.stock else None
}
CARDS: Final[Cards] = {rummy.TakePile: lambda move, view: without(move.cards, view.pile[-1:])}


def why_not(_view: View, card: str) -> Line:
    """Return why a card cannot be discarded."""
    return ("cannot be discarded",) if card == QUEEN_OF_SPADES else ()


def made(view: View, cards: tuple[Code, ...]) -> Iterator[rummy.Move]:
    """Yield the melds that these cards may be; of a run in every order, as a 2 stands for any card."""
    top, move = ((), rummy.Meld) if view.phase is Phase.PLAY else (view.pile[-1:], rummy.TakePile)
    laid = (*cards, *top)
    if len(laid) in SIZES:
        yield move(MeldKind.SET, laid)
        yield from (move(MeldKind.RUN, order) for order in permutations(laid))


def scene(perspective: Perspective) -> Scene:
    """Draw melds in front of each seat, and the stock and the discard pile in the centre."""
    view: View = perspective.view
    scored = perspective.last_event(rummy.Scored)
    rebuilt = (draw.fact("stock rebuilt", view.rebuilds),) if view.rebuilds else ()
    task = {Phase.DRAW: "draw, or take the pile", Phase.PLAY: "meld, then discard"}
    now = (draw.fact("now", task[view.phase]),) if view.phase in task else ()
    return Scene(
        tuple(_seat(perspective, view, Seat(seat), scored) for seat in range(perspective.seats)),
        "points",
        draw.shown_zones(draw.pile("stock", view.stock, "in the stock"), _pile(view)),
        (*now, *rebuilt, draw.goal(perspective.options, view.hand)),
        () if scored is None else _reasons(scored),
    )


def close(view: View, events: Sequence[Event], seat: Seat | None) -> View:
    """Return the view at the end of a hand: a seat went out, or no card can be drawn."""
    for event in events:
        view = _after(view, event, seat)
    return replace(view, phase=Phase.OVER, to_act=None, drawn=None)


def _after(view: View, event: Event, own: Seat | None) -> View:
    match event:
        case rummy.Melded(seat, meld):
            left = spent(view, seat, meld.cards, own)
            return _with_melds(left, seat, (*view.tables[seat].melds, meld))
        case rummy.Extended(seat, index, card, end):
            melds = view.tables[seat].melds
            grown = extended(melds[index], card, end)
            assert grown is not None
            left = spent(view, seat, (card,), own)
            return _with_melds(left, seat, with_entry(melds, index, grown))
        case rummy.PileTaken(seat, meld, taken):
            from_hand = list(meld.cards)
            from_hand.remove(view.pile[-1])
            left = replace(spent(view, seat, from_hand, own), pile=())
            sizes = with_entry(left.hand_sizes, seat, left.hand_sizes[seat] + len(taken))
            held = (*left.held, *taken) if seat == own else left.held
            gained = replace(left, held=held, hand_sizes=sizes)
            return _with_melds(gained, seat, (*view.tables[seat].melds, meld))
        case rummy.Discarded(seat, card):
            left = spent(view, seat, (card,), own)
            return replace(left, pile=(*view.pile, card))
        case rummy.Scored():
            return replace(view, totals=event.totals)
    return view


def _with_melds(view: View, seat: Seat, melds: tuple[TableMeld, ...]) -> View:
    tables = with_entry(view.tables, seat, rummy.Table(melds))
    return replace(view, tables=tables)


def _pile(view: View) -> Zone:
    shown = view.pile[-_PILE_SHOWN:]
    below = len(view.pile) - len(shown)
    items = tuple(
        Card(code, Tone.MARKED if at == len(shown) - 1 else Tone.PLAIN)
        for at, code in enumerate(shown)
    )
    earlier = (Pile(below, "more below", view.pile[below - 1]),) if below else ()
    return Zone("pile", ZoneKind.FAN, (*earlier, *items), ("discards, the top marked",))


def _seat(
    perspective: Perspective, view: View, seat: Seat, scored: rummy.Scored | None
) -> SeatScene:
    seat_view: View | None = perspective.view_of(seat)
    if scored is None:
        held = None if seat_view is None else draw.by_suit(seat_view.held)
        shown = draw.hand(view.hand_sizes[seat], held, draw.by_suit(view.known[seat]))
    else:
        shown = draw.hand(0, draw.by_suit(scored.leftovers[seat]), tone=Tone.DIM)
    out = scored is not None and scored.out == seat
    badges = (Badge(("out",), Tone.MARKED),) if out else ()
    zones = (
        shown,
        Zone("melds", ZoneKind.MELD, tuple(map(_meld, view.tables[seat].melds))),
        draw.latest_words(seat, perspective.latest_events, _WORDS),
    )
    return draw.seat_scene(
        view, seat, str(view.totals[seat]), badges, _facts(view, seat, scored), zones
    )


def _meld(meld: TableMeld) -> Group:
    drawn = draw.cards(meld.cards)
    if meld.kind is MeldKind.RUN:
        drawn = tuple(
            Card(code, tag=() if code == stands else line("as ", Face(stands)))
            for code, stands in zip(meld.cards, meld.stands_for, strict=True)
        )
    return Group(drawn, (f"{meld.kind}, {meld.points}",))


def _facts(view: View, seat: Seat, scored: rummy.Scored | None) -> tuple[Fact, ...]:
    if scored is None:
        melded = sum(meld.points for meld in view.tables[seat].melds)
        return (
            draw.fact("cards", view.hand_sizes[seat]),
            draw.fact("melded", melded, tone=Tone.MARKED),
        )
    facts = [
        draw.fact("melded", f"+{scored.melded[seat]}"),
        draw.fact("left in hand", f"-{scored.lost[seat]}"),
    ]
    if scored.out == seat:
        facts.append(draw.fact("going out", f"+{OUT_POINTS}"))
    return (*facts, draw.gain("scores", scored.points[seat]))


def _reasons(event: rummy.Scored) -> tuple[Line, ...]:
    if event.out is None:
        how = line("Nothing can be drawn, so the hand ends with nobody out.")
    else:
        how = line(Name(event.out), f" is out, for {OUT_POINTS}.")
    return (
        line(*how, " Each scores its melds, less the cards left in its hand."),
        *score_lines(event.points, event.totals),
    )
