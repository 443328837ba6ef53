"""The state of a match of Jam."""

from dataclasses import dataclass

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.jam.messages import Phase
from arena.games.jam.options import Options


@dataclass(frozen=True, slots=True)
class Side:
    """One seat's cards."""

    hand: tuple[Card, ...]
    stock: tuple[Card, ...]
    """The next card to draw first."""
    discards: tuple[Card, ...]
    """The top card last."""
    played: tuple[Card, ...]
    known: tuple[Card, ...]

    @property
    def pool(self) -> int:
        """The number of cards that the seat can draw."""
        return len(self.stock) + len(self.discards)


@dataclass(frozen=True, slots=True)
class Deal:
    """The current hand."""

    sides: tuple[Side, Side]
    phase: Phase
    turn: Seat
    led: Card | None
    draws_left: int
    winners: tuple[Seat, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """What continues from hand to hand."""

    options: Options
    hand: int
    rubber_deals: int
    """Hands completed in this rubber."""
    totals: tuple[int, int]
    rubbers: tuple[int, int]
    rubbers_played: int
    hand_scores: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class State:
    match: Match
    deal: Deal
