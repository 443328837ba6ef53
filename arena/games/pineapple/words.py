"""What is said at a match of Pineapple: moves, events, and what a seat may know."""

from enum import StrEnum
from typing import Final, TypeAlias

from arena.cards import PACK_52, Card
from arena.games.betting.match import Acted, HandEnded, Line, UncalledReturned
from arena.games.betting.moves import Bet, Call, Check, Fold, Raise
from arena.games.betting.rounds import Chips
from arena.games.contract import Seat
from arena.games.values import value


class Phase(StrEnum):
    """What the match is doing."""

    BET = "bet"
    """A seat bets, or declines to."""
    DISCARD = "discard"
    """The seats that have not folded each give up a hole card, all at once."""
    OVER = "over"


class Street(StrEnum):
    """How far the board is dealt."""

    PREFLOP = "preflop"
    FLOP = "flop"
    TURN = "turn"
    RIVER = "river"


# What a seat may do, beside betting.


@value(frozen=True, slots=True)
class Discard:
    """Give up one of the own three cards. Nobody else ever sees it."""

    card: Card


Move: TypeAlias = Fold | Check | Call | Bet | Raise | Discard

# Moves are interned: equal moves are one object, which the codec's cache likes.
DISCARDS: Final = {card: Discard(card) for card in PACK_52}


# What is told.


@value(frozen=True, slots=True)
class HandBegan:
    """Antes and blinds were posted; three cards go to each seat that has chips."""

    hand: int
    dealer: Seat
    chips: Chips


@value(frozen=True, slots=True)
class Dealt:
    """The seat's hole cards, in the order dealt; for that seat alone."""

    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class GaveUp:
    """The card that the seat discarded; for that seat alone."""

    seat: Seat
    card: Card


@value(frozen=True, slots=True)
class Discarded:
    """These seats have all discarded."""

    seats: tuple[Seat, ...]


@value(frozen=True, slots=True)
class BoardDealt:
    """Cards were added to the board."""

    street: Street
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class Shown:
    """The two cards that a seat has kept, at the showdown (B12, P8)."""

    seat: Seat
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class PotWon:
    """A pot was shared out."""

    amount: int
    eligible: tuple[Seat, ...]
    """The seats that played for it."""
    winners: tuple[Seat, ...]
    """Of the pot, or of its high half."""
    low_winners: tuple[Seat, ...]
    """Of the low half; none unless there is a low that qualifies."""
    shares: tuple[int, ...]
    """Chips by seat."""


Event: TypeAlias = (
    HandBegan
    | Dealt
    | Acted
    | GaveUp
    | Discarded
    | BoardDealt
    | UncalledReturned
    | Shown
    | PotWon
    | HandEnded
)


@value(frozen=True, slots=True)
class View:
    """What one seat may know; nothing says who has discarded before all have."""

    phase: Phase
    street: Street
    hand: int
    dealer: Seat
    to_act: tuple[Seat, ...]
    held: tuple[Card, ...]
    """The own hole cards in the order dealt, also after folding; empty for the spectator."""
    given_up: Card | None
    """The card that the seat itself has discarded."""
    board: tuple[Card, ...]
    live: tuple[Seat, ...]
    """Seats in the hand that have not folded."""
    chips: Chips
    to_call: int
    """Chips that a call adds, for the seat to act; 0 where it may check."""
    min_to: int | None
    """The smallest total of the round that it may bet or raise to; None if it may not."""
    max_to: int | None
    """The largest."""
    line: Line
    totals: tuple[int, ...]
    """Chips won in the completed hands, by seat."""
