"""Moves, events, views and options of Chinese Poker."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from arena.games.cards import Card
from arena.games.chinese.hands import Rows, high_first
from arena.games.chinese.naturals import Natural
from arena.games.chinese.unit_values import unit_values_option
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.options import hands_setting


class Phase(StrEnum):
    """What happens next in the match."""

    SET = "set"
    SURRENDER = "surrender"
    OVER = "over"


class Set(Frozen):
    """Set all thirteen cards. A foul is legal, and loses.

    The order of cards within a row does not matter: rows are sorted from high to low, so that equal
    settings are equal moves.
    """

    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "front", high_first(self.front))
        object.__setattr__(self, "middle", high_first(self.middle))
        object.__setattr__(self, "back", high_first(self.back))


class DeclareNatural(Frozen):
    """Declare the highest natural of the hand instead of setting it."""


class Play(Frozen):
    """Play the hand with the setting."""


class Surrender(Frozen):
    """Give up the hand and pay two units to each opponent without a natural."""


Move: TypeAlias = Set | DeclareNatural | Play | Surrender

DECLARE_NATURAL: Final = DeclareNatural()
PLAY: Final = Play()
SURRENDER: Final = Surrender()


class HandBegan(Frozen):
    """Thirteen cards were dealt to each seat."""

    hand: int
    dealer: Seat


class Dealt(Frozen):
    """The seat was dealt its cards, from high to low. Sent to that seat only."""

    seat: Seat
    cards: tuple[Card, ...]


class NaturalDeclared(Frozen):
    """A seat declared a natural, and is out of the rest of the hand."""

    seat: Seat
    natural: Natural
    cards: tuple[Card, ...]
    """Back, middle and front of three flushes or straights; otherwise from high to low."""


class Surrendered(Frozen):
    """A seat surrendered; its cards stay hidden."""

    seat: Seat


class Revealed(Frozen):
    """A seat that plays showed its setting."""

    seat: Seat
    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]
    fouled: bool


class Scored(Frozen):
    """A hand was settled; `units` are those of this hand. Both lists are by seat."""

    hand: int
    units: tuple[int, ...]
    totals: tuple[int, ...]


Event: TypeAlias = HandBegan | Dealt | NaturalDeclared | Surrendered | Revealed | Scored


class ShownNatural(Frozen):
    """A natural that was declared."""

    seat: Seat
    natural: Natural
    cards: tuple[Card, ...]
    """Back, middle and front of three flushes or straights; otherwise from high to low."""


class View(Frozen):
    """What a seat may know. It does not show which seats have chosen."""

    phase: Phase
    hand: int
    dealer: Seat
    to_act: tuple[Seat, ...]
    """Seats that choose now, at the same time."""
    held: tuple[Card, ...]
    """The seat's own cards, from high to low; empty for a spectator and after the match."""
    natural: Natural | None
    """The highest natural in `held`."""
    setting: Rows | None
    """The seat's own setting, after all have set."""
    naturals: tuple[ShownNatural, ...]
    """Naturals of this hand, by seat; empty before all have set."""
    totals: tuple[int, ...]
    """Units of completed hands, by seat."""


HANDS_PER_SEAT: Final = 4
"""The number of hands that each seat deals by default."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_setting(0, f"{HANDS_PER_SEAT} deals by each seat")
    unit_values: str = unit_values_option()
