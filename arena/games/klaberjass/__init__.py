"""Klaberjass: two seats, an auction for trump, sequences, and nine tricks."""

from arena.games.klaberjass.options import Options
from arena.games.klaberjass.rules import (
    fallback,
    hand_number,
    heavy,
    margin_bound,
    moves,
    result,
    start,
    step,
    to_act,
    view,
)
from arena.games.klaberjass.state import State
from arena.games.klaberjass.words import Event, Move, View

__all__ = [
    "Event",
    "Move",
    "Options",
    "State",
    "View",
    "fallback",
    "hand_number",
    "heavy",
    "margin_bound",
    "moves",
    "result",
    "start",
    "step",
    "to_act",
    "view",
]
