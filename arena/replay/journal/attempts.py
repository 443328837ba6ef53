"""Which attempt at a match counts, where journals hold more than one.

A match that was cut short goes on in the journal of a later process, which first
copies the match's records. One that the arena aborted may be played anew.
"""

from collections.abc import Sequence

from arena.referee.spec import Ending


def is_played_again(deal_set: str, ending: Ending) -> bool:
    """Whether a match that ended so will be played again under the same id.

    What the arena could not bring to an end is, if it is one of a deal-set, since
    these count only as a whole. A match alone is over; its `deal_set` is empty.
    """
    return bool(deal_set) and ending is Ending.ABORTED


def replaces(later: Sequence[object], earlier: Sequence[object]) -> bool:
    """Whether of two attempts that were cut short the later one counts, by their records.

    It does not if all that it has is the beginning of the earlier one: then the
    process was killed while it wrote the match down again.
    """
    return list(later) != list(earlier[: len(later)])
