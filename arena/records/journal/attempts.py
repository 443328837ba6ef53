"""Decides which attempt at a match counts if journals have several.

A suspended match continues in the journal of a later process, which first copies its records. A match that the arena
aborted may be played again.
"""

from collections.abc import Sequence

from arena.referee.spec import Ending


def is_played_again(deal_set: str, ending: Ending) -> bool:
    """Return whether a match with this end is played again under the same id.

    Aborted matches of a deal-set are played again, because deal-sets count only as a whole. A single match, whose
    `deal_set` is empty, is not.
    """
    return bool(deal_set) and ending is Ending.ABORTED


def replaces(later: Sequence[object], earlier: Sequence[object]) -> bool:
    """Return whether the later of two suspended attempts counts, by their records.

    It does not if it is only the beginning of the earlier one: then the process was killed while it copied the match.
    """
    return list(later) != list(earlier[: len(later)])
