"""The state of a match of Oklahoma Rummy."""

from dataclasses import dataclass
from typing import Final

from arena.cards import Card
from arena.games.contract import Seat
from arena.games.oklahoma_rummy.melds import CardList
from arena.games.oklahoma_rummy.messages import Phase, Table
from arena.games.oklahoma_rummy.options import Options

MAX_REBUILDS: Final = 3
"""The maximal number of rebuilds of the stock in a hand (R8)."""


@dataclass(frozen=True, slots=True)
class Piles:
    """The stock and the discards."""

    stock: CardList
    """The next card to draw first."""
    pile: CardList
    """The top card last."""
    rebuilds: int

    @property
    def can_draw(self) -> bool:
        """Whether there is a stock, or discards to rebuild it (R8)."""
        return bool(self.stock) or (self.rebuilds < MAX_REBUILDS and len(self.pile) > 1)


@dataclass(frozen=True, slots=True)
class Deal:
    """The current hand; lists are by seat."""

    phase: Phase
    turn: Seat
    hands: tuple[CardList, ...]
    known: tuple[CardList, ...]
    tables: tuple[Table, ...]
    piles: Piles
    drawn: Card | None
    """The card that the seat to act drew in this turn."""


@dataclass(frozen=True, slots=True)
class Match:
    """What continues from hand to hand."""

    options: Options
    hand: int
    totals: tuple[int, ...]
    hand_scores: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class State:
    match: Match
    deal: Deal
