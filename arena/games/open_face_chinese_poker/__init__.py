"""Open-Face Chinese Poker: two to four seats build three poker hands, card by card in the open."""

from arena.games.open_face_chinese_poker.options import Options
from arena.games.open_face_chinese_poker.rules import (
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
from arena.games.open_face_chinese_poker.state import State
from arena.games.open_face_chinese_poker.words import Event, Move, View

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
