"""Chinese Poker: two to four seats, and thirteen cards set as three poker hands."""

from arena.games.chinese_poker.options import Options
from arena.games.chinese_poker.rules import (
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
from arena.games.chinese_poker.state import State
from arena.games.chinese_poker.words import Event, Move, View

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
