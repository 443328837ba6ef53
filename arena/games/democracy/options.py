"""Options of Democracy."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from arena.games.options import hands_setting, max_hands_setting, target_setting


class Sizes(NamedTuple):
    """The cards dealt on an island, for one number of seats."""

    jokers: int
    first_day: int
    """Cards dealt to each seat and to the pool on day 1."""
    second_day: int
    """Cards dealt to each seat and to the pool on day 2."""


# The numbers of the source cannot hold for both days: day 2 gets the cards that are left (R1).
SIZES: Final = {
    2: Sizes(jokers=0, first_day=12, second_day=4),
    3: Sizes(jokers=0, first_day=8, second_day=4),
    4: Sizes(jokers=2, first_day=6, second_day=4),
    5: Sizes(jokers=0, first_day=4, second_day=4),
    6: Sizes(jokers=1, first_day=4, second_day=3),
}


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_setting(0, "a race to `target`", maximum=40)
    target: int = target_setting(5, "tribes that win the race, for a single leader", maximum=100)
    max_hands: int = max_hands_setting(40)  # R9
