"""The pool of an arena's workers: it assigns deal-sets and takes reports.

The arena draws, fixes, signs and publishes the deals, and records the results. A worker launches the bots, runs the
handshake of the deals with them, and plays. It does not use the arena's folder, store and key.

A deal-set may be assigned several times, as workers die. Each assignment is a `Begin`, which the store counts. The
first report of the latest one counts.
"""

import json
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import trio

from arena.contests.plan import CompetitionPlan
from arena.contests.workers.assigned import AssignedDealSet
from arena.contests.workers.holding import Account, HeldTime
from arena.contests.workers.placements import Pace, Placements
from arena.contests.workers.reports import PrepareReport, prepared_here
from arena.contests.workers.spot_checks import SpotChecker
from arena.contests.workers.worker import LOCAL, Lost, Needs, Worker
from arena.live.arena import Arena
from arena.live.arena_player import MAX_MATCHES, ArenaPlayer, MakePlayer
from arena.live.metrics import WorkerStatus, gone_worker
from arena.live.orders import DealSetOrder
from arena.live.players import ArchivedBot, Players
from arena.live.work import CannotPlay, CountBegin, OnEnded
from arena.results.deal_sets import DealSet, MatchOutcome
from arena.results.worker_names import key_of
from arena.sandbox.command import BadCommand, BotCommand
from arena.sandbox.spawner.order import Level
from arena.store import Version
from cardarena.v1 import work_pb2

LOOK_S: Final = 1.0
"""Interval of the checks for silent workers."""
GATHER_S: Final = 0.05
"""Seconds for which requests of workers are gathered, before deal-sets are taken from the store in one transaction."""
MOST_BEGINS: Final = 6
"""The number of assignments of a deal-set before it is given up, because it may be what kills workers."""
OTHERS_FIRST_S: Final = 600.0
"""Seconds for which a deal-set waits for a worker at which it has not failed, while one is connected."""

MOST_GONE: Final = 64
"""The maximal number of rows of the status for workers that have left; those with the most failed begins are shown."""
MOST_OF_KEY: Final = 1_024
"""The maximal number of simultaneous workers of a key."""

_log = logging.getLogger(__name__)


