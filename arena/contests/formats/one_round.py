"""Formats with one round, which rank by skill: round robin, and gauntlet.

In a gauntlet every group has the challenger, and the other bots play with it equally often.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from arena.contests.formats.tournament_format import TournamentFormat
from arena.results.deal_sets import (
    MAX_GROUPS,
    Group,
    ScheduleError,
    balanced_groups,
    require_schedulable,
    round_robin_groups,
)
from arena.results.record import RoundRecord


class RoundRobin(TournamentFormat):
    """One round, in which every group of bots plays."""

    def draw(self) -> RoundRecord | None:
        if self.past:
            return None
        plays = [*self._groups()]
        groups = tuple(dict.fromkeys(tuple(sorted(group)) for group in plays))
        return self.drawn(groups, (), plays, self.game.deal_sets)

    def _groups(self) -> Iterator[Group]:
        """Return the groups, once for each deal-set; a longer schedule starts with the same ones."""
        return round_robin_groups(
            self.names(),
            seats=self.seats,
            deal_sets=self.game.deal_sets,
            seed=self.seed,
            max_groups=self.plan.round_robin.max_groups or MAX_GROUPS,
        )


class Gauntlet(RoundRobin):
    """One bot meets all others."""

    def _groups(self) -> Iterator[Group]:
        assert self.plan.gauntlet is not None
        return gauntlet(
            self.names(),
            self.plan.gauntlet.challenger,
            seats=self.seats,
            deal_sets=self.game.deal_sets,
            seed=self.seed,
        )


def gauntlet(
    bots: Sequence[str], challenger: str, *, seats: int, deal_sets: int, seed: str
) -> Iterator[Group]:
    """`deal_sets` groups of the challenger and others, chosen by `balanced_groups`.

    More groups start with the same ones.

    Raises `ScheduleError` if there are too few bots, two of one name, or no challenger among them.
    """
    require_schedulable(bots, seats, deal_sets)
    if challenger not in bots:
        raise ScheduleError(f"the challenger {challenger!r} is not among the bots")
    others = sorted(set(bots) - {challenger})
    return islice(balanced_groups(others, seats - 1, seed, "gauntlet", (challenger,)), deal_sets)
