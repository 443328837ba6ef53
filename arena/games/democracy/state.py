"""The state of a match of Democracy."""

from dataclasses import dataclass

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.democracy.messages import Island
from arena.games.democracy.options import Options


@dataclass(frozen=True, slots=True)
class Match:
    """What continues from hand to hand."""

    options: Options
    seats: tuple[Seat, ...]
    hand: int
    hand_scores: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """The cards of a day, and those still to be dealt."""

    number: int
    hands: tuple[tuple[Card, ...], ...]
    """By seat, each hand in order."""
    pool: tuple[Card, ...]
    """The upcard first."""
    undealt: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class State:
    """A match between two tricks."""

    match: Match
    island: Island
    day: Day
