"""Moves, events, views and options of Oklahoma Rummy."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from arena.games.cards import PACK_52, Card
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.oklahoma_rummy.melds import CardList, End, MeldKind, TableMeld, canonical
from arena.games.options import hands_setting, max_hands_setting, target_setting


class Phase(StrEnum):
    DRAW = "draw"
    PLAY = "play"
    OVER = "over"


class Draw(Frozen):
    """Draw the top card of the stock, which is rebuilt if it is empty (R8)."""


class TakePile(Frozen):
    """Meld the top discard with two cards of one's hand, and take the rest of the pile (R6)."""

    kind: MeldKind
    cards: CardList
    """Exactly three cards, in the order of `Meld`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "cards", canonical(self.kind, self.cards))


class Decline(Frozen):
    """Do not take the pile when no card can be drawn, which ends the hand (R8)."""


class Meld(Frozen):
    """Meld three or four cards."""

    kind: MeldKind
    cards: CardList
    """Those of a run from low to high, those of a set in any order."""

    def __post_init__(self) -> None:
        # Sorted, so that equal melds are equal moves.
        object.__setattr__(self, "cards", canonical(self.kind, self.cards))


class Extend(Frozen):
    """Add a card to one of one's own melds."""

    index: int
    """The index of the meld on one's own table."""
    card: Card
    end: End | None
    """The end at which a run is extended; None for a set."""


class Discard(Frozen):
    """Discard a card, which ends the turn; a queen of spades cannot be discarded."""

    card: Card


class NoDiscard(Frozen):
    """End the turn without a discard; legal only with no cards but queens of spades (R9)."""


Move: TypeAlias = Draw | TakePile | Decline | Meld | Extend | Discard | NoDiscard

# Moves are interned, as the codec finds the bytes of a move by its identity.
DRAW: Final = Draw()
DECLINE: Final = Decline()
NO_DISCARD: Final = NoDiscard()
DISCARDS: Final = {card: Discard(card) for card in PACK_52}


class Began(Frozen):
    """A hand began; the seat after the dealer has the first turn."""

    hand: int
    dealer: Seat
    hand_size: int
    upcard: Card


class Dealt(Frozen):
    """The seat was dealt its hand. Sent to that seat only."""

    seat: Seat
    cards: CardList


class StockRebuilt(Frozen):
    """All discards except the top card were shuffled into a new stock."""

    rebuilds: int
    """The number of rebuilds in this hand."""
    stock: int
    """The number of cards in the new stock."""


class Drew(Frozen):
    seat: Seat


class Received(Frozen):
    """The card that a seat drew. Sent to that seat only."""

    seat: Seat
    card: Card


class PileTaken(Frozen):
    """A seat laid a meld with the top discard and took the rest of the pile."""

    seat: Seat
    meld: TableMeld
    cards: CardList
    """The cards that it took into its hand, in the order discarded."""


class Declined(Frozen):
    """A seat did not take the pile, which ended the hand."""

    seat: Seat


class Melded(Frozen):
    seat: Seat
    meld: TableMeld


class Extended(Frozen):
    seat: Seat
    index: int
    """The index of the meld on the seat's table."""
    card: Card
    end: End | None
    """The end at which a run was extended; None for a set."""


class Discarded(Frozen):
    seat: Seat
    card: Card


class KeptQueens(Frozen):
    """A seat ended its turn without a discard, as it has only queens of spades (R9)."""

    seat: Seat


class Scored(Frozen):
    """A hand was scored; lists are by seat."""

    hand: int
    out: Seat | None
    """The seat that went out; None if the hand was blocked."""
    leftovers: tuple[CardList, ...]
    """The cards left in each hand."""
    melded: tuple[int, ...]
    """The points of the melds on each table."""
    lost: tuple[int, ...]
    """The points lost for `leftovers`. The bonus for going out is in `points` only."""
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


class Table(Frozen):
    """The melds in front of a seat."""

    melds: tuple[TableMeld, ...]
    """The melds, in the order laid."""


class View(Frozen):
    """What a seat may know. For a spectator `held` is empty."""

    phase: Phase
    hand: int
    dealer: Seat
    to_act: Seat | None
    held: CardList
    """The seat's own hand."""
    drawn: Card | None
    """The card that the seat has drawn this turn; None for other viewers."""
    hand_sizes: tuple[int, ...]
    known: tuple[CardList, ...]
    """By seat, the cards in its hand that it took from the pile, which everybody has seen."""
    tables: tuple[Table, ...]
    pile: CardList
    """The discards, the top card last."""
    stock: int
    """The number of cards in the stock."""
    rebuilds: int
    """The number of rebuilds of the stock in this hand."""
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Options:
    hands: int = hands_setting(0, "a race to `target`")
    target: int = target_setting(
        1000, "points that win the race, for a single leader", maximum=5000
    )
    max_hands: int = max_hands_setting(15)  # R10
