"""Spot checks: deal-sets that were played again at another worker with the same packs, and what they say.

Bots and packs of both plays are the same, so whichever counts is a matter of chance. Where a worker tells a bot
cards or invents moves, the bot scores more in the plays that count than in those that check them.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arena.rating import student_t

LEAST_DEAL_SETS: Final = 5
"""Checked deal-sets of a bot at a worker, without which nothing is said of them."""
MAX_P: Final = 0.001
"""Probability that a worker stands out although no worker favours a bot."""


@dataclass(frozen=True, slots=True)
class CheckedMatch:
    """A match that was played twice."""

    match_id: str
    deal_set: str
    worker: str
    """Where it was played first; that play counts."""
    checker: str
    """Where it was played again."""
    bots: tuple[str, ...]
    """By seat."""
    scores: tuple[float, ...]
    """Of the play that counts, by seat."""
    scores_again: tuple[float, ...]
    """Of the second play."""


@dataclass(frozen=True, slots=True)
class Favour:
    """What a bot gained at a worker beyond the second plays."""

    worker: str
    bot: str
    deal_sets: int
    per_deal_set: float
    """Mean gain, in the game's own unit."""
    p_value: float
    """Of a gain or loss as large by chance, two-sided, by Student's t; 1 where there are too few deal-sets."""
    stands_out: bool
    """Whether the p-value is below `MAX_P` divided by the number of pairs of a worker and a bot."""


@dataclass(frozen=True, slots=True)
class WorkerChecks:
    """The spot checks of a worker."""

    worker: str
    deal_sets: int
    same_scores: int
    """Deal-sets whose scores were the same in both plays: those of bots that always choose alike."""
    favours: tuple[Favour, ...]
    """Of each bot that it played, those first that gained or lost most surely."""


def worker_checks(checked: Iterable[CheckedMatch]) -> tuple[WorkerChecks, ...]:
    """What the spot checks say of each worker, by name."""
    gains: dict[str, dict[str, dict[str, float]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(float))
    )
    differing: dict[str, dict[str, bool]] = defaultdict(dict)
    for each in checked:
        again = each.scores != each.scores_again
        of_worker = differing[each.worker]
        of_worker[each.deal_set] = of_worker.get(each.deal_set, False) or again
        for bot, score, other in zip(each.bots, each.scores, each.scores_again, strict=True):
            gains[each.worker][bot][each.deal_set] += score - other
    pairs = sum(map(len, gains.values()))
    return tuple(
        WorkerChecks(
            worker,
            len(found),
            sum(not each for each in found.values()),
            _favours(worker, gains[worker], MAX_P / pairs),
        )
        for worker, found in sorted(differing.items())
    )


def _favours(
    worker: str, gains: Mapping[str, Mapping[str, float]], max_p: float
) -> tuple[Favour, ...]:
    found = []
    for bot, by_deal_set in gains.items():
        values = [*by_deal_set.values()]
        p_value = _p_value(values)
        mean = statistics.fmean(values)
        found.append(Favour(worker, bot, len(values), mean, p_value, p_value < max_p))
    return tuple(sorted(found, key=lambda each: (each.p_value, each.bot)))


def _p_value(gains: Sequence[float]) -> float:
    if len(gains) < LEAST_DEAL_SETS or not any(gains):
        return 1.0
    error = statistics.stdev(gains) / math.sqrt(len(gains))
    if error == 0:
        return 0.0  # the same gain each time
    t = abs(statistics.fmean(gains)) / error
    return 2 * student_t.cdf(-t, len(gains) - 1)
