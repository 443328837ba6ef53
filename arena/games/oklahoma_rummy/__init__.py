"""Oklahoma Rummy: two to eight seats meld sets and runs from two packs, 2s wild."""

from arena.games.oklahoma_rummy.options import Options
from arena.games.oklahoma_rummy.rules import (
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
from arena.games.oklahoma_rummy.state import State
from arena.games.oklahoma_rummy.words import Event, Move, View

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
