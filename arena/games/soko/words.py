"""What is said at a match of Soko: moves, events, and what a seat may know."""

from enum import StrEnum
from typing import TypeAlias

from arena.cards import Card
from arena.games.betting.match import Acted, HandEnded, Line, UncalledReturned
from arena.games.betting.moves import Bet, BringIn, Call, Check, Fold, Raise
from arena.games.betting.rounds import Chips
from arena.games.contract import Seat
from arena.games.values import value


class Phase(StrEnum):
    """What the match is doing."""

    BRING_IN = "bring_in"
    """The seat with the lowest card opens, as it must."""
    BET = "bet"
    """A seat bets, or declines to."""
    OVER = "over"


Move: TypeAlias = BringIn | Fold | Check | Call | Bet | Raise


# What is told.


@value(frozen=True, slots=True)
class HandBegan:
    """Antes were posted, and each seat that has chips gets a card down."""

    hand: int
    dealer: Seat
    chips: Chips


@value(frozen=True, slots=True)
class Dealt:
    """The seat's hole card; for that seat alone."""

    seat: Seat
    card: Card


@value(frozen=True, slots=True)
class UpcardsDealt:
    """A card was dealt face up to each of `seats`, in this order."""

    round: int
    seats: tuple[Seat, ...]
    cards: tuple[Card, ...]


@value(frozen=True, slots=True)
class BroughtIn:
    """The seat opened the first round."""

    seat: Seat
    to: int


@value(frozen=True, slots=True)
class Shown:
    """The hole card of a seat, at the showdown (B12)."""

    seat: Seat
    card: Card


@value(frozen=True, slots=True)
class PotWon:
    """A pot was shared out."""

    amount: int
    eligible: tuple[Seat, ...]
    """The seats that played for it."""
    winners: tuple[Seat, ...]
    shares: tuple[int, ...]
    """Chips by seat."""


Event: TypeAlias = (
    HandBegan
    | Dealt
    | UpcardsDealt
    | BroughtIn
    | Acted
    | UncalledReturned
    | Shown
    | PotWon
    | HandEnded
)


@value(frozen=True, slots=True)
class View:
    """What one seat may know."""

    phase: Phase
    round: int
    """1 to 4."""
    hand: int
    dealer: Seat
    to_act: Seat | None
    hole: Card | None
    """The own hole card, also after folding; None for the spectator."""
    upcards: tuple[tuple[Card, ...], ...]
    """By seat, in the order dealt, those of folded hands too."""
    live: tuple[Seat, ...]
    """Seats in the hand that have not folded."""
    min_bet: int
    """Of this round."""
    max_bet: int
    """Of this round."""
    chips: Chips
    to_call: int
    """Chips that a call adds, for the seat to act; 0 where it may check or brings in."""
    min_to: int | None
    """The smallest bring-in, or total of the round to bet or raise to; None if it may not."""
    max_to: int | None
    """The largest."""
    line: Line
    """The bring-in is listed as a bet."""
    totals: tuple[int, ...]
    """Chips won in the completed hands, by seat."""
