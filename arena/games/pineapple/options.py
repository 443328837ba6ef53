"""The settings of a match of Pineapple."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from arena.games.betting.match import MAX_STACK, format_option, hands_option
from arena.games.betting.rounds import Structure
from arena.games.options import setting

FIXED_STACK: Final = 100
NOLIMIT_STACK: Final = 200


class Variant(StrEnum):
    """Which Pineapple it is."""

    PINEAPPLE = "pineapple"
    CRAZY = "crazy"
    CRAZY_HILO = "crazy_hilo"


@dataclass(frozen=True, slots=True)
class Options:
    """How a match is played."""

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
        2, "fixed limit: bets before and on the flop", minimum=1, maximum=MAX_STACK
    )
    big_bet: int = setting(
        4,
        "fixed limit: bets on turn and river, at least the small bet",
        minimum=1,
        maximum=MAX_STACK,
    )
    min_bet: int = setting(
        2, "no-limit without blinds: the smallest bet", minimum=1, maximum=MAX_STACK
    )
    max_raises: int = setting(
        3, "fixed limit: raises of a round, the bet or big blind not counted", minimum=0, maximum=20
    )
    start_stack: int = setting(
        0,
        f"chips at the start; 0 is {FIXED_STACK}, in no-limit {NOLIMIT_STACK}",
        minimum=0,
        maximum=MAX_STACK,
    )
    variant: str = setting(Variant.PINEAPPLE, "which Pineapple", choices=tuple(Variant))
