"""What a match of Oklahoma Rummy consists of while it is played."""

from dataclasses import dataclass
from typing import Final

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.oklahoma_rummy.melds import CardList
from arena.games.oklahoma_rummy.options import Options
from arena.games.oklahoma_rummy.words import Phase, Table

MAX_REBUILDS: Final = 3
"""Times in a hand that the discards become the stock (R8)."""


@dataclass(frozen=True, slots=True)
class Piles:
    """The cards that are nobody's."""

    stock: CardList
    """The next to be drawn first."""
    pile: CardList
    """The top last."""
    rebuilds: int

    @property
    def can_draw(self) -> bool:
        """Whether there is a stock, or discards to make one of (R8)."""
        return bool(self.stock) or (self.rebuilds < MAX_REBUILDS and len(self.pile) > 1)


@dataclass(frozen=True, slots=True)
class Deal:
    """One hand in play; lists are by seat."""

    phase: Phase
    turn: Seat
    hands: tuple[CardList, ...]
    known: tuple[CardList, ...]
    tables: tuple[Table, ...]
    piles: Piles
    drawn: Card | None
    """What the seat in turn drew."""


@dataclass(frozen=True, slots=True)
class Match:
    """What goes on from hand to hand."""

    options: Options
    hand: int
    totals: tuple[int, ...]
    hand_scores: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class State:
    match: Match
    deal: Deal
