"""The settings of a match of Oklahoma Rummy."""

from dataclasses import dataclass

from arena.games.options import hands_setting, setting


@dataclass(frozen=True, slots=True)
class Options:
    hands: int = hands_setting(0, "a race to `target`")
    target: int = setting(
        1000, "points that win the race when hands=0, for a single leader", minimum=1, maximum=5000
    )
