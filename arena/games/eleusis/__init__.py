"""Eleusis and Eleusis Express: one seat invents a rule, the others find it out by playing."""

from arena.games.eleusis.options import Options
from arena.games.eleusis.rules import (
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
from arena.games.eleusis.state import State
from arena.games.eleusis.words import Event, Move, View

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
