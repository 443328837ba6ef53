"""What a seat may do, may know and is told at Abstrac."""

from enum import StrEnum
from typing import Final, TypeAlias

from arena.cards import Card
from arena.games.contract import Listed, Seat
from arena.games.values import value

HALF: Final = 26
"""Cards in each half of the 52-card game."""


class Phase(StrEnum):
    CHOOSE = "choose"
    """The seat that does not deal says who takes first (B2)."""
    TAKE = "take"
    OVER = "over"


class Order(StrEnum):
    FIRST = "first"
    SECOND = "second"


@value(frozen=True, slots=True)
class Choose:
    """Take first, or leave that to the dealer."""

    order: Order


@value(frozen=True, slots=True)
class Take:
    """Take `count` cards from the top of the row."""

    count: int


Move: TypeAlias = Choose | Take


CHOICES: Final = Listed((Choose(Order.FIRST), Choose(Order.SECOND)))

# Moves are interned: equal moves are one object, which the codec's cache likes.
TAKES: Final = tuple(
    Listed(tuple(Take(count) for count in range(1, limit + 1))) for limit in range(HALF + 1)
)


@value(frozen=True, slots=True)
class Dealt:
    """A row was laid out; in the 52-card game once for each half."""

    hand: int
    half: int
    dealer: Seat
    row: tuple[Card, ...]


@value(frozen=True, slots=True)
class Chosen:
    seat: Seat
    order: Order


@value(frozen=True, slots=True)
class Taken:
    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class Scored:
    """A deal, or a half, was scored; `points` and `totals` by seat."""

    hand: int
    points: tuple[int, ...]
    totals: tuple[int, ...]


Event: TypeAlias = Dealt | Chosen | Taken | Scored


@value(frozen=True, slots=True)
class View:
    """Everything about the match: nothing is hidden but the order of undealt cards."""

    phase: Phase
    hand: int
    half: int
    dealer: Seat
    to_act: Seat | None
    row: tuple[Card, ...]
    """Cards left, the exposed top first."""
    taken: tuple[tuple[Card, ...], ...]
    """By seat, in the order taken."""
    limit: int
    """Cards that may be taken now; 0 unless the phase is `take`."""
    undealt: int
    """Cards of the second half that still lie face down."""
    totals: tuple[int, ...]
