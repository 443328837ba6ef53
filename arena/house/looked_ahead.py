"""What the search of a game returns. It needs no numpy, so policies run where there is none."""

from dataclasses import dataclass

from arena.games.contract import Move


@dataclass(frozen=True, slots=True)
class LookedAhead:
    """A decision of the search that a game has itself, without worlds."""

    move: Move
    gain: float
    """The points by which it is better than the other move."""
    is_sure: bool
    """Whether the gain is certain enough to call the other move worse, such as after a search to the end of the hand."""
