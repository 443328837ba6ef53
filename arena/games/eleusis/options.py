"""Options of Eleusis."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from arena.games.options import hands_setting, setting

MAX_HANDS: Final = 80


class Variant(StrEnum):
    """One of the two games."""

    ELEUSIS = "eleusis"
    EXPRESS = "express"


class Guessers(StrEnum):
    """Who may guess after a right play."""

    ALL = "all"
    PLAYER = "player"


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a match."""

    hands: int = hands_setting(0, "one deal by each seat", maximum=MAX_HANDS)
    max_turns: int = setting(
        40, "turns of each seat after which a hand ends at the latest", minimum=1, maximum=100
    )
    guessers: str = setting(
        Guessers.ALL,
        "who may guess after a right play: all seats but the dealer, or only the one that played",
        choices=tuple(Guessers),
        needs={"variant": (Variant.EXPRESS,)},
    )
    variant: str = setting(Variant.ELEUSIS, "which Eleusis", choices=tuple(Variant))
