"""The settings of a match of Soko."""

from dataclasses import dataclass

from arena.games.betting.match import MAX_STACK, format_option, hands_option
from arena.games.options import setting


@dataclass(frozen=True, slots=True)
class Options:
    """How a match is played."""

    hands: int = hands_option()
    format: str = format_option()
    ante: int = setting(1, "chips every seat posts", minimum=0, maximum=MAX_STACK - 1)
    min_bet: int = setting(
        4, "smallest bet; half of it, at least 1, is the bring-in", minimum=1, maximum=MAX_STACK
    )
    max_bet: int = setting(
        10, "largest bet or raise, at least `min_bet`", minimum=1, maximum=MAX_STACK
    )
    max_raises: int = setting(3, "raises of a round, the bet not counted", minimum=0, maximum=20)
    start_stack: int = setting(
        200, "chips at the start, more than the ante", minimum=1, maximum=MAX_STACK
    )
