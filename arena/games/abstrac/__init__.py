"""Abstrac, four games for two seats with nothing hidden."""

from arena.games.abstrac.options import Options, Variant
from arena.games.abstrac.rules import (
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
from arena.games.abstrac.state import State
from arena.games.abstrac.words import Event, Move, View

__all__ = [
    "Event",
    "Move",
    "Options",
    "State",
    "Variant",
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
