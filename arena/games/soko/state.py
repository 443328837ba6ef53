"""What a match of Soko consists of while it is played."""

from dataclasses import dataclass

from arena.cards import Card
from arena.games.betting.match import Line, Match
from arena.games.betting.rounds import Round
from arena.games.soko.stakes import Stakes
from arena.games.soko.words import Phase


@dataclass(frozen=True, slots=True)
class Deal:
    """The cards of a hand."""

    holes: tuple[Card | None, ...]
    """By seat; None where the seat is out of the match."""
    upcards: tuple[tuple[Card, ...], ...]
    stock: tuple[Card, ...]
    """What is left of the deck, the next card first."""


@dataclass(frozen=True, slots=True)
class Hand:
    """What does not change while a round is bet."""

    stakes: Stakes
    match: Match
    deal: Deal


@dataclass(frozen=True, slots=True)
class State:
    """A match before a choice."""

    hand: Hand
    phase: Phase
    """`OVER` when the hand is, which no state that is returned shows but the last."""
    number: int
    """Of the betting round, from 1."""
    betting: Round
    line: Line
