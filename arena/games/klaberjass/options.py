"""Options of Klaberjass."""

from dataclasses import dataclass

from arena.games.options import hands_setting, max_hands_setting, target_setting


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_setting(0, "a race to `target`", maximum=100)
    target: int = target_setting(501, "points that win the race", maximum=10_000)
    max_hands: int = max_hands_setting(100)  # thrown-in ones included (R15)
