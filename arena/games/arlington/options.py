"""Options of Arlington."""

from dataclasses import dataclass

from arena.games.options import hands_setting, max_hands_setting, target_setting


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_setting(0, "a match to `target`", maximum=60)
    target: int = target_setting(32, "total that ends the match; the highest wins", maximum=1000)
    max_hands: int = max_hands_setting(60)  # ruling 4
