"""Moves, events, views and options of Open-Face Chinese Poker."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from arena.games.cards import PACK_52, Card
from arena.games.chinese.hands import BACK_SIZE, FRONT_SIZE, MIDDLE_SIZE, high_first
from arena.games.chinese.unit_values import unit_values_option
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.options import hands_setting


class Phase(StrEnum):
    FANTASYLAND = "fantasyland"
    """The seats in Fantasyland set all thirteen cards face down."""
    PLACE = "place"
    """The seat to act places its first five cards, or the card that it drew."""
    OVER = "over"


class Place(Frozen):
    """Place cards into rows. The order within a row does not matter."""

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
        """Return the move of rows that are already sorted, without sorting them: a first ask has 232 moves."""
        move = object.__new__(cls)
        object.__setattr__(move, "front", front)
        object.__setattr__(move, "middle", middle)
        object.__setattr__(move, "back", back)
        return move


Move: TypeAlias = Place

# Moves of one card are interned, as the codec finds the bytes of a move by its identity.
SINGLES: Final = {
    card: (Place((card,), (), ()), Place((), (card,), ()), Place((), (), (card,)))
    for card in PACK_52
}


class HandBegan(Frozen):
    """A hand began; `fantasyland` says by seat who is in Fantasyland."""

    hand: int
    dealer: Seat
    fantasyland: tuple[bool, ...]


class Dealt(Frozen):
    """The seat was dealt its first cards, five or thirteen. Sent to that seat only."""

    seat: Seat
    cards: tuple[Card, ...]


class Drawn(Frozen):
    """The seat drew a card, which is public."""

    seat: Seat
    card: Card


class Placed(Frozen):
    """The seat placed cards into its rows."""

    seat: Seat
    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]


class Revealed(Frozen):
    """A seat showed the rows that it set in Fantasyland."""

    seat: Seat
    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]


class Scored(Frozen):
    """A hand was scored. Lists are by seat."""

    hand: int
    fouls: tuple[bool, ...]
    royalties: tuple[int, ...]
    units: tuple[int, ...]
    totals: tuple[int, ...]
    fantasyland: tuple[bool, ...]
    """By seat, whether it plays the next hand in Fantasyland."""


Event: TypeAlias = HandBegan | Dealt | Drawn | Placed | Revealed | Scored


class Layout(Frozen):
    """The rows of one seat."""

    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]

    def room(self) -> tuple[int, int, int]:
        """Return how many cards still fit into front, middle and back."""
        return (
            FRONT_SIZE - len(self.front),
            MIDDLE_SIZE - len(self.middle),
            BACK_SIZE - len(self.back),
        )

    def with_placed(self, move: Place) -> "Layout":
        """Return the rows with the cards of a move added."""
        return Layout(self.front + move.front, self.middle + move.middle, self.back + move.back)


class View(Frozen):
    """What a seat may know. It does not show which seats in Fantasyland have set."""

    phase: Phase
    hand: int
    dealer: Seat
    to_act: tuple[Seat, ...]
    fantasyland: tuple[bool, ...]
    layouts: tuple[Layout, ...]
    """By seat; empty for seats in Fantasyland until the end of the hand."""
    to_place: tuple[Card, ...]
    """The seat's own cards that are still to be placed."""
    own_setting: Layout | None
    """The rows that the seat itself has set in Fantasyland."""
    drawn: Card | None
    """The card that the seat to act has drawn."""
    stock: int
    hands_left: int
    """The number of ordinary hands left, including the current one if it is ordinary."""
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Options:
    hands: int = hands_setting(
        0, "four hands dealt by each seat; hands in Fantasyland come on top", maximum=400
    )
    unit_values: str = unit_values_option()
