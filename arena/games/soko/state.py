"""The state of a match of Soko."""

from dataclasses import dataclass

from arena.cards import Card
from arena.games.betting.match import Line, Match
from arena.games.betting.rounds import Round
from arena.games.soko.messages import Phase
from arena.games.soko.stakes import Stakes


@dataclass(frozen=True, slots=True)
class Deal:
    """The cards of a hand."""

    holes: tuple[Card | None, ...]
    """By seat; None for a seat that is out of the match."""
    upcards: tuple[tuple[Card, ...], ...]
    stock: tuple[Card, ...]
    """The rest of the deck, the next card first."""


@dataclass(frozen=True, slots=True)
class Hand:
    """The part of a hand that does not change during a betting round."""

    stakes: Stakes
    match: Match
    deal: Deal


@dataclass(frozen=True, slots=True)
class State:
    """A match before a move."""

    hand: Hand
    phase: Phase
    """`OVER` after a hand; of the states that `step` returns only the last has it."""
    number: int
    """The number of the betting round, from 1."""
    betting: Round
    line: Line
