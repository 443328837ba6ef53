"""Options of the Pineapple games."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from arena.games.betting.match import MAX_STACK, format_option, hands_option
from arena.games.betting.rounds import Structure
from arena.games.options import numbers_setting, setting

FIXED_STACK: Final = 100
NOLIMIT_STACK: Final = 200
_FIXED: Final = {"structure": (Structure.FIXED,)}


class Variant(StrEnum):
    """A Pineapple game."""

    PINEAPPLE = "pineapple"
    CRAZY = "crazy"
    CRAZY_HILO = "crazy_hilo"


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_option()
    format: str = format_option()
    structure: str = setting(
        Structure.FIXED,
        "how bets are limited",
        choices=(Structure.FIXED, Structure.NOLIMIT),
    )
    ante: int = setting(0, "chips every seat posts", minimum=0, maximum=MAX_STACK)
    small_blind: int = setting(1, "at most the big blind", minimum=0, maximum=MAX_STACK)
    big_blind: int = setting(
        2,
        "0, or in fixed limit the small bet; in no-limit the smallest bet too",
        minimum=0,
        maximum=MAX_STACK,
    )
    small_bet: int = setting(
        2, "bets before and on the flop", minimum=1, maximum=MAX_STACK, needs=_FIXED
    )
    big_bet: int = setting(
        4,
        "bets on turn and river, at least the small bet",
        minimum=1,
        maximum=MAX_STACK,
        needs=_FIXED,
    )
    min_bet: int = setting(
        2,
        "the smallest bet",
        minimum=1,
        maximum=MAX_STACK,
        needs={"structure": (Structure.NOLIMIT,), "big_blind": (0,)},
    )
    max_raises: int = setting(
        3,
        "raises of a round, the bet or big blind not counted",
        minimum=0,
        maximum=20,
        needs=_FIXED,
    )
    start_stack: int = setting(
        0,
        f"chips at the start; 0 is {FIXED_STACK}, in no-limit {NOLIMIT_STACK}",
        minimum=0,
        maximum=MAX_STACK,
    )
    stacks: str = numbers_setting(
        "chips of each seat at the start, such as 100,100,40",
        minimum=1,
        maximum=MAX_STACK,
        needs={"start_stack": (0,)},
    )
    variant: str = setting(Variant.PINEAPPLE, "which Pineapple", choices=tuple(Variant))
