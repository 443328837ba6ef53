"""Options of Jam."""

from dataclasses import dataclass

from arena.games.options import hands_setting, max_hands_setting, setting, target_setting


@dataclass(frozen=True, slots=True)
class Options:
    hands: int = hands_setting(0, "rubbers, as `rubbers` says", maximum=200)
    target: int = target_setting(5, "points that win a rubber", maximum=100)
    rubbers: int = setting(1, "rubbers to win", minimum=1, maximum=3, needs={"hands": (0,)})
    max_hands: int = max_hands_setting(50, "a rubber")  # ruling 13
