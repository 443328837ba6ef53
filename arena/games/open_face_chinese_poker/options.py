"""The settings of a match of Open-Face Chinese Poker."""

from dataclasses import dataclass

from arena.games.options import hands_setting


@dataclass(frozen=True, slots=True)
class Options:
    hands: int = hands_setting(
        0, "four hands dealt by each seat; hands in Fantasyland come on top", maximum=400
    )
