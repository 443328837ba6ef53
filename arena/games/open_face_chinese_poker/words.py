"""What is said at a match of Open-Face Chinese Poker: moves, events, and what a seat may know."""

from enum import StrEnum
from typing import Final, TypeAlias

from arena.cards import PACK_52, Card
from arena.games.chinese.hands import BACK_SIZE, FRONT_SIZE, MIDDLE_SIZE, high_first
from arena.games.contract import Seat
from arena.games.values import value


class Phase(StrEnum):
    FANTASYLAND = "fantasyland"
    """The seats in Fantasyland set all thirteen cards, unseen."""
    PLACE = "place"
    """The seat to act places its first five cards, or the card it drew."""
    OVER = "over"


# What a seat may do.


@value(frozen=True, slots=True)
class Place:
    """Put cards into rows. The order within a row means nothing."""

    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "front", high_first(self.front))
        object.__setattr__(self, "middle", high_first(self.middle))
        object.__setattr__(self, "back", high_first(self.back))

    @classmethod
    def in_order(
        cls, front: tuple[Card, ...], middle: tuple[Card, ...], back: tuple[Card, ...]
    ) -> "Place":
        """The move whose rows are high first already: a first ask has 232 of them."""
        move = object.__new__(cls)
        object.__setattr__(move, "front", front)
        object.__setattr__(move, "middle", middle)
        object.__setattr__(move, "back", back)
        return move


Move: TypeAlias = Place

# Moves of one card are interned: equal moves are one object.
SINGLES: Final = {
    card: (Place((card,), (), ()), Place((), (card,), ()), Place((), (), (card,)))
    for card in PACK_52
}


# What is told.


@value(frozen=True, slots=True)
class HandBegan:
    """A hand began; `fantasyland` says by seat who is there."""

    hand: int
    dealer: Seat
    fantasyland: tuple[bool, ...]


@value(frozen=True, slots=True)
class Dealt:
    """The seat's first cards, five or thirteen; for that seat alone."""

    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class Drawn:
    """The seat drew a card, which all see."""

    seat: Seat
    card: Card


@value(frozen=True, slots=True)
class Placed:
    """The seat put cards into its rows."""

    seat: Seat
    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]


@value(frozen=True, slots=True)
class Revealed:
    """The rows that a seat set in Fantasyland."""

    seat: Seat
    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]


@value(frozen=True, slots=True)
class Scored:
    """A hand was scored; all by seat."""

    hand: int
    fouls: tuple[bool, ...]
    royalties: tuple[int, ...]
    units: tuple[int, ...]
    totals: tuple[int, ...]
    fantasyland: tuple[bool, ...]
    """Who plays the next hand in Fantasyland."""


Event: TypeAlias = HandBegan | Dealt | Drawn | Placed | Revealed | Scored


@value(frozen=True, slots=True)
class Layout:
    """The rows of one seat."""

    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]

    def room(self) -> tuple[int, int, int]:
        """Cards that still fit into front, middle and back."""
        return (
            FRONT_SIZE - len(self.front),
            MIDDLE_SIZE - len(self.middle),
            BACK_SIZE - len(self.back),
        )

    def with_placed(self, move: Place) -> "Layout":
        """The rows with the move's cards added."""
        return Layout(self.front + move.front, self.middle + move.middle, self.back + move.back)


@value(frozen=True, slots=True)
class View:
    """What one seat may know. Nothing shows whether a seat in Fantasyland has set."""

    phase: Phase
    hand: int
    dealer: Seat
    to_act: tuple[Seat, ...]
    fantasyland: tuple[bool, ...]
    layouts: tuple[Layout, ...]
    """By seat; empty for seats in Fantasyland until the end."""
    to_place: tuple[Card, ...]
    """The own cards that are still to be placed."""
    own_setting: Layout | None
    """What the own seat has set in Fantasyland."""
    drawn: Card | None
    """The card that the seat to act has drawn."""
    stock: int
    hands_left: int
    """Ordinary hands still to come, this one included if it is one."""
    totals: tuple[int, ...]
