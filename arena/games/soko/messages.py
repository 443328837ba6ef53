"""Moves, events, views and options of Soko."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from arena.games.betting.match import (
    MAX_STACK,
    Acted,
    HandEnded,
    Line,
    UncalledReturned,
    format_option,
    hands_option,
)
from arena.games.betting.moves import Bet, BringIn, Call, Check, Fold, Raise
from arena.games.betting.rounds import Chips, Structure
from arena.games.cards import Card
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.options import setting


class Phase(StrEnum):
    """What happens next in the match."""

    BRING_IN = "bring_in"
    """The seat with the lowest card must open."""
    BET = "bet"
    """A seat makes a betting move."""
    OVER = "over"


Move: TypeAlias = BringIn | Fold | Check | Call | Bet | Raise


class HandBegan(Frozen):
    """Antes were posted, and each seat with chips was dealt a card face down."""

    hand: int
    dealer: Seat
    chips: Chips


class Dealt(Frozen):
    """The seat was dealt its hole card. Sent to that seat only."""

    seat: Seat
    card: Card


class UpcardsDealt(Frozen):
    """Each of `seats` was dealt a card face up, in this order."""

    round: int
    seats: tuple[Seat, ...]
    cards: tuple[Card, ...]


class BroughtIn(Frozen):
    """The seat brought in."""

    seat: Seat
    to: int


class Shown(Frozen):
    """The seat showed its hole card at the showdown (B12)."""

    seat: Seat
    card: Card


class PotWon(Frozen):
    """A pot was divided."""

    amount: int
    eligible: tuple[Seat, ...]
    """The seats that could win it."""
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


class View(Frozen):
    """What a seat may know."""

    phase: Phase
    round: int
    """The betting round, from 1 to 4."""
    hand: int
    dealer: Seat
    to_act: Seat | None
    hole: Card | None
    """The seat's own hole card, also after folding; None for a spectator."""
    upcards: tuple[tuple[Card, ...], ...]
    """By seat, in the order dealt, including folded hands."""
    live: tuple[Seat, ...]
    """Seats in the hand that have not folded."""
    min_bet: int
    """The smallest bet of this round."""
    max_bet: int
    """The largest bet or raise of this round; 0 at pot-limit and no-limit."""
    chips: Chips
    to_call: int
    """Chips that a call adds; 0 if the seat to act may check or brings in."""
    min_to: int | None
    """The smallest bring-in, or the smallest total of a bet or raise; None if there is none."""
    max_to: int | None
    """The largest total."""
    line: Line
    """The betting of the hand; a bring-in is listed as a bet."""
    totals: tuple[int, ...]
    """Chips won in the completed hands, by seat."""


_SPREAD: Final = {"structure": (Structure.SPREAD,)}


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_option()
    format: str = format_option()
    structure: str = setting(
        Structure.SPREAD,
        "how bets are limited",
        choices=(Structure.SPREAD, Structure.POT, Structure.NOLIMIT),
    )
    ante: int = setting(1, "chips every seat posts", minimum=0, maximum=MAX_STACK - 1)
    min_bet: int = setting(
        4, "smallest bet; half of it, at least 1, is the bring-in", minimum=1, maximum=MAX_STACK
    )
    max_bet: int = setting(
        10, "largest bet or raise, at least `min_bet`", minimum=1, maximum=MAX_STACK, needs=_SPREAD
    )
    max_raises: int = setting(
        3, "raises of a round, the bet not counted", minimum=0, maximum=20, needs=_SPREAD
    )
    start_stack: int = setting(
        200, "chips at the start, more than the ante", minimum=1, maximum=MAX_STACK
    )
