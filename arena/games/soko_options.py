"""The options of Soko, and the stakes that they come to."""

from dataclasses import dataclass
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

MAX_SEATS: Final = 8


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


@dataclass(frozen=True, slots=True)
class Stakes:
    """What the options come to."""

    ante: int
    bring_in: int
    limits: tuple[Limits, Limits]
    """Plain and doubled."""


def first_match(options: Options, seats: int) -> tuple[Stakes, Match]:
    """The stakes, and a match before its first hand.

    Raises:
      BadOptions: if the seats are not 2 to 8, or the stakes do not fit together.
    """
    check_seats("Soko", seats, MAX_SEATS)
    return _stakes(options), new_match(seats, options.hands, options.format, options.start_stack)


def _stakes(options: Options) -> Stakes:
    least, most = options.min_bet, options.max_bet
    if least > most:
        raise BadOptions(f"min_bet={least} is over max_bet={most}")
    if options.ante >= options.start_stack:
        raise BadOptions(f"ante={options.ante} leaves nothing of start_stack={options.start_stack}")
    plain, doubled = (
        Limits(Structure.SPREAD, times * least, times * most, options.max_raises)
        for times in (1, 2)
    )
    return Stakes(options.ante, max(1, least // 2), (plain, doubled))
