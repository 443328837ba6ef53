"""The options of the Pineapples, and the stakes that they come to."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from arena.games.betting import Limits, Structure
from arena.games.contract import BadOptions
from arena.games.options import setting
from arena.games.poker_match import (
    MAX_STACK,
    Match,
    check_seats,
    format_option,
    hands_option,
    new_match,
)

MAX_SEATS: Final = 9
FIXED_STACK: Final = 100
NOLIMIT_STACK: Final = 200
DEEPEST: Final = 1000
"""Smallest bets in a stack at most: no-limit raises could go on for so long."""


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


@dataclass(frozen=True, slots=True)
class Stakes:
    """What the options come to for a number of seats."""

    variant: Variant
    ante: int
    blinds: tuple[int, int]
    limits: tuple[Limits, Limits]
    """Before and on the flop, and on turn and river."""


def first_match(options: Options, seats: int) -> tuple[Stakes, Match]:
    """The stakes, and a match before its first hand.

    Raises:
      BadOptions: if the seats are not 2 to 9, or the stakes do not fit together.
    """
    check_seats("Pineapple", seats, MAX_SEATS)
    stakes = _stakes(options)
    fixed = options.structure == Structure.FIXED
    stack = options.start_stack or (FIXED_STACK if fixed else NOLIMIT_STACK)
    if stack > DEEPEST * stakes.limits[0].least:
        raise BadOptions(f"start_stack={stack} is over {DEEPEST} of the smallest bets")
    return stakes, new_match(seats, options.hands, options.format, stack)


def _stakes(options: Options) -> Stakes:
    """The stakes of a match.

    Raises:
      BadOptions: if blinds and bets do not fit together.
    """
    small, big = options.small_blind, options.big_blind
    if small > big:
        raise BadOptions(f"small_blind={small} is over big_blind={big}")
    if not big and not options.ante:
        raise BadOptions("there is nothing to play for: set ante or big_blind")
    if options.structure == Structure.NOLIMIT:
        limits = Limits(Structure.NOLIMIT, big or options.min_bet, 0, 0)
        return Stakes(Variant(options.variant), options.ante, (small, big), (limits, limits))
    if big not in (0, options.small_bet):
        raise BadOptions(f"big_blind={big} is not small_bet={options.small_bet}, as in fixed limit")
    if options.big_bet < options.small_bet:
        raise BadOptions(f"big_bet={options.big_bet} is under small_bet={options.small_bet}")
    early, late = (
        Limits(Structure.FIXED, size, size, options.max_raises)
        for size in (options.small_bet, options.big_bet)
    )
    return Stakes(Variant(options.variant), options.ante, (small, big), (early, late))
