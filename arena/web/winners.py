"""Who won a match, and how pages say so: by a word, for whoever sees no colours."""

from collections.abc import Sequence
from typing import Final

from arena.web.trees import Element, element

NO_WINNER: Final = element("span", "won", "drawn")
"""What stands where all were equal."""


def winning_seats(places: Sequence[int]) -> tuple[int, ...]:
    """The seats that were first in a match: several where they share it, none where all do.

    None has won a match without places either, which the arena has aborted.
    """
    first = tuple(seat for seat, place in enumerate(places) if place == 1)
    return first if len(first) < len(places) else ()


def won_mark(winners: int) -> Element:
    """What stands beside who won, of so many who share it."""
    return element("strong", "won", "won" if winners == 1 else "tied first")
