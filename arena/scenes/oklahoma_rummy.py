"""Pictures of Oklahoma Rummy."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from arena.cards import Card as Code
from arena.games.contract import Event, Seat
from arena.games.oklahoma_rummy.melds import End, MeldKind, TableMeld, extended
from arena.games.oklahoma_rummy.rules import without
from arena.games.oklahoma_rummy.scoring import OUT_POINTS
from arena.games.oklahoma_rummy.words import (
    Began,
    Dealt,
    Declined,
    Discarded,
    Drew,
    Extended,
    KeptQueens,
    Melded,
    Phase,
    PileTaken,
    Received,
    Scored,
    StockRebuilt,
    Table,
    View,
)
from arena.scenes.drawing import (
    DEALER,
    by_suit,
    cards,
    fact,
    goal,
    hand,
    pile,
    said,
    shown_zones,
)
from arena.scenes.eye import Eye, last_by
from arena.scenes.sentences import Words, by_seat, faces, joined, line
from arena.scenes.vocabulary import (
    Badge,
    Card,
    Face,
    Fact,
    Group,
    Kind,
    Line,
    Name,
    Pile,
    Scene,
    SeatScene,
    Tone,
    Zone,
)

_PILE_SHOWN: Final = 12
"""Cards of the discard pile that lie side by side, the latest; the others are a number."""
_ENDS_OF_RUN: Final = {
    End.LOW: "{seat} adds {card} below a run.",
    End.HIGH: "{seat} adds {card} above a run.",
    None: "{seat} adds {card} to a set.",
}

ENDS: Final = (Scored,)
WORDS: Final[Words] = {
    Began: "A hand is dealt, {hand_size:count card} each. {dealer} deals; {upcard} is turned up.",
    Dealt: "{seat} gets {cards}.",
    StockRebuilt: "The discards are shuffled into a new stock of {stock:count card}.",
    Drew: "{seat} draws from the stock.",
    Received: "{seat} gets {card}.",
    PileTaken: lambda event: line(
        Name(event.seat),
        " takes the pile with ",
        *faces(event.meld.cards),
        *(line(", and gets ", *faces(event.cards)) if event.cards else ()),
        ".",
    ),
    Declined: "{seat} leaves the pile, and nothing can be drawn.",
    Melded: lambda event: line(
        Name(event.seat), f" melds a {event.meld.kind}: ", *faces(event.meld.cards), "."
    ),
    Extended: lambda event: _ENDS_OF_RUN[event.end],
    Discarded: "{seat} discards {card}.",
    KeptQueens: "{seat} has nothing but queens of spades, and discards nothing.",
    Scored: lambda event: joined(_reasons(event)),
}

QUIET: Final[Words] = {}


def scene(eye: Eye) -> Scene:
    """The table: melds in front of each seat, the stock and the whole discard pile between."""
    view: View = eye.view
    scored = eye.last_told(Scored)
    rebuilt = (fact("stock rebuilt", view.rebuilds),) if view.rebuilds else ()
    task = {Phase.DRAW: "draw, or take the pile", Phase.PLAY: "meld, then discard"}
    now = (fact("now", task[view.phase]),) if view.phase in task else ()
    return Scene(
        tuple(_seat(eye, view, Seat(seat), scored) for seat in range(eye.seats)),
        "points",
        shown_zones(pile("stock", view.stock, "in the stock"), _pile(view)),
        (*now, *rebuilt, goal(eye.options, view.hand)),
        () if scored is None else _reasons(scored),
    )


def close(view: View, told: Sequence[Event], seat: Seat | None) -> View:
    """The hand's last picture: a seat is out, or nobody can draw."""
    for event in told:
        view = _after(view, event, seat)
    return replace(view, phase=Phase.OVER, to_act=None, drawn=None)


def _after(view: View, event: Event, own: Seat | None) -> View:
    match event:
        case Melded(seat, meld):
            spent = _spent(view, seat, meld.cards, own)
            return _with_melds(spent, seat, (*view.tables[seat].melds, meld))
        case Extended(seat, index, card, end):
            melds = view.tables[seat].melds
            grown = extended(melds[index], card, end)
            assert grown is not None
            spent = _spent(view, seat, (card,), own)
            return _with_melds(spent, seat, (*melds[:index], grown, *melds[index + 1 :]))
        case PileTaken(seat, meld, taken):
            from_hand = list(meld.cards)
            from_hand.remove(view.pile[-1])
            spent = replace(_spent(view, seat, from_hand, own), pile=())
            sizes = list(spent.hand_sizes)
            sizes[seat] += len(taken)
            held = (*spent.held, *taken) if seat == own else spent.held
            gained = replace(spent, held=held, hand_sizes=tuple(sizes))
            return _with_melds(gained, seat, (*view.tables[seat].melds, meld))
        case Discarded(seat, card):
            spent = _spent(view, seat, (card,), own)
            return replace(spent, pile=(*view.pile, card))
        case Scored():
            return replace(view, totals=event.totals)
    return view


