"""The state of a match of the Pineapple games."""

from dataclasses import dataclass
from typing import Final

from arena.cards import Card
from arena.games.betting.match import Line, Match
from arena.games.betting.rounds import Round
from arena.games.pineapple.messages import Phase, Street
from arena.games.pineapple.stakes import Stakes

BOARD: Final = {Street.PREFLOP: 0, Street.FLOP: 3, Street.TURN: 4, Street.RIVER: 5}
"""The number of board cards by street."""


@dataclass(frozen=True, slots=True)
class Deal:
    """The cards of a hand."""

    holes: tuple[tuple[Card, ...], ...]
    """By seat, in the order dealt; two after the discard."""
    given_up: tuple[Card | None, ...]
    runout: tuple[Card, ...]
    """All five board cards, of which the first `BOARD[street]` are public."""


@dataclass(frozen=True, slots=True)
class Hand:
    """The part of a hand that does not change with a betting move."""

    stakes: Stakes
    match: Match
    deal: Deal


@dataclass(frozen=True, slots=True)
class State:
    """A match before a move, or before the discards of all seats."""

    hand: Hand
    phase: Phase
    street: Street
    betting: Round
    line: Line
