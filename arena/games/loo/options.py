"""The settings of a match of Loo."""

from dataclasses import dataclass
from typing import Final

from arena.games.options import hands_setting

MAX_HANDS: Final = 300


@dataclass(frozen=True, slots=True)
class Options:
    """How a match is played."""

    hands: int = hands_setting(0, "three hands dealt by each seat", maximum=MAX_HANDS)
