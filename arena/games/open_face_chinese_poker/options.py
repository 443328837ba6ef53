"""Options of Open-Face Chinese Poker."""

from dataclasses import dataclass

from arena.games.chinese.unit_values import unit_values_option
from arena.games.options import hands_setting


@dataclass(frozen=True, slots=True)
class Options:
    hands: int = hands_setting(
        0, "four hands dealt by each seat; hands in Fantasyland come on top", maximum=400
    )
    unit_values: str = unit_values_option()
