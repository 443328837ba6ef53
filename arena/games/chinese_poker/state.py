"""The state of a match of Chinese Poker."""

from dataclasses import dataclass

from arena.cards import Card
from arena.games.chinese.naturals import Natural
from arena.games.chinese.unit_values import UnitValues
from arena.games.chinese_poker.messages import Set, ShownNatural
from arena.games.contract import Seat


@dataclass(frozen=True, slots=True)
class Match:
    """What continues from hand to hand."""

    seats: tuple[Seat, ...]
    hands: int
    """The number of hands in the match."""
    unit_values: UnitValues
    hand: int
    hand_scores: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Deal:
    """The cards of a hand, by seat."""

    hands: tuple[tuple[Card, ...], ...]
    """Thirteen cards for each seat, from high to low; empty when the match is over."""
    naturals: tuple[Natural | None, ...]
    """The highest natural in each hand, declared or not."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The choices of a hand after all have set."""

    settings: tuple[Set | None, ...]
    """By seat; None if the seat declared a natural."""
    naturals: tuple[ShownNatural, ...]
    asked: tuple[Seat, ...]
    """The seats without natural, which play or surrender next."""


@dataclass(frozen=True, slots=True)
class State:
    """A match before a simultaneous choice."""

    match: Match
    deal: Deal
    committed: Committed | None
    """None while the seats set their cards."""
