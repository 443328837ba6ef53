"""Has every match of a schedule played once, whatever happens to bots and to us.

The runner knows neither the network nor the database. Deal-sets come to it from a `WorkSource`, on
lease, and it reports them when all their matches are over. It reaches the tables through one function,
`play`, which also records how a match ended.
"""

import logging
import math
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import trio

from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan, MatchPlan
from arena.ladder.work import HEARTBEAT_S, DealSetJob, OutOfDate, WorkSource

DEFAULT_ATTEMPTS: Final = 3
"""Times a match is started, at most, when the arena keeps failing to finish it."""

WORKER: Final = "arena"
"""What the runner of one process calls itself."""

Play: TypeAlias = Callable[[MatchPlan], Awaitable[MatchOutcome]]
"""Has one match played and returns how it ended, once that is kept for good.

It may be called again for the same match, also by another process: a match that
has a result is not played again, but its result returned. What bots do wrong
ends in a result; what the arena cannot finish returns `results.aborted(...)`.
An exception means that no match can be played any more.
"""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a tournament has come."""

    played: int
    """Matches that have a result, those of earlier runs included."""
    matches: int
    """Matches in the schedule."""
    complete: int
    """Deal-sets whose matches all have results."""
    deal_sets: int
    """Deal-sets in the schedule."""
    latest: tuple[MatchPlan, MatchOutcome] | None
    """The match that ended just now, perhaps aborted; None at the start."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a tournament has come to."""

    outcomes: Mapping[str, MatchOutcome]
    """The results, by match id."""
    incomplete: tuple[DealSetPlan, ...]
    """Deal-sets that do not count, as the arena failed to finish some match of theirs."""


