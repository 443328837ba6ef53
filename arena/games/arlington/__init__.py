"""Arlington: two to six seats, cards led to gather more, sets led to keep them."""

from arena.games.arlington.options import Options
from arena.games.arlington.rules import (
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
from arena.games.arlington.state import State
from arena.games.arlington.words import Event, Move, View

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
