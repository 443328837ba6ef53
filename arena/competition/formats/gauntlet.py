"""A gauntlet: every group has the challenger, and the other bots play with it equally often."""

from collections.abc import Sequence
from itertools import islice

from arena.schedule.deal_sets import (
    DealSetPlan,
    ScheduleError,
    balanced_groups,
    planned,
    require_schedulable,
)


def gauntlet(
    bots: Sequence[str],
    challenger: str,
    *,
    seats: int,
    deal_sets: int,
    seed: str,
    tournament: str = "",
) -> tuple[DealSetPlan, ...]:
    """Plan `deal_sets` groups of the challenger and others, chosen by `balanced_groups`.

    A longer schedule starts with the same deal-sets.

    Raises:
      ScheduleError: if there are too few bots, two of one name, or no challenger among them.
    """
    require_schedulable(bots, seats, deal_sets)
    if challenger not in bots:
        raise ScheduleError(f"the challenger {challenger!r} is not among the bots")
    others = sorted(set(bots) - {challenger})
    groups = balanced_groups(others, seats - 1, seed, "gauntlet", (challenger,))
    return tuple(
        planned(number, group, seed, tournament)
        for number, group in enumerate(islice(groups, deal_sets), 1)
    )
