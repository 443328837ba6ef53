"""The runner: plays deal-sets from a source of work, and each match of them once.

The runner leases a deal-set from a `WorkSource`, has a `DealSetPlayer` play all its matches, and reports it. It
uses neither the network nor the database. Competitions, comparisons, qualification matches and series of games
differ in their source and player only.

All tables of a deal-set have the same boards. If launched processes at two of its tables could exchange a few bits,
each would know the cards of its opponents. So launched bots play deal-sets in blocks (`Phases`): in phase k of a block
each deal-set plays its k-th table, and between two phases all launched processes are ended. Two bots of one owner are
kept apart as two processes of one bot are. As it takes time to start processes, the first phase of a block takes
deal-sets until it has lasted many times as long. The deal-sets of a block become complete in its last phase, so the
first blocks are short, and later ones grow.
"""

import contextlib
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

import trio

from arena.schedule.deal_sets import DealSetPlan, MatchOutcome, MatchPlan
from arena.schedule.work import HEARTBEAT_S, DealSetJob, OutOfDate, WorkSource

BLOCK_STARTS: Final = 20.0
"""The first phase of a block takes deal-sets for this many times what it takes to start their bots."""
BLOCK_TABLES: Final = 5.0
"""It does so for this many times the duration of its longest table, too: slots are idle at the end of a phase."""
FIRST_BLOCK_S: Final = 10.0
"""But no longer than this many seconds in the first block, so that results come soon."""
LATER_BLOCKS: Final = 0.25
"""And in later blocks no longer than this share of the time since the first one began."""
LINGER_S: Final = 0.5
"""Longest time in seconds that a phase waits for the next deal-set while none is in play."""
DEFAULT_ATTEMPTS: Final = 3
"""Most starts of a match that the arena fails to finish."""

WORKER: Final = "arena"
"""The name of a runner in the arena's process as a worker."""

CountBegin: TypeAlias = Callable[[str], Awaitable[int]]
"""Has a leased deal-set begin at a player of this name, as `WorkSource.begin`; returns the number of the begin."""

OnEnded: TypeAlias = Callable[[MatchPlan, MatchOutcome], None]
"""Called with each match that has ended, also after an aborted attempt."""

PlayMatch: TypeAlias = Callable[[DealSetJob, MatchPlan], Awaitable[MatchOutcome]]
"""Plays one match and returns its outcome once that is recorded.

It may be called again for the same match, also by another process; a match with a result is not played again.
Faults of bots lead to a result. A match that the arena cannot finish returns `deal_sets.aborted(...)`. An
exception means that no further match can be played.
"""

_log = logging.getLogger(__name__)


class Phases:
    """The blocks of deal-sets whose bots one process launches. Used in trio."""

    def __init__(self, end_processes: Callable[[], Awaitable[None]]) -> None:
        """Begin without a block. `end_processes` returns once no launched process is alive."""
        self._end_processes = end_processes
        self._block: set[PhasedDealSet] = set()
        self.phase = 0
        """The phase of the block, from 0."""
        self._is_ending = False
        """Whether processes are being ended: nothing begins."""
        self._began_s = self._longest_s = 0.0
        self._busy_since_s = self._ended_s = -math.inf
        """When the first block began, and when the last one ended. A pause of `FIRST_BLOCK_S` begins anew."""
        self._start_s = 0.0
        """The longest start of bots since processes were ended."""
        self._known: set[str] = set()
        """The deal-sets whose boards processes know that may be alive."""
        self._changed = trio.Event()

    @contextlib.asynccontextmanager
    async def deal_set(self, name: str) -> AsyncIterator["PhasedDealSet"]:
        """Wait until the deal-set can begin, and play its tables within the block."""
        await self.open(name)
        if not self._block:
            self.phase, self._began_s, self._longest_s = 0, trio.current_time(), 0.0
            if self._began_s - self._ended_s > FIRST_BLOCK_S:
                self._busy_since_s = self._began_s
        own = PhasedDealSet(self, name)
        self._block.add(own)
        try:
            yield own
        finally:
            self._block.remove(own)
            self._ended_s = trio.current_time()
            self._wake()

    async def open(self, name: str = "") -> None:
        """Wait until a deal-set can begin: the one of this name, or any that was not played before."""
        while not self._is_open(name):
            if self._block or self._is_ending:
                await self._changed.wait()
            else:
                await self._renew()

    def _is_open(self, name: str) -> bool:
        if self._is_ending or name in self._known:
            return False
        return not self._block or self._gathers

    @property
    def _gathers(self) -> bool:
        worth_s = max(BLOCK_STARTS * self._start_s, BLOCK_TABLES * self._longest_s)
        most_s = max(FIRST_BLOCK_S, LATER_BLOCKS * (self._began_s - self._busy_since_s))
        return self.phase == 0 and trio.current_time() < self._began_s + min(worth_s, most_s)

    async def begin(self, own: "PhasedDealSet") -> None:
        """Wait for a phase in which a deal-set of the block has played no table."""
        lingered = False
        while self._is_ending or own.phase == self.phase:
            if self._is_ending or not all(each.is_done(self.phase) for each in self._block):
                await self._changed.wait()
                lingered = False
            elif self._gathers and not lingered:
                with trio.move_on_after(LINGER_S):
                    await self._changed.wait()
                    continue
                lingered = True
            else:
                await self._renew()
                self.phase += 1
        self._known.add(own.name)

    async def rest(self) -> None:
        """End all processes, unless a deal-set is in play."""
        if not self._block and not self._is_ending:
            await self._renew()

    def started(self, lasted_s: float) -> None:
        """The bots of a table have been started."""
        self._start_s = max(self._start_s, lasted_s)

    def ended(self, lasted_s: float) -> None:
        """A table has been played."""
        self._longest_s = max(self._longest_s, lasted_s)
        self._wake()

    async def _renew(self) -> None:
        """End all processes: those that are started from now on know no boards."""
        self._is_ending = True
        try:
            await self._end_processes()
            self._known.clear()
            self._start_s = 0.0
        finally:
            self._is_ending = False
            self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()


class PhasedDealSet:
    """A deal-set of a block. Used by one task."""

    def __init__(self, phases: Phases, name: str) -> None:
        self.name: Final = name
        self.phase = -1
        """The phase in which it plays, or has played last."""
        self._phases = phases
        self._in_play = False

    def is_done(self, phase: int) -> bool:
        """Whether its table of a phase is over."""
        return self.phase == phase and not self._in_play

    @contextlib.asynccontextmanager
    async def table(self) -> AsyncIterator[None]:
        """Wait until its next table may be played, and play it within the block."""
        await self._phases.begin(self)
        self.phase, self._in_play = self._phases.phase, True
        began_s = trio.current_time()
        try:
            yield
        finally:
            self._in_play = False
            self._phases.ended(trio.current_time() - began_s)


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
        begin: CountBegin,
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
        begin: CountBegin,  # noqa: ARG002 - no worker gets the deal-set
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
