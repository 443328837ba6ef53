"""The seam between an arena and its workers: a leased deal-set goes out, a report comes back.

The arena draws, fixes, signs and publishes the deals, and records the results. A worker launches the bots, runs the
handshake of the deals with them, and plays. It does not use the arena's folder, store and key.

A deal-set may be assigned several times, as workers die. Each assignment is a `Begin`, which the store counts. The
first report of the latest one counts.
"""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import trio

from arena.competition.pairing import HOUSE
from arena.competition.plan import CompetitionPlan
from arena.sandbox import Level
from arena.schedule.deal_sets import DealSetPlan, MatchOutcome
from arena.schedule.runner import CannotPlay, CountBegin, OnEnded
from arena.schedule.work import DealSetJob
from arena.server.arena import Arena
from arena.server.competitions.arena_player import MAX_MATCHES, ArenaPlayer, MakePlayer
from arena.server.competitions.players import Players
from arena.server.metrics import WorkerStatus
from arena.server.orders import DealSetOrder
from arena.server.workers.leased import LeasedDealSet
from arena.server.workers.messages import MOST_MESSAGE_BYTES
from arena.server.workers.spot_checks import SpotChecker
from arena.server.workers.verification import Verify, verified_here
from arena.server.workers.worker import LOCAL, Lost, Needs, Worker
from cardarena.v1 import work_pb2

MOST_BEGINS: Final = 6
"""Times that a deal-set is handed out under one lease, as it may be what kills workers."""

_log = logging.getLogger(__name__)


