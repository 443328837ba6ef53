"""The settings of a match of Klaberjass."""

from dataclasses import dataclass
from typing import Final

from arena.games.options import hands_setting, setting

MAX_DEALS: Final = 100
"""Deals in a match, thrown-in ones too; then the higher total wins (R15)."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a match is played."""

    hands: int = hands_setting(0, "a race to `target`", maximum=MAX_DEALS)
    target: int = setting(501, "points that win the race when hands=0", minimum=1, maximum=10_000)
