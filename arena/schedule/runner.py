"""The runner: plays deal-sets from a source of work, and each match of them once.

The runner leases a deal-set from a `WorkSource`, has a `DealSetPlayer` play all its matches, and reports it. It
uses neither the network nor the database. Competitions, comparisons, qualification matches and series of games
differ in their source and player only.
"""

import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

import trio

from arena.schedule.deal_sets import DealSetPlan, MatchPlan
from arena.schedule.outcomes import MatchOutcome
from arena.schedule.phases import Phases
from arena.schedule.work import HEARTBEAT_S, DealSetJob, OutOfDate, WorkSource

DEFAULT_ATTEMPTS: Final = 3
"""Most starts of a match that the arena fails to finish."""

WORKER: Final = "arena"
"""The name of a runner in the arena's process as a worker."""

Begin: TypeAlias = Callable[[str], Awaitable[int]]
"""Has a leased deal-set begin at a player of this name, as `WorkSource.begin`; returns the number of the begin."""

OnEnded: TypeAlias = Callable[[MatchPlan, MatchOutcome], None]
"""Called with each match that has ended, also after an aborted attempt."""

PlayMatch: TypeAlias = Callable[[DealSetJob, MatchPlan], Awaitable[MatchOutcome]]
"""Plays one match and returns its outcome once that is recorded.

It may be called again for the same match, also by another process; a match with a result is not played again.
Faults of bots lead to a result. A match that the arena cannot finish returns `outcomes.aborted(...)`. An
exception means that no further match can be played.
"""

_log = logging.getLogger(__name__)


class CannotPlay(Exception):
    """A deal-set cannot be played at present, and nor can others. The text says why."""


