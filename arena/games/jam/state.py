"""What a match of Jam consists of while it is played."""

from dataclasses import dataclass

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.jam.options import Options
from arena.games.jam.words import Phase


@dataclass(frozen=True, slots=True)
class Side:
    """One seat's cards."""

    hand: tuple[Card, ...]
    stock: tuple[Card, ...]
    """The next to be drawn first."""
    discards: tuple[Card, ...]
    """The top last."""
    played: tuple[Card, ...]
    known: tuple[Card, ...]

    @property
    def pool(self) -> int:
        """Cards there are to draw."""
        return len(self.stock) + len(self.discards)


@dataclass(frozen=True, slots=True)
class Deal:
    """One deal in play."""

    sides: tuple[Side, Side]
    phase: Phase
    turn: Seat
    led: Card | None
    draws_left: int
    winners: tuple[Seat, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """What goes on from deal to deal."""

    options: Options
    hand: int
    rubber_deals: int
    """Deals completed in this rubber."""
    totals: tuple[int, int]
    rubbers: tuple[int, int]
    rubbers_played: int
    hand_scores: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class State:
    match: Match
    deal: Deal