class WorkerPool:
    """The workers of an arena: a `Workers`. Made and used in trio."""

    def __init__(
        self, verify: Verify = verified_here, spot_checker: SpotChecker | None = None
    ) -> None:
        """Begin without workers.

        Args:
          verify: Verifies what workers on other machines report.
          spot_checker: Has some of their deal-sets played again; None for none.
        """
        self.verify: Final = verify
        self.spot_checker: Final = spot_checker
        self._workers: list[Worker] = []
        self._changed = trio.Event()
        self._in_play = 0
        self._draining = False

    def add(self, number: int, joined_as: str = "", most_bytes: int = MOST_MESSAGE_BYTES) -> Worker:
        """Add a worker, see `Worker`."""
        worker = Worker(number, self._wake, joined_as=joined_as, most_bytes=most_bytes)
        self._workers.append(worker)
        return worker

    def remove(self, worker: Worker) -> None:
        """Remove a worker that has left."""
        self._workers.remove(worker)

    @property
    def has_local(self) -> bool:
        """Whether there are local workers."""
        return any(each.fits(LOCAL) for each in self._workers)

    async def all_started(self) -> None:
        """Wait until each worker is ready or broken."""
        while not all(each.is_ready or each.why_broken for each in self._workers):
            await self._changed.wait()

    def asks(self, needs: Needs) -> int:
        """Return how many deal-sets fitting workers have asked for and not received."""
        return sum(each.takes for each in self._workers if each.is_ready and each.fits(needs))

    def needed_by(self, name: str, archive_sha256: str) -> bool:
        """Whether a deal-set that workers of this name play needs an archive."""
        own = (each for each in self._workers if each.name == name)
        return any(archive_sha256 in each.archives for each in own)

    async def play(
        self,
        leased: LeasedDealSet,
        needs: Needs = LOCAL,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Have a deal-set played and recorded; it is assigned again if its worker dies.

        `task_status` is started when a worker has it. On return `leased` is incomplete if it was given up. While the
        arena drains, nothing is assigned, and this call does not return.

        Raises:
          BadCommand: if a bot cannot be launched.
          CannotPlay: if all fitting workers are broken.
          OutOfDate: if the deal-set was leased again.
          StoreError: if results cannot be read or recorded.
        """
        for number in range(MOST_BEGINS):
            worker = await self.find(needs) if await leased.prepare() else None
            if number == 0:
                task_status.started()
            if worker is None:
                return
            self._in_play += 1
            try:
                await worker.play(leased)
            except Lost as lost:
                fields = {"worker": worker.name, "deal_set": leased.order.deal_set}
                _log.warning("a deal-set begins again", extra={**fields, "why": str(lost)})
            finally:
                self._in_play -= 1
                self._wake()
            if leased.is_complete:
                return
        _log.error("a deal-set is given up", extra={"deal_set": leased.order.deal_set})

    async def find(self, needs: Needs, not_named: str = "") -> Worker:
        """Wait for a worker that can take a deal-set, and return the one with the fewest matches.

        While the arena drains, this call does not return.

        Raises:
          CannotPlay: if all fitting workers are broken.
        """
        while True:
            if self._draining:
                await trio.sleep_forever()
            fitting = [
                each for each in self._workers if each.fits(needs) and each.name != not_named
            ]
            if (found := least_loaded(fitting)) is not None:
                return found
            if fitting and all(each.why_broken for each in fitting):
                raise CannotPlay(fitting[0].why_broken)
            await self._changed.wait()

    def _wake(self) -> None:
        """Wake all tasks that wait for a change."""
        self._changed.set()
        self._changed = trio.Event()

    def drain(self) -> None:
        """As `Workers.drain`."""
        self._draining = True
        self._wake()

    async def idle(self) -> None:
        """As `Workers.idle`."""
        while self._in_play:
            await self._changed.wait()

    def status(self) -> list[WorkerStatus]:
        """As `Workers.status`."""
        return [each.status() for each in self._workers]


def least_loaded(workers: Iterable[Worker]) -> Worker | None:
    """The worker that plays the fewest matches of those that ask for a deal-set; None if none asks."""
    asking = [each for each in workers if each.is_ready and each.takes > 0]
    return min(asking, key=lambda each: (each.matches, each.number), default=None)


def player_of(pool: WorkerPool, plan: CompetitionPlan) -> MakePlayer:
    """A `PlayerOf` for an arena with workers."""
    level = Level.S0 if plan.sandbox is None else Level(plan.sandbox)
    needs = Needs(plan.speed_class, level)
    return partial(PoolPlayer, pool, needs=needs, pondering=plan.pondering)


class PoolPlayer:
    """A `DealSetPlayer`: workers play deal-sets of launched bots, and this process all others.

    A worker asks for a deal-set when it can begin one.
    """

    def __init__(
        self,
        pool: WorkerPool,
        arena: Arena,
        players: Players,
        order: Callable[[DealSetPlan], DealSetOrder],
        *,
        max_matches: int = MAX_MATCHES,
        needs: Needs = LOCAL,
        pondering: bool = False,
    ) -> None:
        """Begin without deal-sets; see `ArenaPlayer`. `max_matches` is the limit of this process."""
        may_ponder = players.frozen_bots.may_ponder if pondering else None
        self._pondering = pondering
        self._pool, self._arena, self._players, self._order = pool, arena, players, order
        self._needs = needs
        self._here = ArenaPlayer(
            arena, players, order, max_matches=max_matches, may_ponder=may_ponder
        )

    async def ready(self) -> int:
        """As `DealSetPlayer.ready`."""
        await self._here.ready()
        return max(1, self._pool.asks(self._needs))

    async def play(
        self,
        job: DealSetJob,
        known: Mapping[str, MatchOutcome],
        ended: OnEnded,
        begin: CountBegin,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> Mapping[str, MatchOutcome]:
        """As `DealSetPlayer.play`."""
        order = self._order(job.deal_set)
        names = [*dict.fromkeys(bot.name for bot in order.bots)]
        if self._needs.speed_class is not None:
            self._require_archived(names)
        elif not self._is_for_local_workers(order, names):
            return await self._here.play(job, known, ended, begin, task_status=task_status)
        entrants = [self._entrant(name) for name in names]
        runtimes = {each.runtime_sha256 for each in entrants} - {""}
        needs = replace(self._needs, runtimes=frozenset(runtimes))
        leased = LeasedDealSet(
            self._arena,
            job.epoch,
            begin,
            order,
            entrants,
            self._pool.verify,
            pondering=self._pondering,
        )
        # `known` has all outcomes of the competition, so it is not walked through.
        missing = [
            each
            for each in job.deal_set.matches
            if each.id not in known or not known[each.id].has_result
        ]
        await self._pool.play(leased, needs, task_status=task_status)
        if self._pool.spot_checker is not None and leased.is_complete:
            self._pool.spot_checker.consider(leased, needs)
        for match in missing:
            if match.id in leased.outcomes:
                ended(match, leased.outcomes[match.id])
        return leased.outcomes

    def _is_for_local_workers(self, order: DealSetOrder, names: Sequence[str]) -> bool:
        """Whether a local worker plays a deal-set, and not this process."""
        # A match that was cut short in this process continues in it.
        here = self._arena.matches.has_begun(order) or not self._pool.has_local
        return not here and all(map(self._players.is_launched, names))

    def _require_archived(self, names: Sequence[str]) -> None:
        """Require bots that another machine can have.

        Raises:
          CannotPlay: if one dials in, or is launched by a command of this machine.
        """
        for name in names:
            if name != HOUSE and self._players.archived(name) is None:
                raise CannotPlay(
                    f"{name} is no uploaded bot: a competition with a speed class is played on other "
                    "machines, which have uploaded bots only"
                )

    def _entrant(self, name: str) -> work_pb2.WorkEntrant:
        archived = self._players.archived(name)
        if archived is None and name == HOUSE:
            return work_pb2.WorkEntrant(name=name)  # every worker has it
        if archived is None:
            return work_pb2.WorkEntrant(name=name, argv=self._players.argv(name))
        return work_pb2.WorkEntrant(
            name=name,
            archive_sha256=archived.sha256,
            manifest_json=json.dumps(archived.manifest, default=list),
            runtime_sha256=archived.runtime_sha256,
        )