def _spent(view: View, seat: Seat, gone: Sequence[Code], own: Seat | None) -> View:
    sizes, known, held = list(view.hand_sizes), list(view.known), view.held
    sizes[seat] -= len(gone)
    for card in gone:
        known[seat] = without(known[seat], card)
        held = without(held, card) if seat == own else held
    return replace(view, held=held, hand_sizes=tuple(sizes), known=tuple(known))


def _with_melds(view: View, seat: Seat, melds: tuple[TableMeld, ...]) -> View:
    tables = (*view.tables[:seat], Table(melds), *view.tables[seat + 1 :])
    return replace(view, tables=tables)


def _pile(view: View) -> Zone:
    """The discards, the top on the right and marked: whoever takes it takes them all."""
    shown = view.pile[-_PILE_SHOWN:]
    below = len(view.pile) - len(shown)
    items = tuple(
        Card(code, Tone.MARKED if at == len(shown) - 1 else Tone.PLAIN)
        for at, code in enumerate(shown)
    )
    earlier = (Pile(below, "more below", view.pile[below - 1]),) if below else ()
    return Zone("pile", Kind.FAN, (*earlier, *items), ("discards, the top marked",))


def _seat(eye: Eye, view: View, seat: Seat, scored: Scored | None) -> SeatScene:
    own: View | None = eye.own_view(seat)
    if scored is None:
        held = None if own is None else by_suit(own.held)
        shown = hand(view.hand_sizes[seat], held, by_suit(view.known[seat]))
    else:
        shown = hand(0, by_suit(scored.leftovers[seat]), tone=Tone.DIM)
    badges = [DEALER] if seat == view.dealer else []
    if scored is not None and scored.out == seat:
        badges.append(Badge(("out",), Tone.MARKED))
    melds = view.tables[seat].melds
    return SeatScene(
        seat,
        str(view.totals[seat]),
        tuple(badges),
        _facts(view, seat, scored),
        shown_zones(
            shown,
            Zone("melds", Kind.MELD, tuple(map(_meld, melds))),
            said(_just_done(eye, seat)),
        ),
        active=view.to_act == seat,
    )


def _meld(meld: TableMeld) -> Group:
    drawn = cards(meld.cards)
    if meld.kind is MeldKind.RUN:
        drawn = tuple(
            Card(code, tag=() if code == stands else line("as ", Face(stands)))
            for code, stands in zip(meld.cards, meld.stands_for, strict=True)
        )
    return Group(drawn, (f"{meld.kind}, {meld.points}",))


def _facts(view: View, seat: Seat, scored: Scored | None) -> tuple[Fact, ...]:
    if scored is None:
        melded = sum(meld.points for meld in view.tables[seat].melds)
        return (fact("cards", view.hand_sizes[seat]), fact("melded", melded))
    facts = [
        fact("melded", f"+{scored.melded[seat]}"),
        fact("left in hand", f"-{scored.lost[seat]}"),
    ]
    if scored.out == seat:
        facts.append(fact("going out", f"+{OUT_POINTS}"))
    return (*facts, fact("scores", f"{scored.points[seat]:+}", tone=Tone.MARKED))


def _just_done(eye: Eye, seat: Seat) -> Line:
    match last_by(seat, eye.news, (Drew, PileTaken, Melded, Extended, Discarded, Declined)):
        case Drew():
            return ("draws",)
        case PileTaken():
            return ("takes the pile",)
        case Melded():
            return ("melds",)
        case Extended(_, _, card, _):
            return line("adds ", Face(card))
        case Discarded(_, card):
            return line("discards ", Face(card))
        case Declined():
            return ("leaves the pile",)
    return ()


def _reasons(event: Scored) -> tuple[Line, ...]:
    if event.out is None:
        how = line("Nothing can be drawn, so the hand ends with nobody out.")
    else:
        how = line(Name(event.out), f" is out, for {OUT_POINTS}.")
    return (
        line(*how, " Each scores its melds, less the cards left in its hand."),
        line("Scored: ", *by_seat(event.points, signed=True), "."),
        line("In all: ", *by_seat(event.totals), "."),
    )