async def run_tournament(
    deal_sets: Sequence[DealSetPlan],
    *,
    source: WorkSource,
    play: Play,
    known: Mapping[str, MatchOutcome],
    max_matches: int,
    attempts: int = DEFAULT_ATTEMPTS,
    worker: str = WORKER,
    on_progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Play what `source` leases, in the order in which it does, `max_matches` at a time.

    `deal_sets` are the schedule as far as it is known, and `known` its outcomes so far, by match
    id. A source may draw more as it is asked, and is done when it leases none. A match that the arena aborts is played again at once, `attempts` times in all; then its deal-set is
    given up, and stays incomplete until the tournament is run again.

    Raises:
      Exception: the first that `play`, `source` or `on_progress` raised, itself and not in a
        group. No further match begins then.
    """
    if max_matches < 1:
        raise ValueError(f"at least 1 match is played at a time, not {max_matches}")
    if attempts < 1:
        raise ValueError(f"a match is started at least once, not {attempts} times")
    run = _Run(deal_sets, known, source, worker, play, attempts, on_progress)
    run.tell(None)
    async with trio.open_nursery() as background:
        background.start_soon(run.live, background.cancel_scope)
        async with trio.open_nursery() as nursery:
            for _ in range(max_matches):
                nursery.start_soon(run.work, nursery.cancel_scope)
        background.cancel_scope.cancel()
    if run.failure is not None:
        raise run.failure
    return run.report()


class _Run:
    """One run of a tournament, shared by those who play at a time."""

    def __init__(
        self,
        deal_sets: Sequence[DealSetPlan],
        known: Mapping[str, MatchOutcome],
        source: WorkSource,
        worker: str,
        play: Play,
        attempts: int,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self._deal_sets = list(deal_sets)
        self._source = source
        self._worker = worker
        self._play_match = play
        self._attempts = attempts
        self._on_progress = on_progress
        self._outcomes = {
            match.id: known[match.id]
            for each in deal_sets
            for match in each.matches
            if match.id in known and known[match.id].has_result
        }
        self._matches = sum(len(each.matches) for each in deal_sets)
        self._missing = {
            each.id: sum(match.id not in self._outcomes for match in each.matches)
            for each in deal_sets
        }
        self._queue: deque[tuple[DealSetJob, MatchPlan]] = deque()
        self._asking = trio.Lock()
        self._in_play: dict[str, int] = {}
        """Matches of each leased job that are not over."""
        self.failure: Exception | None = None

    async def live(self, everybody: trio.CancelScope) -> None:
        """Give signs of life, so that what is in play stays ours."""
        try:
            while True:
                await trio.sleep(HEARTBEAT_S)
                if self._in_play:
                    await self._source.heartbeat(self._worker)
        except Exception as error:
            self._fail(error, everybody)

    async def work(self, everybody: trio.CancelScope) -> None:
        """Play one match after the other, until there is no work."""
        try:
            while (next_ := await self._next()) is not None:
                await self._play(*next_)
        except Exception as error:
            self._fail(error, everybody)

    def _fail(self, error: Exception, everybody: trio.CancelScope) -> None:
        # The first failure is the cause; others come from stopping the rest.
        if self.failure is None:
            self.failure = error
        everybody.cancel()

    async def _next(self) -> tuple[DealSetJob, MatchPlan] | None:
        """A match to play; a job is leased when there is none left of those before."""
        async with self._asking:
            while not self._queue:
                jobs = await self._source.lease(self._worker, 1)
                if not jobs:
                    return None
                for job in jobs:
                    await self._take(job)
            return self._queue.popleft()

    async def _take(self, job: DealSetJob) -> None:
        if job.id not in self._missing:  # drawn just now
            self._deal_sets.append(job.deal_set)
            self._matches += len(job.deal_set.matches)
            self._missing[job.id] = len(job.deal_set.matches)
        unplayed = [match for match in job.deal_set.matches if match.id not in self._outcomes]
        self._in_play[job.id] = len(unplayed)
        self._queue.extend((job, match) for match in unplayed)
        if not unplayed:
            await self._end(job)  # its results were recorded, and we were stopped before the report

    async def _play(self, job: DealSetJob, match: MatchPlan) -> None:
        for _ in range(self._attempts):
            outcome = await self._play_match(match)
            _require_fit(outcome, match)
            if outcome.has_result:
                self._outcomes[match.id] = outcome
                self._missing[match.deal_set_id] -= 1
            self.tell((match, outcome))
            if outcome.has_result:
                break
        self._in_play[job.id] -= 1
        if not self._in_play[job.id]:
            await self._end(job)

    async def _end(self, job: DealSetJob) -> None:
        """All matches of a job are over, or were tried as often as may be."""
        del self._in_play[job.id]
        try:
            if self._missing[job.id]:
                await self._source.give_up(self._worker, job)
            else:
                told = {match.id: self._outcomes[match.id] for match in job.deal_set.matches}
                await self._source.report(self._worker, job, told)
        except OutOfDate as late:
            # Another has it now. What was recorded here, it finds.
            _log.warning("a deal-set was leased again meanwhile", extra={"why": str(late)})

    def tell(self, latest: tuple[MatchPlan, MatchOutcome] | None) -> None:
        if self._on_progress is None:
            return
        self._on_progress(
            Progress(
                played=len(self._outcomes),
                matches=self._matches,
                complete=sum(missing == 0 for missing in self._missing.values()),
                deal_sets=len(self._deal_sets),
                latest=latest,
            )
        )

    def report(self) -> Report:
        return Report(
            outcomes=dict(self._outcomes),
            incomplete=tuple(each for each in self._deal_sets if self._missing[each.id]),
        )


def _require_fit(outcome: MatchOutcome, match: MatchPlan) -> None:
    """A lease that mixes up matches is a bug that must not reach the results."""
    if outcome.match_id != match.id:
        raise ValueError(f"the lease of match {match.id} returned match {outcome.match_id}")
    if not outcome.has_result:
        return
    if len(outcome.scores) != len(match.bots):
        raise ValueError(
            f"match {match.id} has {len(match.bots)} seats and {len(outcome.scores)} scores"
        )
    if not all(map(math.isfinite, outcome.scores)):
        raise ValueError(f"match {match.id} has a score that is no finite number")
