"""The settings of a match of Jam."""

from dataclasses import dataclass

from arena.games.options import hands_setting, setting


@dataclass(frozen=True, slots=True)
class Options:
    hands: int = hands_setting(0, "rubbers, as `rubbers` says", maximum=200)
    target: int = setting(5, "points that win a rubber when hands=0", minimum=1, maximum=100)
    rubbers: int = setting(1, "rubbers to win when hands=0", minimum=1, maximum=3)
