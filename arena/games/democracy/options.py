"""How a match of Democracy is played, and what is dealt to how many."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from arena.games.options import hands_setting, setting


class Sizes(NamedTuple):
    """What is dealt on an island for one number of seats."""

    jokers: int
    first_day: int
    """Cards to each seat, and as many to the pool, on day 1."""
    second_day: int
    """The same on day 2."""


# The seed's numbers cannot hold for both days: day 2 gets what is left (R1).
SIZES: Final = {
    2: Sizes(jokers=0, first_day=12, second_day=4),
    3: Sizes(jokers=0, first_day=8, second_day=4),
    4: Sizes(jokers=2, first_day=6, second_day=4),
    5: Sizes(jokers=0, first_day=4, second_day=4),
    6: Sizes(jokers=1, first_day=4, second_day=3),
}

MAX_ISLANDS: Final = 40
"""A race that nobody has won by then goes to the highest total (R9)."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a match is played."""

    hands: int = hands_setting(0, "a race to `target`", maximum=MAX_ISLANDS)
    target: int = setting(
        5, "tribes that win the race when hands=0, for a single leader", minimum=1, maximum=100
    )
