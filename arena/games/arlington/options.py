"""The settings of a match of Arlington."""

from dataclasses import dataclass
from typing import Final

from arena.games.options import hands_setting, setting

MAX_HANDS: Final = 60
"""A match that nobody has won by then goes to the highest total (ruling 4)."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a match is played."""

    hands: int = hands_setting(0, "a match to `target`", maximum=MAX_HANDS)
    target: int = setting(
        32, "total that ends the match when hands=0; the highest wins", minimum=1, maximum=1000
    )
