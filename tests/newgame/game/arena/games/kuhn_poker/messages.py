"""Moves, events, views and options of Kuhn Poker."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from arena.games.cards import Card
from arena.games.contract import Seat
from arena.games.frozen import Frozen
from arena.games.options import hands_setting


class Phase(StrEnum):
    """What the match is doing."""

    BET = "bet"
    """The seat to act checks or bets; or folds or calls, after a bet."""
    OVER = "over"
    """The match is over."""


# Moves.


class Check(Frozen):
    """Put no chip in, as nobody has bet."""


class Bet(Frozen):
    """Put a chip in, as the first to do so."""


class Fold(Frozen):
    """Give up the hand after a bet."""


class Call(Frozen):
    """Put a chip in after a bet."""


Move: TypeAlias = Check | Bet | Fold | Call


# Events.


class Began(Frozen):
    """A hand began, and both seats paid an ante of one chip."""

    hand: int
    dealer: Seat


class Dealt(Frozen):
    """The seat was dealt its card. Sent to that seat only."""

    seat: Seat
    card: Card


class Acted(Frozen):
    """The seat made a move."""

    seat: Seat
    bet: bool
    """Whether it put a chip in: bet or called."""


class Shown(Frozen):
    """Both seats showed their cards."""

    cards: tuple[Card, ...]
    """The cards, by seat."""


class Scored(Frozen):
    """The hand was scored."""

    hand: int
    gained: tuple[int, ...]
    """Chips won or lost in the hand, by seat."""
    totals: tuple[int, ...]
    """Chips won or lost in the match, by seat."""


Event: TypeAlias = Began | Dealt | Acted | Shown | Scored


class View(Frozen):
    """Shows the chips on the table and the seat's own card."""

    phase: Phase
    hand: int
    dealer: Seat
    to_act: Seat | None
    card: Card | None
    """The own card; absent for a spectator."""
    chips: tuple[int, ...]
    """Chips put in during this hand, by seat."""
    totals: tuple[int, ...]
    """Chips won or lost in the match, by seat."""


OWN_LENGTH: Final = 20
"""Hands of a match, unless an option says otherwise."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a match is played."""

    hands: int = hands_setting(0, f"{OWN_LENGTH} hands")
