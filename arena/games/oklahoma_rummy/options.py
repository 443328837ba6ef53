"""Options of Oklahoma Rummy."""

from dataclasses import dataclass

from arena.games.options import hands_setting, max_hands_setting, target_setting


@dataclass(frozen=True, slots=True)
class Options:
    hands: int = hands_setting(0, "a race to `target`")
    target: int = target_setting(
        1000, "points that win the race, for a single leader", maximum=5000
    )
    max_hands: int = max_hands_setting(15)  # R10
