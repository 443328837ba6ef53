"""The runner: plays deal-sets from a source of work, and each match of them once.

The runner takes a deal-set from a `WorkSource`, has a `DealSetPlayer` play all its matches, and reports it. Competitions
take their deal-sets from the store (`StoredWork`); comparisons, qualification matches and series of games have them in
memory (`ScheduledWork`).

All tables of a deal-set have the same boards. If launched processes at two of its tables could exchange a few bits,
each would know the cards of its opponents. So launched bots play in phases (`Phases`): in each phase a deal-set plays
one table, and between two phases all launched processes are ended. Two bots of one owner are isolated from each other
like two processes of one bot. As it takes time to start processes, a phase takes new deal-sets until it has lasted many
times as long. The first phases are short, so that results come soon, and later ones grow.

New deal-sets begin in every phase, beside the later tables of others. So a bot that plays one match at a time, and has
its table first in each deal-set, is not idle until the deal-sets of others are complete.
"""

import contextlib
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

import trio

from arena.live.work import CountBegin, DealSetPlayer, OnEnded, RunProgress, RunReport, WorkSource
from arena.results.deal_sets import DealSet, MatchOutcome, MatchPlan
from arena.store import OutOfDate
from arena.store.failures import first_error

PHASE_STARTS: Final = 40.0
"""A phase takes new deal-sets for this many times the time that their bots need to start."""
PHASE_TABLES: Final = 20.0
"""A phase takes new deal-sets for at least this many times the duration of its longest table, because slots are idle at
its end."""
FIRST_PHASE_S: Final = 10.0
"""The first phases take new deal-sets for at most this many seconds, so that results come soon."""
LATER_PHASES: Final = 0.25
"""Later phases take new deal-sets for at most this share of the time since the first phase began."""
KEPT_S: Final = 0.5
"""A slot is kept for a new deal-set for this many seconds before a later table of another deal-set gets it."""
LINGER_S: Final = 0.5
"""The longest time in seconds that a phase waits for the next deal-set while none is in play."""
DEFAULT_ATTEMPTS: Final = 3
"""The maximal number of starts of a match that the arena fails to finish."""

PlayMatch: TypeAlias = Callable[[DealSet, MatchPlan], Awaitable[MatchOutcome]]
"""Plays one match and returns its outcome once that is recorded.

It may be called again for the same match, also by another process; a match with a result is not played again. After
faults of bots there is still a result. A match that the arena cannot finish returns `deal_sets.aborted(...)`. An
exception means that no further match can be played.
"""

_log = logging.getLogger(__name__)


class Phases:
    """The phases of deal-sets whose bots one process launches. Used in trio."""

    def __init__(
        self, end_processes: Callable[[], Awaitable[None]], linger_s: float = LINGER_S
    ) -> None:
        """Begin the first phase.

        `end_processes` returns once no launched process is alive. `linger_s` is 0 if deal-sets are played one after the
        other.
        """
        self._end_processes, self._linger_s = end_processes, linger_s
        self._in_play: set[PhasedDealSet] = set()
        self.phase = 0
        """The number of the phase, from 0."""
        self._is_ending = False
        """Whether processes are being ended: nothing begins."""
        self._began_s = self._longest_s = 0.0
        self._worth_s = 0.0
        """For how long it was worthwhile that the last phase took deal-sets: the least for the present one."""
        self._busy_since_s = self._ended_s = -math.inf
        """When play began, and when it last ended. After a pause of `FIRST_PHASE_S` play begins anew."""
        self._start_s = 0.0
        """The longest start of bots since processes were ended."""
        self._known: set[str] = set()
        """The deal-sets whose boards processes know that may be alive."""
        self._changed = trio.Event()

    @contextlib.asynccontextmanager
    async def deal_set(self, name: str) -> AsyncIterator["PhasedDealSet"]:
        """Wait until the deal-set can begin, and play its tables in phases."""
        await self.open(name)
        if not self._in_play:
            self._begin_to_gather()
            if self._began_s - self._ended_s > FIRST_PHASE_S:
                self._busy_since_s = self._began_s
        phased = PhasedDealSet(self, name)
        self._in_play.add(phased)
        try:
            yield phased
        finally:
            self._in_play.remove(phased)
            self._ended_s = trio.current_time()
            self._wake()

    async def open(self, name: str = "") -> None:
        """Wait until a deal-set can begin: the one of this name, or any that has not begun."""
        while not self._is_open(name):
            if self._in_play or self._is_ending:
                await self._changed.wait()
            else:
                await self._renew()

    def _is_open(self, name: str) -> bool:
        if self._is_ending or name in self._known:
            return False
        return not self._in_play or self._gathers

    def _begin_to_gather(self) -> None:
        self._began_s, self._longest_s = trio.current_time(), 0.0

    @property
    def _gathers(self) -> bool:
        worth_s = max(self._worth_s, self._own_worth_s)
        most_s = max(FIRST_PHASE_S, LATER_PHASES * (self._began_s - self._busy_since_s))
        return trio.current_time() < self._began_s + min(worth_s, most_s)

    @property
    def _own_worth_s(self) -> float:
        return max(PHASE_STARTS * self._start_s, PHASE_TABLES * self._longest_s)

    async def begin(self, phased: "PhasedDealSet") -> None:
        """Wait for a phase in which a deal-set has played no table."""
        lingered = False
        while self._is_ending or phased.phase == self.phase:
            if self._is_ending or not all(other.is_done(self.phase) for other in self._in_play):
                await self._changed.wait()
                lingered = False
            elif self._gathers and not lingered:
                with trio.move_on_after(self._linger_s):
                    await self._changed.wait()
                    continue
                lingered = True
            else:
                await self._renew()
        self._known.add(phased.name)

    async def rest(self) -> None:
        """End all processes, unless a deal-set is in play."""
        if not self._in_play and not self._is_ending:
            await self._renew()

    def started(self, lasted_s: float) -> None:
        self._start_s = max(self._start_s, lasted_s)

    def ended(self, lasted_s: float) -> None:
        self._longest_s = max(self._longest_s, lasted_s)
        self._wake()

    async def _renew(self) -> None:
        """End all processes, so that the processes of the next phase have seen no boards."""
        self._is_ending = True
        try:
            await self._end_processes()
            self._known.clear()
            self.phase += 1
            self._worth_s, self._start_s = self._own_worth_s, 0.0
            self._begin_to_gather()
        finally:
            self._is_ending = False
            self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()