class DealSetPlayer(Protocol):
    """Plays leased deal-sets, several at a time: in the arena's process, or by its workers."""

    async def ready(self) -> int:
        """Wait until another deal-set can begin; returns how many can."""
        ...

    async def play(
        self,
        job: DealSetJob,
        known: Mapping[str, MatchOutcome],
        ended: OnEnded,
        begin: Begin,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> Mapping[str, MatchOutcome]:
        """Play a deal-set; returns the outcomes of its matches that have a result, by id.

        `task_status` is started when the next deal-set may be leased. `known` are earlier outcomes; a match with a
        result is not played again. `begin` is called each time before a worker gets the deal-set. If there are fewer
        outcomes than matches, the deal-set was not finished.

        Raises:
          CannotPlay: if no deal-set can be played.
          OutOfDate: if the deal-set was leased again.
        """
        ...


class MatchByMatch:
    """A `DealSetPlayer` that plays each match by a function, up to `max_matches` at a time."""

    def __init__(
        self,
        play_match: PlayMatch,
        *,
        max_matches: int,
        attempts: int = DEFAULT_ATTEMPTS,
        phases_of: Callable[[DealSetJob], Phases | None] = lambda _: None,
    ) -> None:
        """Play nothing yet.

        Args:
          play_match: Plays a match.
          max_matches: Matches at a time.
          attempts: An aborted match is started again at once, up to so many times in all.
          phases_of: The phases in which the tables of a deal-set are played; None for all at a time.
        """
        if max_matches < 1:
            raise ValueError(f"at least 1 match is played at a time, not {max_matches}")
        if attempts < 1:
            raise ValueError(f"a match is started at least once, not {attempts} times")
        self._play_match = play_match
        self._attempts = attempts
        self._phases_of = phases_of
        self._slots = trio.Semaphore(max_matches)

    async def ready(self) -> int:
        """Wait until a match can begin, and count it as a deal-set."""
        await self._slots.acquire()
        self._slots.release()
        return 1

    async def play(
        self,
        job: DealSetJob,
        known: Mapping[str, MatchOutcome],
        ended: OnEnded,
        begin: Begin,  # noqa: ARG002 - no worker gets the deal-set
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> Mapping[str, MatchOutcome]:
        """As `DealSetPlayer.play`."""
        outcomes = {
            match.id: known[match.id]
            for match in job.deal_set.matches
            if match.id in known and known[match.id].has_result
        }
        missing = [match for match in job.deal_set.matches if match.id not in outcomes]

        async def one(match: MatchPlan) -> None:
            try:
                outcome = await self._attempted(job, match, ended)
            finally:
                self._slots.release()
            if outcome.has_result:
                outcomes[match.id] = outcome

        phases = self._phases_of(job)
        if phases is None or not missing:
            async with trio.open_nursery() as nursery:
                for match in missing:
                    await self._slots.acquire()
                    nursery.start_soon(one, match)
                task_status.started()
            return outcomes
        async with phases.deal_set(job.id) as own:
            for at, match in enumerate(missing):
                async with own.table():
                    await self._slots.acquire()
                    if at == 0:
                        task_status.started()
                    await one(match)
        return outcomes

    async def _attempted(self, job: DealSetJob, match: MatchPlan, ended: OnEnded) -> MatchOutcome:
        attempts = 0
        while True:
            attempts += 1
            outcome = await self._play_match(job, match)
            _require_fit(outcome, match)
            ended(match, outcome)
            if outcome.has_result or attempts == self._attempts:
                return outcome


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of a run."""

    played: int
    """Matches that have a result, also from earlier runs."""
    matches: int
    """Matches in the schedule."""
    complete: int
    """Deal-sets whose matches all have results."""
    deal_sets: int
    """Deal-sets in the schedule."""
    latest: tuple[MatchPlan, MatchOutcome] | None
    """The match that has just ended, perhaps aborted; None at the start."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """The outcomes of a run."""

    outcomes: Mapping[str, MatchOutcome]
    """The results, by match id."""
    incomplete: tuple[DealSetPlan, ...]
    """Deal-sets that do not count, because the arena could not finish all their matches."""


async def run_deal_sets(
    source: WorkSource,
    player: DealSetPlayer,
    *,
    deal_sets: Sequence[DealSetPlan] = (),
    known: Mapping[str, MatchOutcome] | None = None,
    worker: str = WORKER,
    on_progress: Callable[[RunProgress], None] | None = None,
) -> RunReport:
    """Play deal-sets in the order in which `source` leases them, until it has no more.

    `deal_sets` are the known part of the schedule, and `known` the outcomes so far, by match id; progress counts
    them. A source may draw further deal-sets at a lease. A deal-set that cannot be finished is given up, and is
    incomplete until it is leased again.

    Raises:
      Exception: the first that `source`, `player` or `on_progress` raised, outside any exception group. All
        matches in play are cancelled then.
    """
    run = _Run(deal_sets, known or {}, source, worker, player, on_progress)
    run.tell(None)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run.guarded, run.keep_leases, nursery.cancel_scope)
        await run.guarded(run.lease_all, nursery.cancel_scope)
        nursery.cancel_scope.cancel()
    if run.failure is not None:
        raise run.failure
    return run.report()


class _Run:
    """One run with its deal-sets in play."""

    def __init__(
        self,
        deal_sets: Sequence[DealSetPlan],
        known: Mapping[str, MatchOutcome],
        source: WorkSource,
        worker: str,
        player: DealSetPlayer,
        on_progress: Callable[[RunProgress], None] | None,
    ) -> None:
        self._source = source
        self._worker = worker
        self._player = player
        self._on_progress = on_progress
        self._outcomes: dict[str, MatchOutcome] = {}
        self._deal_sets: dict[str, DealSetPlan] = {}
        self._missing: dict[str, int] = {}
        """Matches of each deal-set that have no result."""
        self._matches = self._complete = 0
        for each in deal_sets:
            self._add(each, known)
        self._in_play: set[str] = set()
        self._one_ended = trio.Event()
        self.failure: Exception | None = None

    def _add(self, deal_set: DealSetPlan, known: Mapping[str, MatchOutcome]) -> None:
        """Count a deal-set, once."""
        if deal_set.id in self._deal_sets:
            return
        self._deal_sets[deal_set.id] = deal_set
        self._matches += len(deal_set.matches)
        self._missing[deal_set.id] = len(deal_set.matches)
        for match in deal_set.matches:
            if match.id in known and known[match.id].has_result:
                self._count(match, known[match.id])

    def _count(self, match: MatchPlan, outcome: MatchOutcome) -> None:
        self._outcomes[match.id] = outcome
        self._missing[match.deal_set_id] -= 1
        self._complete += not self._missing[match.deal_set_id]

    async def guarded(self, task: Callable[[], Awaitable[None]], scope: trio.CancelScope) -> None:
        """Run a task; the first that fails stops all others."""
        try:
            await task()
        except Exception as error:
            # Later failures follow from the cancellation.
            if self.failure is None:
                self.failure = _first(error)
            scope.cancel()

    async def keep_leases(self) -> None:
        """Renew the leases of deal-sets in play."""
        while True:
            await trio.sleep(HEARTBEAT_S)
            if self._in_play:
                await self._source.heartbeat(self._worker)

    async def lease_all(self) -> None:
        """Lease and play deal-sets until there are no more and none is in play."""
        async with trio.open_nursery() as nursery:
            while True:
                most = await self._player.ready()
                self._one_ended = trio.Event()
                jobs = await self._source.lease(self._worker, most)
                for job in jobs:
                    self._add(job.deal_set, {})  # the source may have drawn it just now
                    self._in_play.add(job.id)
                    await nursery.start(self._play, job)
                if not jobs and not self._in_play:
                    return
                if not jobs:
                    await self._one_ended.wait()

    async def _play(
        self, job: DealSetJob, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        async def begin(player: str) -> int:
            nonlocal job
            job = await self._source.begin(self._worker, job, player)
            return job.begin

        try:
            outcomes = await self._player.play(
                job, self._outcomes, self._ended, begin, task_status=task_status
            )
            if len(outcomes) < len(job.deal_set.matches):
                await self._source.give_up(self._worker, job)
            else:
                await self._source.report(self._worker, job, outcomes)
        except OutOfDate as late:
            # Another worker has leased it, and uses the results recorded here.
            _log.warning("a deal-set was leased again meanwhile", extra={"why": str(late)})
        self._in_play.discard(job.id)
        self._one_ended.set()

    def _ended(self, match: MatchPlan, outcome: MatchOutcome) -> None:
        if outcome.has_result:
            self._count(match, outcome)
        self.tell((match, outcome))

    def tell(self, latest: tuple[MatchPlan, MatchOutcome] | None) -> None:
        if self._on_progress is None:
            return
        self._on_progress(
            RunProgress(
                played=len(self._outcomes),
                matches=self._matches,
                complete=self._complete,
                deal_sets=len(self._deal_sets),
                latest=latest,
            )
        )

    def report(self) -> RunReport:
        return RunReport(
            outcomes=dict(self._outcomes),
            incomplete=tuple(e for e in self._deal_sets.values() if self._missing[e.id]),
        )


def _first(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _require_fit(outcome: MatchOutcome, match: MatchPlan) -> None:
    """Require an outcome of this match, so that a bug of a player does not reach the results."""
    if outcome.match_id != match.id:
        raise ValueError(f"the lease of match {match.id} returned match {outcome.match_id}")
    if not outcome.has_result:
        return
    if len(outcome.scores) != len(match.bots):
        raise ValueError(
            f"match {match.id} has {len(match.bots)} seats and {len(outcome.scores)} scores"
        )
    if not all(map(math.isfinite, outcome.scores)):
        raise ValueError(f"match {match.id} has a score that is not a finite number")
