"""What is said at a match of Oklahoma Rummy: moves, events, and what a seat may know."""

from enum import StrEnum
from typing import Final, TypeAlias

from arena.cards import PACK_52, Card
from arena.games.contract import Seat
from arena.games.oklahoma_rummy.melds import CardList, End, MeldKind, TableMeld, canonical
from arena.games.values import value


class Phase(StrEnum):
    DRAW = "draw"
    PLAY = "play"
    OVER = "over"


# What a seat may do.


@value(frozen=True, slots=True)
class Draw:
    """Draw the top card of the stock, which is made anew if it is empty (R8)."""


@value(frozen=True, slots=True)
class TakePile:
    """Meld the top discard with two cards of the hand, then take the rest of the pile (R6)."""

    kind: MeldKind
    cards: CardList
    """Exactly three, as for `Meld`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "cards", canonical(self.kind, self.cards))


@value(frozen=True, slots=True)
class Decline:
    """Leave the pile where nothing can be drawn, which ends the hand (R8)."""


@value(frozen=True, slots=True)
class Meld:
    """Put down three or four cards of the hand."""

    kind: MeldKind
    cards: CardList
    """A run's from low to high, a set's in any order."""

    def __post_init__(self) -> None:
        # Equal melds are to be equal moves, however they were written down.
        object.__setattr__(self, "cards", canonical(self.kind, self.cards))


@value(frozen=True, slots=True)
class Extend:
    """Add a card of the hand to a meld of one's own."""

    index: int
    """The meld's place on the own table, from 0 in the order laid."""
    card: Card
    end: End | None
    """Where a run grows; None for a set."""


@value(frozen=True, slots=True)
class Discard:
    """End the turn with any card but a queen of spades."""

    card: Card


@value(frozen=True, slots=True)
class NoDiscard:
    """End the turn with nothing but queens of spades in hand (R9)."""


Move: TypeAlias = Draw | TakePile | Decline | Meld | Extend | Discard | NoDiscard

# Moves are interned: equal moves are one object.
DRAW: Final = Draw()
DECLINE: Final = Decline()
NO_DISCARD: Final = NoDiscard()
DISCARDS: Final = {card: Discard(card) for card in PACK_52}


# What is told.


@value(frozen=True, slots=True)
class Began:
    """A hand began; the seat after the dealer has the first turn."""

    hand: int
    dealer: Seat
    hand_size: int
    upcard: Card


@value(frozen=True, slots=True)
class Dealt:
    """The hand of a seat, told to that seat."""

    seat: Seat
    cards: CardList


@value(frozen=True, slots=True)
class StockRebuilt:
    """All discards but the top were shuffled into a new stock."""

    rebuilds: int
    """In this hand, with this one."""
    stock: int
    """Its cards."""


@value(frozen=True, slots=True)
class Drew:
    seat: Seat


@value(frozen=True, slots=True)
class Received:
    """The card that a seat drew, told to that seat."""

    seat: Seat
    card: Card


@value(frozen=True, slots=True)
class PileTaken:
    """A seat laid a meld with the top discard and took the rest of the pile."""

    seat: Seat
    meld: TableMeld
    cards: CardList
    """What came to its hand, in the order discarded."""


@value(frozen=True, slots=True)
class Declined:
    """A seat could have taken the pile, and let the hand end."""

    seat: Seat


@value(frozen=True, slots=True)
class Melded:
    seat: Seat
    meld: TableMeld


@value(frozen=True, slots=True)
class Extended:
    seat: Seat
    index: int
    """The meld's place on the seat's table, from 0."""
    card: Card
    end: End | None
    """Where a run grew; None for a set."""


@value(frozen=True, slots=True)
class Discarded:
    seat: Seat
    card: Card


@value(frozen=True, slots=True)
class KeptQueens:
    """A seat ended its turn without a discard: it has nothing but queens of spades (R9)."""

    seat: Seat


@value(frozen=True, slots=True)
class Scored:
    """A hand was scored; lists are by seat."""

    hand: int
    out: Seat | None
    """The seat without cards; None if the hand was blocked."""
    leftovers: tuple[CardList, ...]
    """The cards that were left in each hand."""
    melded: tuple[int, ...]
    """What the melds on each table count."""
    lost: tuple[int, ...]
    """What `leftovers` cost; going out adds its bonus to neither."""
    points: tuple[int, ...]
    totals: tuple[int, ...]


Event: TypeAlias = (
    Began
    | Dealt
    | StockRebuilt
    | Drew
    | Received
    | PileTaken
    | Declined
    | Melded
    | Extended
    | Discarded
    | KeptQueens
    | Scored
)


@value(frozen=True, slots=True)
class Table:
    """The melds in front of a seat."""

    melds: tuple[TableMeld, ...]
    """In the order laid."""


@value(frozen=True, slots=True)
class View:
    """What one seat may know; a spectator's has no cards held."""

    phase: Phase
    hand: int
    dealer: Seat
    to_act: Seat | None
    held: CardList
    """The own hand."""
    drawn: Card | None
    """The card that the seat has drawn this turn; told to that seat."""
    hand_sizes: tuple[int, ...]
    known: tuple[CardList, ...]
    """By seat: cards in its hand that all have seen, as they came from the pile."""
    tables: tuple[Table, ...]
    pile: CardList
    """The discards, the top last."""
    stock: int
    """Cards in the stock."""
    rebuilds: int
    """Times that the discards became the stock in this hand."""
    totals: tuple[int, ...]
