"""Options of Chinese Poker."""

from dataclasses import dataclass
from typing import Final

from arena.games.chinese.unit_values import unit_values_option
from arena.games.options import hands_setting

HANDS_PER_SEAT: Final = 4
"""The number of hands that each seat deals by default."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_setting(0, f"{HANDS_PER_SEAT} deals by each seat")
    unit_values: str = unit_values_option()
