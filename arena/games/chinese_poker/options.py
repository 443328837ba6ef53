"""The settings of a match of Chinese Poker."""

from dataclasses import dataclass
from typing import Final

from arena.games.options import hands_setting

HANDS_PER_SEAT: Final = 4
"""Deals of each seat in a match of the game's own length."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a match is played."""

    hands: int = hands_setting(0, f"{HANDS_PER_SEAT} deals by each seat")
