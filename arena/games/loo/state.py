"""What a match of Loo consists of while it is played."""

from dataclasses import dataclass
from typing import Final, TypeAlias

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.loo.options import Options
from arena.games.loo.words import Move, Phase

Rows: TypeAlias = tuple[tuple[Card, ...], ...]
"""Cards by seat."""
HAND: Final = 5
"""Cards of a hand, and so tricks."""


@dataclass(frozen=True, slots=True)
class Cards:
    """Where the cards are that are not played."""

    hands: Rows
    stock: tuple[Card, ...]
    """The next to be drawn first."""
    dead: tuple[Card, ...]
    """Passed and discarded, in the order they came."""
    discarded: Rows
    """By seat, what it passed or discarded; its cards may be in play again."""


@dataclass(frozen=True, slots=True)
class Line:
    """Who plays, in the order of play, and how much they exchanged."""

    players: tuple[Seat, ...]
    passed: tuple[Seat, ...]
    exchanged: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tricks:
    """How the play stands."""

    leader: Seat | None
    cards: tuple[Card, ...]
    played: Rows
    winners: tuple[Seat, ...]
    civil: bool


@dataclass(frozen=True, slots=True)
class Deal:
    """One hand in play."""

    upcard: Card
    cards: Cards
    line: Line
    tricks: Tricks
    phase: Phase
    turn: Seat


@dataclass(frozen=True, slots=True)
class Match:
    """What goes on from hand to hand."""

    options: Options
    hand: int
    pot: int
    chips: tuple[int, ...]
    before: tuple[int, ...]
    """Chips before this hand's dealer paid."""
    hand_scores: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class State:
    """A match before a move."""

    match: Match
    deal: Deal
    legal: tuple[Move, ...]
    """What the seat on turn may do, made once and looked at often; empty at the end."""
