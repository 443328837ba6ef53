"""The Pineapples: two to nine seats, Hold'em with three cards of which one is given up."""

from arena.games.pineapple.options import Options
from arena.games.pineapple.rules import (
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
from arena.games.pineapple.state import State
from arena.games.pineapple.words import Event, Move, View

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
