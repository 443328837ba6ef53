"""The state of a match of Arlington."""

from dataclasses import dataclass

from arena.cards import Card
from arena.games.arlington.layout import Layout
from arena.games.arlington.messages import Active, Phase
from arena.games.arlington.options import Options
from arena.games.contract import Seat


@dataclass(frozen=True, slots=True)
class Match:
    """What continues from hand to hand."""

    options: Options
    hand: int
    totals: tuple[int, ...]
    hand_scores: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """The seat to act, and the current trick or active set."""

    phase: Phase
    lead: Seat
    to_act: Seat
    trick_seats: tuple[Seat, ...]
    trick_cards: tuple[Card, ...]
    active: Active | None


@dataclass(frozen=True, slots=True)
class State:
    match: Match
    layout: Layout
    turn: Turn
