"""What a match of Pineapple consists of while it is played."""

from dataclasses import dataclass
from typing import Final

from arena.cards import Card
from arena.games.betting.match import Line, Match
from arena.games.betting.rounds import Round
from arena.games.pineapple.stakes import Stakes
from arena.games.pineapple.words import Phase, Street

BOARD: Final = {Street.PREFLOP: 0, Street.FLOP: 3, Street.TURN: 4, Street.RIVER: 5}
"""Board cards that lie on the table."""


@dataclass(frozen=True, slots=True)
class Deal:
    """The cards of a hand."""

    holes: tuple[tuple[Card, ...], ...]
    """By seat, in the order dealt; two are left after the discard."""
    given_up: tuple[Card | None, ...]
    runout: tuple[Card, ...]
    """The whole board, of which `BOARD` says how much is seen."""


@dataclass(frozen=True, slots=True)
class Hand:
    """What does not change while a seat bets."""

    stakes: Stakes
    match: Match
    deal: Deal


@dataclass(frozen=True, slots=True)
class State:
    """A match before a choice; a half-made discard is never in it."""

    hand: Hand
    phase: Phase
    street: Street
    betting: Round
    line: Line
