"""Spot checks: evidence from deal-sets that were played again at another worker with the same packs.

Bots and packs of both plays are the same, so the expected scores are equal. If a worker reveals cards to a bot or
invents moves, the bot scores more in the plays that count than in the second plays.
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
"""The fewest checked deal-sets of a bot at a worker for evidence about them."""
MAX_P: Final = 0.001
"""The probability that a worker stands out although no worker favours a bot."""


@dataclass(frozen=True, slots=True)
class CheckedMatch:
    """A match that was played twice."""

    match_id: str
    deal_set: str
    worker: str
    """The worker of the first play, which counts."""
    checker: str
    """The worker of the second play."""
    bots: tuple[str, ...]
    """By seat."""
    scores: tuple[float, ...]
    """The scores of the play that counts, by seat."""
    scores_again: tuple[float, ...]
    """The scores of the second play, by seat."""


@dataclass(frozen=True, slots=True)
class Favour:
    """The gain of a bot at a worker beyond the second plays."""

    worker: str
    bot: str
    deal_sets: int
    per_deal_set: float
    """The mean gain, in the unit of the game."""
    p_value: float
    """The two-sided p-value of so large a gain or loss, by Student's t; 1 if there are too few deal-sets."""
    stands_out: bool
    """Whether the p-value is below `MAX_P` divided by the number of pairs of a worker and a bot."""


@dataclass(frozen=True, slots=True)
class WorkerChecks:
    """The reported and failed deal-sets of a worker, and its spot checks."""

    worker: str
    """As `key@host`, or a key for the workers of all its hosts."""
    reported: int
    """The number of deal-sets that it reported and that count."""
    failed_begins: int
    deal_sets: int
    """The number of deal-sets that were played again."""
    same_scores: int
    """The number of deal-sets with equal scores in both plays, as with deterministic bots."""
    favours: tuple[Favour, ...]
    """The gains of its bots, the most significant ones first."""


def worker_checks(
    checked: Iterable[CheckedMatch], begins: Iterable[WorkerBegins] = ()
) -> tuple[WorkerChecks, ...]:
    """Return the spot checks of each worker, by name, and of each key with workers of several hosts."""
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