class PhasedDealSet:
    """A deal-set that is played in phases. Used by one task."""

    def __init__(self, phases: Phases, name: str) -> None:
        self.name: Final = name
        self.phase = -1
        """The phase in which it plays, or has played last."""
        self._phases = phases
        self._in_play = False
        self._began_s = 0.0

    def is_done(self, phase: int) -> bool:
        return self.phase == phase and not self._in_play

    @contextlib.asynccontextmanager
    async def table(self) -> AsyncIterator[None]:
        """Wait until its next table may be played, and play it within a phase."""
        await self._phases.begin(self)
        self.phase, self._in_play = self._phases.phase, True
        self.table_begins()
        try:
            yield
        finally:
            self._in_play = False
            self._phases.ended(trio.current_time() - self._began_s)

    def table_begins(self) -> None:
        """Count the time of the table from now on, because it has a slot."""
        self._began_s = trio.current_time()


class MatchByMatch:
    """A `DealSetPlayer` that plays each match by a function, up to `max_matches` at a time."""

    def __init__(
        self,
        play_match: PlayMatch,
        *,
        max_matches: int,
        attempts: int = DEFAULT_ATTEMPTS,
        phases_of: Callable[[DealSet], Phases | None] = lambda _: None,
    ) -> None:
        """Make a player that plays nothing yet.

        Args:
          attempts: The maximal number of starts of a match; an aborted match is started again at
            once.
          phases_of: The phases in which the tables of a deal-set are played; None to play all
            tables at the same time.
        """
        if max_matches < 1:
            raise ValueError(f"at least 1 match is played at a time, not {max_matches}")
        if attempts < 1:
            raise ValueError(f"a match is started at least once, not {attempts} times")
        self._play_match = play_match
        self._attempts = attempts
        self._phases_of = phases_of
        self._slots = trio.Semaphore(max_matches)
        self._kept = False
        """Whether a slot is kept for the next deal-set."""
        self._later = trio.Lock()
        """Held by the later table that waits for a slot: new deal-sets and later tables take turns."""

    async def ready(self) -> int:
        """Wait until a match can begin; return the number of deal-sets that can."""
        if not self._kept:
            await self._slots.acquire()
            self._kept = True
        return 1

    def why_waits(self) -> str:
        return ""

    async def play(
        self,
        deal_set: DealSet,
        known: Mapping[str, MatchOutcome],
        ended: OnEnded,
        begin: CountBegin,  # noqa: ARG002 - no worker gets the deal-set
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> Mapping[str, MatchOutcome]:
        outcomes = {
            match.id: known[match.id]
            for match in deal_set.matches
            if match.id in known and known[match.id].has_result
        }
        missing = [match for match in deal_set.matches if match.id not in outcomes]

        async def one(match: MatchPlan) -> None:
            try:
                outcome = await self._attempted(deal_set, match, ended)
            finally:
                self._slots.release()
            if outcome.has_result:
                outcomes[match.id] = outcome

        phases = self._phases_of(deal_set)
        if phases is None or not missing:
            async with trio.open_nursery() as nursery:
                for match in missing:
                    await self._acquire_first()
                    nursery.start_soon(one, match)
                task_status.started()
            return outcomes
        async with phases.deal_set(deal_set.id) as phased:
            for at, match in enumerate(missing):
                async with phased.table():
                    if at == 0:
                        await self._acquire_first()
                        task_status.started()
                    else:
                        await self._acquire_later()
                    phased.table_begins()
                    await one(match)
        return outcomes

    async def _acquire_first(self) -> None:
        """Take a slot for the first table of a deal-set."""
        if self._kept:
            self._kept = False
        else:
            await self._slots.acquire()

    async def _acquire_later(self) -> None:
        """Take a slot for a later table of a deal-set."""
        async with self._later:
            while True:
                with trio.move_on_after(KEPT_S):
                    await self._slots.acquire()
                    return
                if self._kept:
                    self._kept = False  # there is no new deal-set
                    return

    async def _attempted(self, deal_set: DealSet, match: MatchPlan, ended: OnEnded) -> MatchOutcome:
        attempts = 0
        while True:
            attempts += 1
            outcome = await self._play_match(deal_set, match)
            _require_fit(outcome, match)
            ended(match, outcome)
            if outcome.has_result or attempts == self._attempts:
                return outcome


async def run_deal_sets(
    source: WorkSource,
    player: DealSetPlayer,
    *,
    deal_sets: Sequence[DealSet] = (),
    known: Mapping[str, MatchOutcome] | None = None,
    on_progress: Callable[[RunProgress], None] | None = None,
) -> RunReport:
    """Play deal-sets in the order in which `source` has them, until it has no more.

    `deal_sets` are the known part of the schedule, and `known` the outcomes so far, by match id; progress counts
    them. A source may draw further deal-sets when some are taken. A deal-set that cannot be finished is given up, and
    is incomplete until it is taken again.

    Raises:
      Exception: the first that `source`, `player` or `on_progress` raised, outside any exception group. All
        matches in play are cancelled then.
    """
    run = _Run(deal_sets, known or {}, source, player, on_progress)
    run.tell(None)
    try:
        await run.play_all()
    except ExceptionGroup as error:
        raise first_error(error) from None
    return run.report()


class _Run:
    def __init__(
        self,
        deal_sets: Sequence[DealSet],
        known: Mapping[str, MatchOutcome],
        source: WorkSource,
        player: DealSetPlayer,
        on_progress: Callable[[RunProgress], None] | None,
    ) -> None:
        self._source = source
        self._player = player
        self._on_progress = on_progress
        self._outcomes: dict[str, MatchOutcome] = {}
        self._deal_sets: dict[str, DealSet] = {}
        self._missing: dict[str, int] = {}
        """Matches of each deal-set that have no result."""
        self._matches = self._complete = 0
        for deal_set in deal_sets:
            self._add(deal_set, known)
        self._in_play: set[str] = set()
        self._one_ended = trio.Event()

    def _add(self, deal_set: DealSet, known: Mapping[str, MatchOutcome]) -> None:
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

    async def play_all(self) -> None:
        """Take and play deal-sets until there are no more and none is in play."""
        async with trio.open_nursery() as nursery:
            while True:
                most = await self._player.ready()
                self._one_ended = trio.Event()
                deal_sets = await self._source.take(most)
                for deal_set in deal_sets:
                    self._add(deal_set, {})  # the source may have just drawn it
                    self._in_play.add(deal_set.id)
                    await nursery.start(self._play, deal_set)
                if not deal_sets and not self._in_play:
                    return
                if not deal_sets:
                    await self._one_ended.wait()

    async def _play(
        self, deal_set: DealSet, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        try:
            outcomes = await self._player.play(
                deal_set,
                self._outcomes,
                self._ended,
                partial(self._source.begin, deal_set),
                task_status=task_status,
            )
            if len(outcomes) < len(deal_set.matches):
                await self._source.give_up(deal_set)
            else:
                await self._source.report(deal_set, outcomes)
        except OutOfDate as late:
            # Another arena plays with this store, and uses the results recorded here.
            _log.warning("another process has taken a deal-set", extra={"why": str(late)})
        self._in_play.discard(deal_set.id)
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


def _require_fit(outcome: MatchOutcome, match: MatchPlan) -> None:
    """Require an outcome of this match, so that a bug of a player does not reach the results."""
    if outcome.match_id != match.id:
        raise ValueError(f"the play of match {match.id} returned match {outcome.match_id}")
    if not outcome.has_result:
        return
    if len(outcome.scores) != len(match.bots):
        raise ValueError(
            f"match {match.id} has {len(match.bots)} seats and {len(outcome.scores)} scores"
        )
    if not all(map(math.isfinite, outcome.scores)):
        raise ValueError(f"match {match.id} has a score that is not a finite number")
