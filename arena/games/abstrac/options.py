"""How a match of Abstrac is played."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from arena.games.options import hands_setting, setting

MAX_DEALS: Final = 50
"""A race that nobody has won by then goes to the higher total (B11)."""


class Variant(StrEnum):
    BASIC = "basic"
    SUIT = "suit"
    UNFETTERED = "unfettered"
    FIFTYTWO = "fiftytwo"


@dataclass(frozen=True, slots=True)
class Options:
    hands: int = hands_setting(2, "a race to `target`", maximum=MAX_DEALS)
    target: int = setting(500, "points that win the race when hands=0", minimum=1, maximum=100_000)
    variant: str = setting(Variant.BASIC, "which Abstrac", choices=tuple(Variant))
