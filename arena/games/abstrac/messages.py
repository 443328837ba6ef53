"""Moves, events, views and options of Abstrac."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from arena.games.cards import Card
from arena.games.contract import Listed, Seat
from arena.games.frozen import Frozen
from arena.games.options import max_hands_setting, setting, target_setting

HALF: Final = 26
"""The number of cards in each half of the 52-card game."""


class Phase(StrEnum):
    CHOOSE = "choose"
    """The seat that does not deal chooses who takes first (B2)."""
    TAKE = "take"
    OVER = "over"


class Order(StrEnum):
    FIRST = "first"
    SECOND = "second"


class Choose(Frozen):
    """Take first, or let the dealer take first."""

    order: Order


class Take(Frozen):
    """Take `count` cards from the top of the row."""

    count: int


Move: TypeAlias = Choose | Take


CHOICES: Final = Listed((Choose(Order.FIRST), Choose(Order.SECOND)))

# Moves are interned, as the codec finds the bytes of a move by its identity.
TAKES: Final = tuple(
    Listed(tuple(Take(count) for count in range(1, limit + 1))) for limit in range(HALF + 1)
)


class Dealt(Frozen):
    """A row was laid out; in the 52-card game one for each half."""

    hand: int
    half: int
    dealer: Seat
    row: tuple[Card, ...]


class Chosen(Frozen):
    seat: Seat
    order: Order


class Taken(Frozen):
    seat: Seat
    cards: tuple[Card, ...]


class Scored(Frozen):
    """A hand, or a half, was scored; `points` and `totals` are by seat."""

    hand: int
    points: tuple[int, ...]
    totals: tuple[int, ...]


Event: TypeAlias = Dealt | Chosen | Taken | Scored


class View(Frozen):
    """The whole match: nothing is hidden except the order of undealt cards."""

    phase: Phase
    hand: int
    half: int
    dealer: Seat
    to_act: Seat | None
    row: tuple[Card, ...]
    """The cards of the row, the top card first."""
    taken: tuple[tuple[Card, ...], ...]
    """By seat, the cards taken, in order."""
    limit: int
    """The number of cards that may be taken; 0 unless the phase is `take`."""
    undealt: int
    """The number of cards of the second half that are still face down."""
    totals: tuple[int, ...]


class Variant(StrEnum):
    BASIC = "basic"
    SUIT = "suit"
    UNFETTERED = "unfettered"
    FIFTYTWO = "fiftytwo"


@dataclass(frozen=True, slots=True)
class Options:
    hands: int = setting(
        2, "hands in the match, any number; 0 is a race to `target`", minimum=0, maximum=50
    )
    target: int = target_setting(500, "points that win the race", maximum=100_000)
    max_hands: int = max_hands_setting(50)  # B11
    variant: str = setting(Variant.BASIC, "which Abstrac", choices=tuple(Variant))
