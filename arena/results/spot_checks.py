"""Spot checks: deal-sets that were played again at another worker with the same packs, and what they say.

Bots and packs of both plays are the same, so whichever counts is a matter of chance. Where a worker tells a bot
cards or invents moves, the bot scores more in the plays that count than in those that check them.
"""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arena.results import student_t
from arena.results.record import WorkerBegins
from arena.results.worker_names import key_of

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
    """What a worker reported and failed, and its spot checks."""

    worker: str
    """As `key@host`, or a key for the workers of all its hosts."""
    reported: int
    """Deal-sets that it reported and that count."""
    failed_begins: int
    deal_sets: int
    """Those that were played again."""
    same_scores: int
    """Deal-sets whose scores were the same in both plays: those of bots that always choose alike."""
    favours: tuple[Favour, ...]
    """Of each bot that it played, those first that gained or lost most surely."""


def worker_checks(
    checked: Iterable[CheckedMatch], begins: Iterable[WorkerBegins] = ()
) -> tuple[WorkerChecks, ...]:
    """What the spot checks say of each worker, by name, and of each key with workers of several hosts."""
    checked = [*checked]
    reported, failed = Counter[str](), Counter[str]()
    for game in begins:
        reported.update(game.played.values())
        for workers_in_turn in game.failed.values():
            failed.update(workers_in_turn)
    workers = {match.worker for match in checked} | reported.keys() | failed.keys()
    of_key = defaultdict(set)
    for worker in workers:
        of_key[key_of(worker)].add(worker)
    groups = {worker: {worker} for worker in workers}
    groups |= {key: of for key, of in of_key.items() if len(of) > 1}
    plays = {
        name: _Plays(match for match in checked if match.worker in of)
        for name, of in groups.items()
    }
    pairs = sum(len(of.gains) for of in plays.values())
    return tuple(
        WorkerChecks(
            name,
            sum(reported[worker] for worker in groups[name]),
            sum(failed[worker] for worker in groups[name]),
            len(of.differs),
            sum(not differs for differs in of.differs.values()),
            _favours(name, of.gains, MAX_P / pairs if pairs else MAX_P),
        )
        for name, of in sorted(plays.items())
    )


class _Plays:
    """The second plays of some workers."""

    def __init__(self, checked: Iterable[CheckedMatch]) -> None:
        self.gains: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        """What each bot scored more in the first play of each deal-set."""
        self.differs: dict[str, bool] = {}
        """Whether the scores of both plays of a deal-set differ."""
        for match in checked:
            again = match.scores != match.scores_again
            self.differs[match.deal_set] = self.differs.get(match.deal_set, False) or again
            for bot, score, other in zip(match.bots, match.scores, match.scores_again, strict=True):
                self.gains[bot][match.deal_set] += score - other


def _favours(
    worker: str, gains: Mapping[str, Mapping[str, float]], max_p: float
) -> tuple[Favour, ...]:
    favours = []
    for bot, by_deal_set in gains.items():
        values = [*by_deal_set.values()]
        p_value = _p_value(values)
        mean = statistics.fmean(values)
        favours.append(Favour(worker, bot, len(values), mean, p_value, p_value < max_p))
    return tuple(sorted(favours, key=lambda favour: (favour.p_value, favour.bot)))


def _p_value(gains: Sequence[float]) -> float:
    if len(gains) < LEAST_DEAL_SETS or not any(gains):
        return 1.0
    error = statistics.stdev(gains) / math.sqrt(len(gains))
    if error == 0:
        return 0.0  # the same gain each time
    t = abs(statistics.fmean(gains)) / error
    return 2 * student_t.cdf(-t, len(gains) - 1)
