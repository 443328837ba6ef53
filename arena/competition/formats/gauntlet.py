"""A gauntlet: every group holds the challenger, and the others sit with it equally often."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, islice

from arena.ladder.draws import shuffled
from arena.ladder.schedule import DealSetPlan, Group, ScheduleError, planned, require_schedulable


def gauntlet(
    bots: Sequence[str],
    challenger: str,
    *,
    seats: int,
    deal_sets: int,
    seed: str,
    tournament: str = "",
) -> tuple[DealSetPlan, ...]:
    """Plan `deal_sets` groups of the challenger and others, those first that played least.

    Of those the ones are taken that met the others of the group least. A longer schedule starts with
    the same deal-sets.

    Raises:
      ScheduleError: if there are too few bots, two of one name, or no challenger among them.
    """
    require_schedulable(bots, seats, deal_sets)
    if challenger not in bots:
        raise ScheduleError(f"the challenger {challenger!r} is not among the bots")
    others = sorted(set(bots) - {challenger})
    return tuple(
        planned(number, group, seed, tournament)
        for number, group in enumerate(
            islice(_groups(others, challenger, seats, seed), deal_sets), 1
        )
    )


def _groups(others: list[str], challenger: str, seats: int, seed: str) -> Iterator[Group]:
    played: Counter[str] = Counter()
    met: Counter[frozenset[str]] = Counter()
    number = 0
    while True:
        number += 1
        waiting, group = shuffled(others, seed, "gauntlet", number), list[str]()
        for _ in range(seats - 1):
            chosen = min(
                waiting,
                key=lambda bot: (played[bot], sum(met[frozenset((bot, g))] for g in group)),
            )
            waiting.remove(chosen)
            group.append(chosen)
        played.update(group)
        met.update(map(frozenset, combinations(group, 2)))
        yield (challenger, *group)