class WorkerPool:
    """The workers of an arena: a `Workers`. Made and used in trio."""

    def __init__(
        self, prepare_report: PrepareReport = prepared_here, spot_checker: SpotChecker | None = None
    ) -> None:
        """Begin without workers.

        Args:
          prepare_report: Prepares reports of workers, and verifies those of workers on other
            machines.
          spot_checker: Has some of their deal-sets played again; None if nothing is checked.
        """
        self.prepare_report: Final = prepare_report
        self.spot_checker: Final = spot_checker
        self._workers: list[Worker] = []
        self._accounts: dict[str, Account] = {}
        """By the name of a key, or of a local worker."""
        self._changed = trio.Event()
        self._in_play = 0
        self.placements: Final = Placements()
        """What engines run of its workers."""
        self._paces: defaultdict[int | None, Pace] = defaultdict(Pace)
        """By speed class."""
        self.waiting_again: Final[Counter[int | None]] = Counter()
        """Deal-sets that were begun, and that no worker has now, by speed class; None is the arena's own machine."""
        self._draining = False

    def add(self, number: int, key: str = "") -> Worker:
        account = Account(is_limited=bool(key))
        account = self._accounts.setdefault(key or str(number), account)
        worker = Worker(number, self._wake, key, account)
        self._workers.append(worker)
        return worker

    def is_full(self, key: str) -> bool:
        return sum(worker.key == key for worker in self._workers) >= MOST_OF_KEY

    def local(self, number: int) -> Worker:
        return next(worker for worker in self._workers if worker.number == number)

    def remove(self, worker: Worker) -> None:
        self._workers.remove(worker)
        self._wake()  # deal-sets that wait for it may go to another worker

    @property
    def failed_begins(self) -> Counter[str]:
        """Return the number of failed begins since the arena started, by the name of the worker."""
        return sum((account.failed_begins for account in self._accounts.values()), Counter())

    @property
    def has_local(self) -> bool:
        return any(worker.fits(LOCAL) for worker in self._workers)

    async def all_started(self) -> None:
        while not all(worker.is_ready or worker.why_broken for worker in self._workers):
            await self._changed.wait()

    def asks(self, needs: Needs) -> int:
        """Return how many deal-sets fitting workers have asked for and not received."""
        return sum(worker.asks for worker in self._asking(needs))

    def needed_by(self, key: str, archive_sha256: str) -> bool:
        """Return whether a deal-set that workers of this key play needs an archive."""
        of_key = (worker for worker in self._workers if worker.key == key)
        return any(archive_sha256 in worker.archives for worker in of_key)

    async def play(
        self,
        deal_set: AssignedDealSet,
        needs: Needs = LOCAL,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Have a deal-set played and recorded; if a begin fails, it begins again, at another worker if there is one.

        A worker that fails a deal-set because its bot has lost does not get the same cards again. `task_status` is
        started when a worker has the deal-set. On return `deal_set` is incomplete if it was given up. While the arena
        drains, nothing is assigned, and this call does not return.

        Raises:
          BadCommand: if a bot cannot be launched, at two workers if they are on other machines.
          CannotPlay: if all fitting workers are broken.
          OutOfDate: if another arena has taken the deal-set since.
          StoreError: if results cannot be read or recorded.
        """
        unlaunchable = 0
        for number in range(MOST_BEGINS):
            missing = await deal_set.prepare()
            self.waiting_again[needs.speed_class] += number > 0
            try:
                worker = await self.find(needs, deal_set.failed_at) if missing else None
            finally:
                self.waiting_again[needs.speed_class] -= number > 0
            if number == 0:
                task_status.started()
            if worker is None:
                return
            self._in_play += 1
            try:
                await worker.play(deal_set)
            except (Lost, BadCommand) as lost:
                # A single worker on another machine is not trusted if it reports that a bot cannot be launched.
                unlaunchable += isinstance(lost, BadCommand)
                if unlaunchable and (unlaunchable > 1 or not self._has_other(needs, worker)):
                    raise
                fields = {"worker": worker.name, "deal_set": deal_set.order.deal_set}
                _log.warning("a deal-set begins again", extra={**fields, "why": str(lost)})
            finally:
                self._in_play -= 1
                self._wake()
            if deal_set.is_complete:
                self._paces[needs.speed_class].reported()
                return
        _log.error("a deal-set is given up", extra={"deal_set": deal_set.order.deal_set})

    def _has_other(self, needs: Needs, worker: Worker) -> bool:
        return bool(worker.key and unlike(self._fitting(needs), [worker.name]))

    async def find(self, needs: Needs, failed_at: Collection[str] = ()) -> Worker:
        """Wait for a worker that can take a deal-set, and return the one with the fewest matches.

        While workers other than those of `failed_at` are connected, one of these is chosen; after `OTHERS_FIRST_S` any
        worker may be chosen. While the arena drains, this call does not return.

        Raises `CannotPlay` if all fitting workers are broken.
        """

        def others_first(fitting: Sequence[Worker]) -> Sequence[Worker]:
            return unlike([worker for worker in fitting if worker.is_ready], failed_at) or fitting

        if failed_at:
            with trio.move_on_after(OTHERS_FIRST_S):
                return await self._found(needs, others_first)
        return await self._found(needs)

    async def find_other(self, needs: Needs, name: str) -> Worker:
        """Do as `find` does, but never return a worker of this name."""
        return await self._found(needs, lambda fitting: unlike(fitting, [name]))

    async def _found(
        self, needs: Needs, choose: Callable[[Sequence[Worker]], Sequence[Worker]] | None = None
    ) -> Worker:
        """Wait for a worker that asks for a deal-set, among those that `choose` returns from all that fit."""
        while True:
            if self._draining:
                await trio.sleep_forever()
            # Few of a thousand workers ask, and this runs for each deal-set, so all workers are examined only to find a
            # reason.
            if choose is None:
                worker = least_loaded(self._asking(needs))
            else:
                worker = least_loaded(choose(self._fitting(needs)))
            if worker is not None:
                return worker
            if any(worker.why_broken for worker in self._workers):
                fitting = self._fitting(needs)
                if fitting and all(broken.why_broken for broken in fitting):
                    raise CannotPlay(fitting[0].why_broken)
            await self._changed.wait()

    def _asking(self, needs: Needs) -> list[Worker]:
        return [worker for worker in self._workers if worker.takes and worker.fits(needs)]

    def _fitting(self, needs: Needs) -> list[Worker]:
        return [worker for worker in self._workers if worker.fits(needs)]

    def why_waits(self, needs: Needs) -> str:
        """Return why no worker takes a deal-set, in words; empty if one plays or asks for one."""
        if self._draining:
            return "the arena drains: it finishes what is in play, and stops"
        fitting = self._fitting(needs)
        if any(worker.is_ready for worker in fitting):
            return ""
        if fitting:
            broken = next((worker.why_broken for worker in fitting if worker.why_broken), "")
            return broken or "the arena's workers are starting"
        if needs.speed_class is None:
            return ""
        runtimes = " and the runtimes of its bots" if needs.runtimes else ""
        return (
            f"no worker of speed class {needs.speed_class} with sandbox level {needs.sandbox} or better{runtimes} "
            "has joined; `arena worker` starts one"
        )

    async def end_silent(self) -> None:
        """End the connections of silent workers until cancelled; then end all connections."""
        try:
            while True:
                await trio.sleep(LOOK_S)
                for worker in self._workers:
                    worker.pass_time(LOOK_S)
                    if worker.matches:
                        self._paces[worker.speed_class].busy(LOOK_S)
        finally:
            for worker in self._workers:
                worker.hang_up()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    def drain(self) -> None:
        self._draining = True
        self._wake()

    async def idle(self) -> None:
        while self._in_play:
            await self._changed.wait()

    def in_play(self, speed_class: int) -> int:
        return sum(
            worker.deal_sets for worker in self._workers if worker.speed_class == speed_class
        )

    def worker_s(self, speed_class: int) -> float:
        """Return the time of a worker of a speed class for a deal-set in seconds; 0 before the first."""
        return self._paces[speed_class].worker_s

    def status(self) -> list[WorkerStatus]:
        present = {worker.name for worker in self._workers}
        gone = [
            (name, number) for name, number in self.failed_begins.items() if name not in present
        ]
        most = sorted(gone, key=lambda row: -row[1])[:MOST_GONE]
        return [
            *(worker.status() for worker in self._workers),
            *(gone_worker(name, number) for name, number in most),
        ]


def least_loaded(workers: Iterable[Worker]) -> Worker | None:
    """Return the worker that plays the fewest matches of those that ask for a deal-set; None if none asks."""
    asking = [worker for worker in workers if worker.asks > 0]
    return min(asking, key=lambda worker: (worker.matches, worker.number), default=None)


def unlike(workers: Sequence[Worker], names: Collection[str]) -> list[Worker]:
    """Return the workers with other keys than those of these names; if there are none, those with other names.

    A worker declares its host itself, but not its key.
    """
    keys = {key_of(name) for name in names}
    of_other_keys = [worker for worker in workers if key_of(worker.name) not in keys]
    return of_other_keys or [worker for worker in workers if worker.name not in names]


Pack = Callable[[BotCommand, Sequence[str]], ArchivedBot]
"""Packs a bot that is started by a command and plays these games. Blocks on the disk.

Raises:
  BadCommand: if it cannot be packed.
"""


@dataclass(frozen=True, slots=True)
class PoolTerms:
    """How workers play the deal-sets of a plan."""

    needs: Needs = LOCAL
    pondering: bool = False
    as_here: bool = False
    """Whether bots have the dice that they have in this process, for the same results."""


LOCAL_TERMS: Final = PoolTerms()
"""Those of local workers."""


def engine_player_of(pool: WorkerPool, pack: Pack, plan: CompetitionPlan) -> MakePlayer:
    """Return a `PlayerOf` for an arena whose deal-sets are tasks of an engine, with the results of play in this process."""
    terms = PoolTerms(Needs(speed_class=0), plan.pondering, as_here=True)
    return _player_of(pool, pack, plan, terms)


def player_of(pool: WorkerPool, pack: Pack, plan: CompetitionPlan) -> MakePlayer:
    """Return a `PlayerOf` for an arena with workers."""
    # Workers on other machines play archives, which need S2.
    level = max(Level.S0 if plan.speed_class is None else Level.S2, plan.sandbox or Level.S0)
    terms = PoolTerms(Needs(plan.speed_class, Level(level)), plan.pondering)
    return _player_of(pool, pack, plan, terms)


def _player_of(pool: WorkerPool, pack: Pack, plan: CompetitionPlan, terms: PoolTerms) -> MakePlayer:
    games = [*dict.fromkeys(game.terms.game.id for game in plan.games)]

    def packed(command: BotCommand) -> ArchivedBot:
        return pack(command, games)

    return partial(PoolPlayer, pool, terms=terms, pack=packed)


class PoolPlayer:
    """A `DealSetPlayer`: workers play deal-sets of launched bots, and this process all others.

    A worker asks for a deal-set when it can begin one.
    """

    def __init__(
        self,
        pool: WorkerPool,
        arena: Arena,
        players: Players,
        order: Callable[[DealSet], DealSetOrder],
        *,
        max_matches: int = MAX_MATCHES,
        terms: PoolTerms = LOCAL_TERMS,
        pack: Callable[[BotCommand], ArchivedBot],
    ) -> None:
        """Begin without deal-sets; see `ArenaPlayer`.

        `max_matches` is the limit of this process. `pack` makes archives of bots that are launched by commands here,
        for other machines.
        """
        self._pack, self._terms = pack, terms
        self._packed: dict[str, ArchivedBot] = {}
        self._packing = trio.Lock()
        may_ponder = players.frozen_bots.may_ponder if terms.pondering else None
        self._held_time = HeldTime()
        self._pool, self._arena, self._players, self._order = pool, arena, players, order
        self._latest_needs = terms.needs
        self._here = ArenaPlayer(
            arena, players, order, max_matches=max_matches, may_ponder=may_ponder
        )

    async def ready(self) -> int:
        await self._here.ready()
        if self._pool.asks(self._terms.needs):
            await trio.sleep(GATHER_S)
        return max(1, self._pool.asks(self._terms.needs))

    def why_waits(self) -> str:
        return self._pool.why_waits(self._latest_needs) or self._here.why_waits()

    async def play(
        self,
        deal_set: DealSet,
        known: Mapping[str, MatchOutcome],
        ended: OnEnded,
        begin: CountBegin,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> Mapping[str, MatchOutcome]:
        order = self._order(deal_set)
        names = [*dict.fromkeys(bot.name for bot in order.bots)]
        if self._terms.needs.speed_class is not None:
            await self._archive(names)
        elif not self._is_for_local_workers(order, names):
            return await self._here.play(deal_set, known, ended, begin, task_status=task_status)
        if self._terms.as_here:
            order = replace(order, own_dice=not self._players.all_sandboxed(order.bots))
        entrants = [self._entrant(name) for name in names]
        runtimes = {entrant.runtime_sha256 for entrant in entrants} - {""}
        needs = self._latest_needs = replace(self._terms.needs, runtimes=frozenset(runtimes))
        assigned = AssignedDealSet(
            self._arena,
            begin,
            order,
            entrants,
            self._pool.prepare_report,
            held_time=self._held_time,
            pondering=self._terms.pondering,
            is_first=deal_set.begin == 1,
        )
        # `known` has all outcomes of the competition, so a loop over it would be slow.
        missing = [
            match
            for match in deal_set.matches
            if match.id not in known or not known[match.id].has_result
        ]
        await self._pool.play(assigned, needs, task_status=task_status)
        if self._pool.spot_checker is not None and assigned.is_complete:
            self._pool.spot_checker.consider(assigned, needs)
        for match in missing:
            if match.id in assigned.outcomes:
                ended(match, assigned.outcomes[match.id])
        return assigned.outcomes

    def _is_for_local_workers(self, order: DealSetOrder, names: Sequence[str]) -> bool:
        """Return whether a local worker plays a deal-set, and not this process."""
        # A match that was suspended in this process continues in it.
        here = self._arena.matches.has_begun(order) or not self._pool.has_local
        return not here and all(map(self._players.is_launched, names))

    async def _archive(self, names: Sequence[str]) -> None:
        """Pack the bots that another machine does not have.

        Raises `BadCommand` if one cannot be packed, and `CannotPlay` if one is a remote bot.
        """
        for name in names:
            async with self._packing:
                if self._is_house(name) or self._archived_bot(name) is not None:
                    continue
                if not self._players.is_launched(name):
                    raise CannotPlay(
                        f"{name} is a remote bot: a competition with a speed class is played on other "
                        "machines, which run only submitted and packed bots"
                    )
                command = self._players.command(name)
                self._packed[name] = await trio.to_thread.run_sync(self._pack, command)

    def _archived_bot(self, name: str) -> Version | ArchivedBot | None:
        return self._players.archived(name) or self._packed.get(name)

    def _is_house(self, name: str) -> bool:
        return self._players.is_launched(name) and self._players.command(name).is_house

    def _entrant(self, name: str) -> work_pb2.WorkEntrant:
        if self._is_house(name):
            level = self._players.command(name).argv[-1]
            return work_pb2.WorkEntrant(name=name, house_level=level)
        archived = self._archived_bot(name)
        if archived is None:
            command = self._players.command(name)
            return work_pb2.WorkEntrant(name=name, argv=command.argv, start_s=command.start_s)
        return work_pb2.WorkEntrant(
            name=name,
            archive_sha256=archived.sha256,
            manifest_json=json.dumps(archived.manifest, default=list),
            runtime_sha256=archived.runtime_sha256,
        )
