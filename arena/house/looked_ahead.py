"""The result of the search of a game. The module does not import numpy, so policies run without it."""

from dataclasses import dataclass

from arena.games.contract import Move


@dataclass(frozen=True, slots=True)
class LookedAhead:
    """A decision of a game's own search, without worlds."""

    move: Move
    gain: float
    """The points by which it is better than the other move."""
    is_sure: bool
    """Whether the gain is certain enough to call the other move worse, such as after a search to the end of the hand."""
