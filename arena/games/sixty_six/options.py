"""Options of Sixty-Six."""

from dataclasses import dataclass

from arena.games.options import hands_setting, max_hands_setting, target_setting


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_setting(0, "a race to `target`", maximum=60)
    target: int = target_setting(7, "victory points that win the race", maximum=100)
    max_hands: int = max_hands_setting(60)  # R12
