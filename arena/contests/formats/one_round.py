"""Formats with one round, which rank by skill: round robin, and gauntlet.

In a gauntlet every group has the challenger, and the other bots play with it equally often.
"""

from collections.abc import Sequence
from itertools import islice

from arena.contests.formats.tournament_format import TournamentFormat
from arena.results.deal_sets import (
    MAX_GROUPS,
    DealSet,
    ScheduleError,
    balanced_groups,
    planned,
    require_schedulable,
    round_robin,
)
from arena.results.record import RoundRecord


class RoundRobin(TournamentFormat):
    """One round, in which every group of bots plays."""

    def draw(self) -> RoundRecord | None:
        if self.past:
            return None
        plans = self._schedule()
        groups = tuple(dict.fromkeys(tuple(sorted(deal_set.bots)) for deal_set in plans))
        return self.drawn(groups, (), [deal_set.bots for deal_set in plans], self.game.deal_sets)

    def _schedule(self) -> tuple[DealSet, ...]:
        return round_robin(
            self.names(),
            seats=self.seats,
            deal_sets=self.game.deal_sets,
            seed=self.seed,
            max_groups=self.plan.round_robin.max_groups or MAX_GROUPS,
        )


class Gauntlet(RoundRobin):
    """One bot meets all others."""

    def _schedule(self) -> tuple[DealSet, ...]:
        assert self.plan.gauntlet is not None
        return gauntlet(
            self.names(),
            self.plan.gauntlet.challenger,
            seats=self.seats,
            deal_sets=self.game.deal_sets,
            seed=self.seed,
        )


def gauntlet(
    bots: Sequence[str],
    challenger: str,
    *,
    seats: int,
    deal_sets: int,
    seed: str,
    tournament: str = "",
) -> tuple[DealSet, ...]:
    """Plan `deal_sets` groups of the challenger and others, chosen by `balanced_groups`.

    A longer schedule starts with the same deal-sets.

    Raises `ScheduleError` if there are too few bots, two of one name, or no challenger among them.
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
