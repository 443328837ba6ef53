"""What a match of Open-Face Chinese Poker consists of while it is played."""

from dataclasses import dataclass
from typing import Final

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.open_face_chinese_poker.words import Layout, Phase

EMPTY: Final = Layout((), (), ())


@dataclass(frozen=True, slots=True)
class Match:
    """What goes on from hand to hand."""

    seats: tuple[Seat, ...]
    scheduled: int
    """Ordinary hands in the match."""
    played: int
    """Ordinary hands completed."""
    dealer: Seat
    fantasyland: tuple[bool, ...]
    hand_scores: tuple[tuple[int, ...], ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Hand:
    """One hand in play."""

    layouts: tuple[Layout, ...]
    dealt: tuple[tuple[Card, ...], ...]
    """By seat, cards that it has not placed yet, in the order dealt."""
    settings: tuple[Layout | None, ...]
    """By seat, what was set in Fantasyland."""
    stock: tuple[Card, ...]
    order: tuple[Seat, ...]
    """The seats that place in turn, from the dealer's left."""
    turns: int
    """Turns completed."""


@dataclass(frozen=True, slots=True)
class State:
    match: Match
    phase: Phase
    hand: Hand
