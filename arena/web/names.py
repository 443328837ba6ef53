"""The names of bots on pages: seats of the arena's own bots are numbered, because they share a name."""

from collections.abc import Mapping, Sequence
from typing import Final

from arena.results.deal_sets import HOUSE, PERSON, bot_of

LEVELS: Final[Mapping[str, str]] = {
    "random": "plays any legal move",
    "sample": "plays by simple rules",
    "search-20ms": "thinks for a moment",
    "search-200ms": "thinks hard",
}
"""The description of the house bot at each of its levels, the weakest first."""
_HOUSE_SHOWN: Final = "house"
_PERSON_SHOWN: Final = "a person"


def seat_names(bots: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the bots of a table, by seat: a single house bot is `house`, several are `house 1`, `house 2`."""
    many, number, names = list(bots).count(HOUSE) > 1, 0, []
    for bot in bots:
        if bot == HOUSE:
            number += 1
            names.append(f"{_HOUSE_SHOWN} {number}" if many else _HOUSE_SHOWN)
        else:
            names.append(_PERSON_SHOWN if bot == PERSON else bot)
    return tuple(names)


def house_level(bot: str) -> str:
    """Return the description of one of the arena's own bots, which have the names of their levels on ladders; empty for other bots."""
    return LEVELS.get(bot.removeprefix("house-"), "") if bot.startswith("house-") else ""


def is_of_house_alone(bots: Sequence[str]) -> bool:
    """Return whether only the arena's own bots play, so that lists leave the match out."""
    return all(bot_of(bot) == HOUSE for bot in bots)
