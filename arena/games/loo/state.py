"""The state of a match of Loo."""

from dataclasses import dataclass
from typing import TypeAlias

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.loo.messages import Move, Phase
from arena.games.loo.options import Options

Rows: TypeAlias = tuple[tuple[Card, ...], ...]
"""Cards by seat."""


@dataclass(frozen=True, slots=True)
class Cards:
    """The cards that are not played."""

    hands: Rows
    stock: tuple[Card, ...]
    """The next card to draw first."""
    dead: tuple[Card, ...]
    """Passed and discarded cards, in that order."""
    discarded: Rows
    """By seat, the cards that it passed or discarded; they may be in play again."""


@dataclass(frozen=True, slots=True)
class Line:
    """Players in order of play, seats that passed, and cards exchanged by seat."""

    players: tuple[Seat, ...]
    passed: tuple[Seat, ...]
    exchanged: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tricks:
    """The tricks of a hand."""

    leader: Seat | None
    cards: tuple[Card, ...]
    played: Rows
    winners: tuple[Seat, ...]
    civil: bool


@dataclass(frozen=True, slots=True)
class Deal:
    """The current hand."""

    upcard: Card
    cards: Cards
    line: Line
    tricks: Tricks
    phase: Phase
    turn: Seat


@dataclass(frozen=True, slots=True)
class Match:
    """What continues from hand to hand."""

    options: Options
    hand: int
    pot: int
    chips: tuple[int, ...]
    before: tuple[int, ...]
    """Chips before the dealer of this hand paid."""
    hand_scores: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class State:
    """A match before a move."""

    match: Match
    deal: Deal
    legal: tuple[Move, ...]
    """The legal moves of the seat to act, computed once; empty when the match is over."""
