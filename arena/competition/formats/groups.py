"""Groups and finals: round robins of groups of about the same strength, then one of their best."""

from collections.abc import Sequence

from arena.competition.formats.knockout_tables import snake
from arena.competition.rounds import DrawError, Group


def draw_groups(seeds: Sequence[str], groups: int, seats: int) -> tuple[Group, ...]:
    """The groups, dealt forth and back by seed.

    Raises:
      DrawError: if some group would not fill a table.
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
    """The `best` of each group: all winners, then all second, in order of the groups.

    The finals start at zero, on new boards.

    Raises:
      DrawError: if a group has fewer.
    """
    for number, ranking in enumerate(rankings, 1):
        if len(ranking) < best:
            raise DrawError(f"group {number} has {len(ranking)} bots, of which {best} should go on")
    return tuple(ranking[place] for place in range(best) for ranking in rankings)
