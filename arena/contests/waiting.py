"""Deal-sets that wait for a worker, by speed class: an engine reads their number to start and stop workers."""

import functools
from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from arena.contests.plan import CompetitionPlan, read_plan
from arena.store import Competitions


def waiting_by_class(competitions: Competitions, now: datetime) -> Mapping[int | None, int]:
    """Return the number of deal-sets that may begin now and that no worker was given, by speed class.

    None is the arena's own machine. A competition outside its hours of play has none. A ladder draws its next deal-set
    when a worker asks for it, so it has at most one. Blocks on the disk.

    Raises `StoreError` if they cannot be read.
    """
    waiting: Counter[int | None] = Counter()
    for config, number, taken in competitions.waiting():
        plan = _plan(config)
        # Deal-sets that the arena's own machine has taken are in play.
        open_ = number + (0 if plan.speed_class is None else taken)
        waiting[plan.speed_class] += 0 if plan.why_not_played(now) else open_
    return waiting


@functools.lru_cache(maxsize=256)
def _plan(config: str) -> CompetitionPlan:
    return read_plan(config)
