"""What a match of Sixty-Six consists of while it is played."""

from dataclasses import dataclass

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.sixty_six.options import Options
from arena.games.sixty_six.words import Move, Phase


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
    """The cards that are not dealt."""

    cards: tuple[Card, ...]
    """Face down, the next to be drawn first."""
    upcard: Card | None
    """The last to be drawn; None when it was."""
    closer: Seat | None
    tricks_at_close: int
    """Tricks that the closer's opponent had then."""

    @property
    def is_open(self) -> bool:
        """Whether cards are drawn after a trick, and any card answers any."""
        return self.upcard is not None and self.closer is None


@dataclass(frozen=True, slots=True)
class Deal:
    """One hand in play."""

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
    """What goes on from hand to hand."""

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
    """What the seat on turn may do, made once and looked at often; empty at the end."""
