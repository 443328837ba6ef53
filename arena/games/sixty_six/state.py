"""The state of a match of Sixty-Six."""

from dataclasses import dataclass

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.sixty_six.messages import Move, Phase
from arena.games.sixty_six.options import Options


@dataclass(frozen=True, slots=True)
class Side:
    """One seat's cards and points in a hand."""

    hand: tuple[Card, ...]
    known: tuple[Card, ...]
    played: tuple[Card, ...]
    points: int
    pending: int


@dataclass(frozen=True, slots=True)
class Stock:
    """The undealt cards."""

    cards: tuple[Card, ...]
    """Face down, the next card to draw first."""
    upcard: Card | None
    """The last card to draw; None after it was drawn."""
    closer: Seat | None
    tricks_at_close: int
    """The tricks of the closer's opponent when the stock was closed."""

    @property
    def is_open(self) -> bool:
        """Whether cards are drawn after a trick, and suit need not be followed."""
        return self.upcard is not None and self.closer is None


@dataclass(frozen=True, slots=True)
class Deal:
    """The current hand."""

    sides: tuple[Side, Side]
    stock: Stock
    trump: str
    phase: Phase
    turn: Seat
    led: Card | None
    declared: str | None
    winners: tuple[Seat, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """What continues from hand to hand."""

    options: Options
    hand: int
    carry: int
    totals: tuple[int, int]
    hand_scores: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class State:
    """A match before a move."""

    match: Match
    deal: Deal
    legal: tuple[Move, ...]
    """The legal moves of the seat to act, computed once; empty when the match is over."""
