"""The state of a match of Open-Face Chinese Poker."""

from dataclasses import dataclass
from typing import Final

from arena.cards import Card
from arena.games.chinese.unit_values import UnitValues
from arena.games.contract import Seat
from arena.games.open_face_chinese_poker.messages import Layout, Phase

EMPTY: Final = Layout((), (), ())


@dataclass(frozen=True, slots=True)
class Match:
    """What continues from hand to hand."""

    seats: tuple[Seat, ...]
    scheduled: int
    """The number of ordinary hands in the match."""
    unit_values: UnitValues
    played: int
    """The number of completed ordinary hands."""
    dealer: Seat
    fantasyland: tuple[bool, ...]
    hand_scores: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Hand:
    """The current hand."""

    layouts: tuple[Layout, ...]
    dealt: tuple[tuple[Card, ...], ...]
    """By seat, the cards that it has not placed, in the order dealt."""
    settings: tuple[Layout | None, ...]
    """By seat, the rows set in Fantasyland."""
    stock: tuple[Card, ...]
    order: tuple[Seat, ...]
    """The seats that place in turn, from the dealer's left."""
    turns: int
    """The number of completed turns."""


@dataclass(frozen=True, slots=True)
class State:
    match: Match
    phase: Phase
    hand: Hand
