"""Options of Soko."""

from dataclasses import dataclass
from typing import Final

from arena.games.betting.match import MAX_STACK, format_option, hands_option
from arena.games.betting.rounds import Structure
from arena.games.options import setting

_SPREAD: Final = {"structure": (Structure.SPREAD,)}


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_option()
    format: str = format_option()
    structure: str = setting(
        Structure.SPREAD,
        "how bets are limited",
        choices=(Structure.SPREAD, Structure.POT, Structure.NOLIMIT),
    )
    ante: int = setting(1, "chips every seat posts", minimum=0, maximum=MAX_STACK - 1)
    min_bet: int = setting(
        4, "smallest bet; half of it, at least 1, is the bring-in", minimum=1, maximum=MAX_STACK
    )
    max_bet: int = setting(
        10, "largest bet or raise, at least `min_bet`", minimum=1, maximum=MAX_STACK, needs=_SPREAD
    )
    max_raises: int = setting(
        3, "raises of a round, the bet not counted", minimum=0, maximum=20, needs=_SPREAD
    )
    start_stack: int = setting(
        200, "chips at the start, more than the ante", minimum=1, maximum=MAX_STACK
    )
