"""The settings of a match of Kuhn Poker."""

from dataclasses import dataclass
from typing import Final

from arena.games.options import hands_setting

OWN_LENGTH: Final = 20
"""Hands of a match, unless an option says otherwise."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a match is played."""

    hands: int = hands_setting(0, f"{OWN_LENGTH} hands")
