"""Soko, or Canadian stud: two to eight seats, and four to a flush or straight count."""

from arena.games.soko.options import Options
from arena.games.soko.rules import (
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
from arena.games.soko.state import State
from arena.games.soko.words import Event, Move, View

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
