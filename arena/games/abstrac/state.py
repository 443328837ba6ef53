"""The state of a match of Abstrac."""

from dataclasses import dataclass

from arena.cards import Card
from arena.games.abstrac.options import Options
from arena.games.contract import Seat


@dataclass(frozen=True, slots=True)
class Row:
    """The current row: a hand, or half of a 52-card round."""

    cards: tuple[Card, ...]
    taken: tuple[tuple[Card, ...], tuple[Card, ...]]
    first: Seat | None
    """The seat that took first; None until the choice is made."""
    turn: Seat
    previous: int
    """The number of cards that the other seat took in the previous turn; 0 in the first turn."""


@dataclass(frozen=True, slots=True)
class State:
    options: Options
    hand: int
    half: int
    row: Row
    undealt: tuple[Card, ...]
    half_points: tuple[int, int]
    """Points of the first half while the second is played."""
    hand_scores: tuple[tuple[int, int], ...]
    totals: tuple[int, int]
