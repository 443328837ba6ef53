"""Options of Abstrac."""

from dataclasses import dataclass
from enum import StrEnum

from arena.games.options import max_hands_setting, setting, target_setting


class Variant(StrEnum):
    BASIC = "basic"
    SUIT = "suit"
    UNFETTERED = "unfettered"
    FIFTYTWO = "fiftytwo"


@dataclass(frozen=True, slots=True)
class Options:
    hands: int = setting(
        2, "hands in the match, any number; 0 is a race to `target`", minimum=0, maximum=50
    )
    target: int = target_setting(500, "points that win the race", maximum=100_000)
    max_hands: int = max_hands_setting(50)  # B11
    variant: str = setting(Variant.BASIC, "which Abstrac", choices=tuple(Variant))
