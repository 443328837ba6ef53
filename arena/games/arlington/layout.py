"""Where the cards of an Arlington hand are, and how they move.

Cards are in hands, in sets on tables, in the trick being played, and in the
graveyard. Beside them stands what all have seen of the hands: a card taken
with a trick, or a joker taken from a set, is known to be where it went.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from arena.cards import Card, in_order
from arena.games.arlington.sets import CardSet, points_of
from arena.games.arlington.words import Table
from arena.games.contract import Seat

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the cards are, those of an unfinished trick apart. By seat where there are seats."""

    hands: tuple[CardSet, ...]
    """Each in canonical order."""
    known: tuple[CardSet, ...]
    """The cards in each hand that all have seen."""
    tables: tuple[Table, ...]
    buried: tuple[Card, ...]
    """Cards of the graveyard that all have seen, in the order buried."""
    undealt: int
    """Cards that were in the graveyard from the start."""


def table_of(sets: Iterable[CardSet]) -> Table:
    """A table with these sets."""
    placed = tuple(sets)
    return Table(placed, tuple([points_of(cards) for cards in placed]))


def spend(layout: Layout, seat: Seat, cards: Sequence[Card]) -> Layout:
    """The layout without the cards, which the seat held and shows."""
    return Layout(
        _with(layout.hands, seat, _without(layout.hands[seat], cards)),
        _with(layout.known, seat, _without(layout.known[seat], cards)),
        layout.tables,
        layout.buried,
        layout.undealt,
    )


def gather(layout: Layout, seat: Seat, cards: Sequence[Card]) -> Layout:
    """The layout with the cards, which all have seen, in the seat's hand."""
    if not cards:
        return layout
    return Layout(
        _with(layout.hands, seat, in_order((*layout.hands[seat], *cards))),
        _with(layout.known, seat, in_order((*layout.known[seat], *cards))),
        layout.tables,
        layout.buried,
        layout.undealt,
    )


def place_set(layout: Layout, seat: Seat, cards: CardSet) -> Layout:
    """The layout with a set more on the seat's table, after the others."""
    return _with_sets(layout, seat, (*layout.tables[seat].sets, cards))


def change_set(layout: Layout, seat: Seat, index: int, cards: CardSet) -> Layout:
    """The layout with other cards in a set on the seat's table."""
    return _with_sets(layout, seat, _with(layout.tables[seat].sets, index, cards))


def bury_set(layout: Layout, seat: Seat, index: int) -> Layout:
    """The layout with a set of the seat's table in the graveyard."""
    sets = layout.tables[seat].sets
    left = _with_sets(layout, seat, sets[:index] + sets[index + 1 :])
    return bury(left, sets[index])


def bury(layout: Layout, cards: Sequence[Card]) -> Layout:
    """The layout with the cards, which all have seen, in the graveyard."""
    buried = (*layout.buried, *cards)
    return Layout(layout.hands, layout.known, layout.tables, buried, layout.undealt)


def next_holder(layout: Layout, after: Seat, leader: Seat) -> Seat | None:
    """The next seat clockwise with cards, or None when it would be the leader's turn.

    Empty hands are passed over for the rest of the hand (ruling 13).
    """
    seats = len(layout.hands)
    seat = (after + 1) % seats
    while seat != leader:
        if layout.hands[seat]:
            return Seat(seat)
        seat = (seat + 1) % seats
    return None


def _with(values: tuple[T, ...], at: int, value: T) -> tuple[T, ...]:
    return (*values[:at], value, *values[at + 1 :])


def _without(cards: CardSet, gone: Sequence[Card]) -> CardSet:
    """The cards but for those gone, as far as they are there; of two jokers one at a time."""
    left = list(cards)
    for card in gone:
        if card in left:
            left.remove(card)
    return tuple(left)


def _with_sets(layout: Layout, seat: Seat, sets: tuple[CardSet, ...]) -> Layout:
    tables = _with(layout.tables, seat, table_of(sets))
    return Layout(layout.hands, layout.known, tables, layout.buried, layout.undealt)
