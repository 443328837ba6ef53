"""The places of the cards in a hand of Arlington, and functions that move them.

Cards are in hands, in sets on tables, in the current trick, and in the graveyard. A layout also records
which cards of the hands are public: those taken with a trick, and jokers taken from a set.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.games.arlington.messages import Table
from arena.games.arlington.sets import CardSet, points_of
from arena.games.cards import Card, in_order, without
from arena.games.contract import Seat, with_entry


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of all cards except those of the current trick. Tuples of hands and tables are by seat."""

    hands: tuple[CardSet, ...]
    """Each in canonical order."""
    known: tuple[CardSet, ...]
    """The cards in each hand that everybody has seen."""
    tables: tuple[Table, ...]
    buried: tuple[Card, ...]
    """Cards of the graveyard that everybody has seen, in the order buried."""
    undealt: int
    """The number of undealt cards, which are in the graveyard from the start."""


def table_of(sets: Iterable[CardSet]) -> Table:
    """Return a table with these sets."""
    placed = tuple(sets)
    return Table(placed, tuple([points_of(cards) for cards in placed]))


def spend(layout: Layout, seat: Seat, cards: Sequence[Card]) -> Layout:
    """Return the layout after the seat played these cards from its hand."""
    return Layout(
        with_entry(layout.hands, seat, without(layout.hands[seat], cards)),
        with_entry(layout.known, seat, without(layout.known[seat], cards)),
        layout.tables,
        layout.buried,
        layout.undealt,
    )


def gather(layout: Layout, seat: Seat, cards: Sequence[Card]) -> Layout:
    """Return the layout after the seat took these public cards into its hand."""
    if not cards:
        return layout
    return Layout(
        with_entry(layout.hands, seat, in_order((*layout.hands[seat], *cards))),
        with_entry(layout.known, seat, in_order((*layout.known[seat], *cards))),
        layout.tables,
        layout.buried,
        layout.undealt,
    )


def place_set(layout: Layout, seat: Seat, cards: CardSet) -> Layout:
    """Return the layout with one more set at the end of the seat's table."""
    return _with_sets(layout, seat, (*layout.tables[seat].sets, cards))


def change_set(layout: Layout, seat: Seat, index: int, cards: CardSet) -> Layout:
    """Return the layout with a set on the seat's table replaced."""
    return _with_sets(layout, seat, with_entry(layout.tables[seat].sets, index, cards))


def bury_set(layout: Layout, seat: Seat, index: int) -> Layout:
    """Return the layout after a set of the seat's table was buried."""
    sets = layout.tables[seat].sets
    left = _with_sets(layout, seat, sets[:index] + sets[index + 1 :])
    return bury(left, sets[index])


def bury(layout: Layout, cards: Sequence[Card]) -> Layout:
    """Return the layout after these public cards were buried."""
    buried = (*layout.buried, *cards)
    return Layout(layout.hands, layout.known, layout.tables, buried, layout.undealt)


def next_holder(layout: Layout, after: Seat, leader: Seat) -> Seat | None:
    """Return the next seat clockwise with cards, or None if the leader is reached first.

    Seats without cards are skipped (ruling 13).
    """
    seats = len(layout.hands)
    player = (after + 1) % seats
    while player != leader:
        if layout.hands[player]:
            return Seat(player)
        player = (player + 1) % seats
    return None


def _with_sets(layout: Layout, seat: Seat, sets: tuple[CardSet, ...]) -> Layout:
    tables = with_entry(layout.tables, seat, table_of(sets))
    return Layout(layout.hands, layout.known, tables, layout.buried, layout.undealt)
