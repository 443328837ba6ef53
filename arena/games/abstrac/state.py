"""Where a match of Abstrac stands."""

from dataclasses import dataclass

from arena.cards import Card
from arena.games.abstrac.options import Options
from arena.games.contract import Seat


@dataclass(frozen=True, slots=True)
class Row:
    """One row being taken: a deal, or half of a 52-card round."""

    cards: tuple[Card, ...]
    taken: tuple[tuple[Card, ...], tuple[Card, ...]]
    first: Seat | None
    """Who took first; None until the choice is made."""
    turn: Seat
    previous: int
    """Cards the other seat took on the turn before; 0 on the first turn."""


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
