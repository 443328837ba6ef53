"""Failed begins: whether workers fail the deal-sets that a bot has lost.

A worker on another machine sees how a deal-set ends before the arena does. If it fails the deal-sets that its favourite
has lost, another worker plays them again, and the bot has a second chance. Then the bot scores more in the deal-sets
that the worker reports than in those that it failed, which others play with the same cards, and more than at other
workers. Both differences are tested for each worker and each bot by the mixture of t tests, so the verdicts are
approximate. If long deal-sets exceed a time limit and a bot wins long ones, the evidence is the same. A person decides.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from arena.results.anytime.mixture import log_e
from arena.results.anytime.multiple_tests import holds_among
from arena.results.collusion import ALPHA, Skills
from arena.results.margin_fit import NotComparable, ScoredTables, fit
from arena.results.record import WorkerBegins
from arena.results.worker_names import key_of

LEAST_FAILED: Final = 5
"""The fewest deal-sets of a bot, failed at a worker and reported by another one, for evidence about them."""
PRECISION: Final = 4.0
"""The parameter of the mixture, for advantages of half a standard deviation."""
_ALLOWED_ERRORS: Final = 2.0
"""The number of standard errors, of the mean of the reported deal-sets and of predictions, that are allowed in favour of the worker."""


@dataclass(frozen=True, slots=True)
class FailingEvidence:
    """The evidence of one statistic."""

    points: float
    """The mean points a match beyond the allowance."""
    e_value: float
    """An e-value of no such advantage."""
    stands: bool = False
    """Whether it is accepted among all statistics of all workers and bots."""


@dataclass(frozen=True, slots=True)
class FailingSuspicion:
    """The evidence that a worker fails the deal-sets that a bot loses."""

    worker: str
    """As `key@host`, or a key for all its hosts."""
    bot: str
    failed: int
    """The number of deal-sets of the bot that failed there and were reported by others."""
    reported: int
    """The number of deal-sets of the bot that were reported there."""
    lost: FailingEvidence
    """The evidence of the points a match by which it scored more in deal-sets that were reported there than in those that failed there."""
    gained: FailingEvidence | None
    """The evidence of the points a match that it scored there beyond its play at other workers; None if too few matches were played there."""

    @property
    def e_value(self) -> float:
        """The larger evidence."""
        return max(self.lost.e_value, self.gained.e_value if self.gained else 0.0)

    @property
    def stands(self) -> bool:
        return self.lost.stands or (self.gained is not None and self.gained.stands)


def failing_suspicions(
    deal_sets: Mapping[str, ScoredTables],
    begins: WorkerBegins,
    is_tested: Callable[[str], bool] = lambda _: True,
) -> tuple[FailingSuspicion, ...]:
    """Return the evidence about all workers that failed deal-sets and all bots in them, largest first.

    Args:
      deal_sets: Complete ones, by id.
      begins: The workers at which they began.
    """
    names = {
        name for failed in begins.failed.values() for at in failed for name in (at, key_of(at))
    }
    tested = []
    for worker in sorted(names):
        failed = {
            name
            for name, at in begins.failed.items()
            if name in deal_sets and worker in _names(*at) and worker not in _player(begins, name)
        }
        reported = {name for name in deal_sets if worker in _player(begins, name)}
        if len(failed) >= LEAST_FAILED:
            tested += _of_worker(worker, deal_sets, failed, reported, is_tested)
    every = [evidence for each in tested for evidence in (each.lost, each.gained) if evidence]
    stands = iter(holds_among([evidence.e_value for evidence in every], alpha=ALPHA))
    accepted = [
        replace(
            each,
            lost=replace(each.lost, stands=next(stands)),
            gained=each.gained and replace(each.gained, stands=next(stands)),
        )
        for each in tested
    ]
    return tuple(sorted(accepted, key=lambda each: (-each.e_value, each.worker, each.bot)))


def _names(*workers: str) -> set[str]:
    return {name for worker in workers for name in (worker, key_of(worker))}


def _player(begins: WorkerBegins, deal_set: str) -> set[str]:
    """Return the names of the worker that reported a deal-set."""
    player = begins.played.get(deal_set)
    return set() if player is None else _names(player)


def _of_worker(
    worker: str,
    deal_sets: Mapping[str, ScoredTables],
    failed: Collection[str],
    reported: Collection[str],
    is_tested: Callable[[str], bool],
) -> list[FailingSuspicion]:
    skills = _skills(deal_sets, failed)
    at_others = _skills(deal_sets, {*failed, *reported})
    if skills is None:
        return []
    found = []
    for bot in sorted({bot for at in failed for table in deal_sets[at] for bot in table.bots}):
        if not is_tested(bot):
            continue
        lost, kept = (
            _residuals(deal_sets, chosen, bot, skills)[:, 0] for chosen in (failed, reported)
        )
        if len(lost) < LEAST_FAILED or len(kept) < LEAST_FAILED:
            continue
        error = float(np.std(kept, ddof=1)) / math.sqrt(len(kept))
        allowed = np.full(len(lost), _ALLOWED_ERRORS * error)
        evidence, gained = _evidence_beyond(np.mean(kept) - lost, allowed), None
        if at_others is not None:
            beyond = _residuals(deal_sets, reported, bot, at_others)
            gained = _evidence_beyond(*beyond.T) if len(beyond) else None
        found.append(FailingSuspicion(worker, bot, len(lost), len(kept), evidence, gained))
    return found


def _skills(deal_sets: Mapping[str, ScoredTables], without: Collection[str]) -> Skills | None:
    """Return the skills from all deal-sets except some; None if these do not determine them."""
    try:
        return Skills(fit(tables for name, tables in deal_sets.items() if name not in without))
    except NotComparable:
        return None


def _residuals(
    deal_sets: Mapping[str, ScoredTables], names: Collection[str], bot: str, skills: Skills
) -> npt.NDArray[np.float64]:
    """Return, for each of these deal-sets of a bot, the score above the mean of its tables and its skill, and the allowed error."""
    found = []
    for name, tables in deal_sets.items():
        residuals = []
        for table in tables if name in names else ():
            if bot in table.bots and skills.include(table.bots):
                at = np.array([float(other == bot) for other in table.bots])
                weights = at / at.sum() - 1.0 / len(at)
                error = math.sqrt(skills.variance(skills.contrast(table, weights)))
                residuals.append((skills.residual(table, weights), _ALLOWED_ERRORS * error))
        if residuals:
            found.append(np.mean(residuals, axis=0))
    return np.array(found).reshape(-1, 2)


def _evidence_beyond(
    values: npt.NDArray[np.float64], allowed: npt.NDArray[np.float64]
) -> FailingEvidence:
    """Return the evidence that values are positive by more than the allowance of each."""
    beyond = values - allowed
    points = float(beyond.mean())
    if points <= 0.0:
        return FailingEvidence(0.0, 0.0)
    return FailingEvidence(
        points, math.exp(min(700.0, log_e(beyond.tolist(), precision=PRECISION)))
    )
