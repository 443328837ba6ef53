"""The settings of a match of Eleusis."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from arena.games.options import hands_setting, setting

MAX_HANDS: Final = 80


class Variant(StrEnum):
    """Which of the two games is played."""

    ELEUSIS = "eleusis"
    EXPRESS = "express"


@dataclass(frozen=True, slots=True)
class Options:
    """How a match is played."""

    hands: int = hands_setting(0, "one deal by each seat", maximum=MAX_HANDS)
    max_turns: int = setting(
        40, "turns of each seat after which a hand ends at the latest", minimum=1, maximum=100
    )
    variant: str = setting(Variant.ELEUSIS, "which Eleusis", choices=tuple(Variant))
