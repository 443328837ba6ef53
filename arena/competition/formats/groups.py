"""Groups and finals: round robins of groups of about the same strength, then one of their best bots."""

from collections.abc import Sequence

from arena.competition.formats.group_knockout import snake
from arena.competition.rounds import DrawError, Group


def draw_groups(seeds: Sequence[str], groups: int, seats: int) -> tuple[Group, ...]:
    """The groups, dealt in snake order by seed.

    Raises:
      DrawError: if a group would not fill a table.
    """
    if groups < 1:
        raise DrawError(f"there is at least 1 group, not {groups}")
    if len(seeds) // groups < seats:
        raise DrawError(
            f"{groups} groups of at least {seats} bots need {groups * seats} bots; "
            f"{len(seeds)} entered"
        )
    return snake(seeds, groups)


def finalists(rankings: Sequence[Sequence[str]], best: int) -> Group:
    """The `best` of each group: all first places, then all second ones, in order of the groups.

    The finals start with zero points, on new boards.

    Raises:
      DrawError: if a group has fewer bots.
    """
    for number, ranking in enumerate(rankings, 1):
        if len(ranking) < best:
            raise DrawError(
                f"group {number} has {len(ranking)} bots, of which {best} should advance"
            )
    return tuple(ranking[place] for place in range(best) for ranking in rankings)
