"""The stakes that the settings of Soko come to, and the match that begins with them."""

from dataclasses import dataclass
from typing import Final

from arena.games.betting.match import Match, check_seats, new_match
from arena.games.betting.rounds import Limits, Structure
from arena.games.contract import BadOptions
from arena.games.soko.options import Options

MAX_SEATS: Final = 8


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
