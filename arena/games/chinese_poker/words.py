"""What is said at a match of Chinese Poker: moves, events, and what a seat may know."""

from enum import StrEnum
from typing import Final, TypeAlias

from arena.cards import Card
from arena.games.chinese.hands import Rows, high_first
from arena.games.chinese.naturals import Natural
from arena.games.contract import Seat
from arena.games.values import value


class Phase(StrEnum):
    """What the match is doing."""

    SET = "set"
    SURRENDER = "surrender"
    OVER = "over"


# What a seat may do.


@value(frozen=True, slots=True)
class Set:
    """Set all thirteen cards; a foul is accepted, and loses.

    The order of cards within a row means nothing: rows are put high first, so
    that equal settings are equal moves.
    """

    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "front", high_first(self.front))
        object.__setattr__(self, "middle", high_first(self.middle))
        object.__setattr__(self, "back", high_first(self.back))


@value(frozen=True, slots=True)
class DeclareNatural:
    """Show the highest natural of the hand instead of setting it."""


@value(frozen=True, slots=True)
class Play:
    """Stand by the setting."""


@value(frozen=True, slots=True)
class Surrender:
    """Give the hand up for two units to each opponent without a natural."""


Move: TypeAlias = Set | DeclareNatural | Play | Surrender

DECLARE_NATURAL: Final = DeclareNatural()
PLAY: Final = Play()
SURRENDER: Final = Surrender()


# What is told.


@value(frozen=True, slots=True)
class HandBegan:
    """Thirteen cards were dealt to each seat."""

    hand: int
    dealer: Seat


@value(frozen=True, slots=True)
class Dealt:
    """The seat's cards, high first; for that seat alone."""

    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class NaturalDeclared:
    """A seat shows a natural, and is out of the rest of the hand."""

    seat: Seat
    natural: Natural
    cards: tuple[Card, ...]
    """Back, middle and front of three flushes or straights; else high first."""


@value(frozen=True, slots=True)
class Surrendered:
    """A seat gave up; its cards stay hidden."""

    seat: Seat


@value(frozen=True, slots=True)
class Revealed:
    """A seat that plays shows its setting."""

    seat: Seat
    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]
    fouled: bool


@value(frozen=True, slots=True)
class Scored:
    """A hand was settled; `units` of this hand alone, both by seat."""

    hand: int
    units: tuple[int, ...]
    totals: tuple[int, ...]


Event: TypeAlias = HandBegan | Dealt | NaturalDeclared | Surrendered | Revealed | Scored


# What a seat may know.


@value(frozen=True, slots=True)
class ShownNatural:
    """A natural that was declared."""

    seat: Seat
    natural: Natural
    cards: tuple[Card, ...]
    """Back, middle and front of three flushes or straights; else high first."""


@value(frozen=True, slots=True)
class View:
    """What one seat may know; nothing says who has made its choice."""

    phase: Phase
    hand: int
    dealer: Seat
    to_act: tuple[Seat, ...]
    """Seats that choose now, all at once."""
    held: tuple[Card, ...]
    """The own thirteen cards, high first; empty for the spectator and when the match is over."""
    natural: Natural | None
    """The highest natural in `held`."""
    setting: Rows | None
    """The own setting, once it is made."""
    naturals: tuple[ShownNatural, ...]
    """Naturals of this hand, by seat; none before all have set."""
    totals: tuple[int, ...]
    """Units of the completed hands, by seat."""
