"""Where a match of Democracy stands."""

from dataclasses import dataclass

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.democracy.options import Options
from arena.games.democracy.words import Island


@dataclass(frozen=True, slots=True)
class Match:
    """What outlasts an island."""

    options: Options
    seats: tuple[Seat, ...]
    hand: int
    hand_scores: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """The cards in play, and those still to be dealt."""

    number: int
    hands: tuple[tuple[Card, ...], ...]
    """By seat, each in hand order."""
    pool: tuple[Card, ...]
    """The upcard first."""
    undealt: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class State:
    """A match between two tricks; the commitments to a trick are never part of it."""

    match: Match
    island: Island
    day: Day
