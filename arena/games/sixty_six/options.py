"""The settings of a match of Sixty-Six."""

from dataclasses import dataclass
from typing import Final

from arena.games.options import hands_setting, setting

MAX_DEALS: Final = 60
"""A race that nobody has won by then goes to the higher total (R12)."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a match is played."""

    hands: int = hands_setting(0, "a race to `target`", maximum=MAX_DEALS)
    target: int = setting(
        7, "victory points that win the race when hands=0", minimum=1, maximum=100
    )
