"""Moves, events, views and options of the Pineapple games."""

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
from arena.games.betting.moves import Bet, Call, Check, Fold, Raise
from arena.games.betting.rounds import Chips, Structure
from arena.games.cards import PACK_52, Card
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.options import numbers_setting, setting


class Phase(StrEnum):
    """What happens next in the match."""

    BET = "bet"
    """A seat makes a betting move."""
    DISCARD = "discard"
    """All seats that have not folded discard a hole card at the same time."""
    OVER = "over"


class Street(StrEnum):
    """The street, which determines the number of board cards."""

    PREFLOP = "preflop"
    FLOP = "flop"
    TURN = "turn"
    RIVER = "river"


class Discard(Frozen):
    """Discard one of three hole cards. It is never shown to others."""

    card: Card


Move: TypeAlias = Fold | Check | Call | Bet | Raise | Discard

# Moves are interned, as the codec finds the bytes of a move by its identity.
DISCARDS: Final = {card: Discard(card) for card in PACK_52}


class HandBegan(Frozen):
    """Antes and blinds were posted; each seat with chips was dealt three cards."""

    hand: int
    dealer: Seat
    chips: Chips


class Dealt(Frozen):
    """The seat was dealt its hole cards, in this order. Sent to that seat only."""

    seat: Seat
    cards: tuple[Card, ...]


class GaveUp(Frozen):
    """The card that the seat discarded. Sent to that seat only."""

    seat: Seat
    card: Card


class Discarded(Frozen):
    """These seats have discarded."""

    seats: tuple[Seat, ...]


class BoardDealt(Frozen):
    """Cards were added to the board."""

    street: Street
    cards: tuple[Card, ...]


class Shown(Frozen):
    """The seat showed its two hole cards at the showdown (B12, P8)."""

    seat: Seat
    cards: tuple[Card, ...]


class PotWon(Frozen):
    """A pot was divided."""

    amount: int
    eligible: tuple[Seat, ...]
    """The seats that could win it."""
    winners: tuple[Seat, ...]
    """The winners of the pot, or of its high half."""
    low_winners: tuple[Seat, ...]
    """The winners of the low half; empty without a qualifying low."""
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


class View(Frozen):
    """What a seat may know. It does not show which seats have discarded before all have."""

    phase: Phase
    street: Street
    hand: int
    dealer: Seat
    to_act: tuple[Seat, ...]
    held: tuple[Card, ...]
    """The seat's own hole cards in the order dealt, also after folding; empty for a spectator."""
    given_up: Card | None
    """The card that the seat has discarded."""
    board: tuple[Card, ...]
    live: tuple[Seat, ...]
    """Seats in the hand that have not folded."""
    chips: Chips
    to_call: int
    """Chips that a call adds; 0 if the seat to act may check."""
    min_to: int | None
    """The smallest total of a bet or raise; None if no wager is allowed."""
    max_to: int | None
    """The largest total."""
    line: Line
    totals: tuple[int, ...]
    """Chips won in the completed hands, by seat."""


FIXED_STACK: Final = 100
NOLIMIT_STACK: Final = 200
_FIXED: Final = {"structure": (Structure.FIXED,)}


class Variant(StrEnum):
    """A Pineapple game."""

    PINEAPPLE = "pineapple"
    CRAZY = "crazy"
    CRAZY_HILO = "crazy_hilo"


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_option()
    format: str = format_option()
    structure: str = setting(
        Structure.FIXED, "how bets are limited", choices=(Structure.FIXED, Structure.NOLIMIT)
    )
    ante: int = setting(0, "chips every seat posts", minimum=0, maximum=MAX_STACK)
    small_blind: int = setting(1, "at most the big blind", minimum=0, maximum=MAX_STACK)
    big_blind: int = setting(
        2,
        "0, or in fixed limit the small bet; in no-limit the smallest bet too",
        minimum=0,
        maximum=MAX_STACK,
    )
    small_bet: int = setting(
        2, "bets before and on the flop", minimum=1, maximum=MAX_STACK, needs=_FIXED
    )
    big_bet: int = setting(
        4,
        "bets on turn and river, at least the small bet",
        minimum=1,
        maximum=MAX_STACK,
        needs=_FIXED,
    )
    min_bet: int = setting(
        2,
        "the smallest bet",
        minimum=1,
        maximum=MAX_STACK,
        needs={"structure": (Structure.NOLIMIT,), "big_blind": (0,)},
    )
    max_raises: int = setting(
        3,
        "raises of a round, the bet or big blind not counted",
        minimum=0,
        maximum=20,
        needs=_FIXED,
    )
    start_stack: int = setting(
        0,
        f"chips at the start; 0 is {FIXED_STACK}, in no-limit {NOLIMIT_STACK}",
        minimum=0,
        maximum=MAX_STACK,
    )
    stacks: str = numbers_setting(
        "chips of each seat at the start, such as 100,100,40",
        minimum=1,
        maximum=MAX_STACK,
        needs={"start_stack": (0,)},
    )
    variant: str = setting(Variant.PINEAPPLE, "which Pineapple", choices=tuple(Variant))
