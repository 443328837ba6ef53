"""Sixty-Six: two seats, tricks, marriages, and a claim to have 66 points."""

from arena.games.sixty_six.options import Options
from arena.games.sixty_six.rules import (
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
from arena.games.sixty_six.state import State
from arena.games.sixty_six.words import Event, Move, View

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
