"""The stakes that the settings of Pineapple come to, and the match that begins with them."""

from dataclasses import dataclass
from typing import Final

from arena.games.betting.match import Match, check_seats, new_match
from arena.games.betting.rounds import Limits, Structure
from arena.games.contract import BadOptions
from arena.games.pineapple.options import FIXED_STACK, NOLIMIT_STACK, Options, Variant

MAX_SEATS: Final = 9
DEEPEST: Final = 1000
"""Smallest bets in a stack at most: no-limit raises could go on for so long."""


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
