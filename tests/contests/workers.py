"""An arena and its local workers in one process: real sessions, handshakes and journals, no child processes.

The messages between the two pass through `World.between`, which a test may replace: it loses them,
changes them, and ends workers.
"""

import contextlib
import itertools
import math
import os
from collections import Counter
from functools import partial

import trio
import trio.testing

from arena.bots.tokens import new_token
from arena.contests.workers.player import LOOK_S, AssignmentPlayer, ReportRecorder
from arena.contests.workers.pool import PoolPlayer, PoolTerms, WorkerPool
from arena.contests.workers.processes import Activity, run_local_workers
from arena.contests.workers.worker import LOCAL, Needs
from arena.live.arena_player import ArenaPlayer, order_of
from arena.live.frozen_bots import FrozenBots
from arena.live.players import ArchivedBot
from arena.live.runner import Phases, run_deal_sets
from arena.live.work import ScheduledWork
from arena.records.read import Replay
from arena.records.signing import ArenaKey
from arena.results.deal_sets import round_robin
from arena.sandbox.command import BotCommand
from arena.testing.orders import match_order
from arena.testing.outbox import MemoryOutbox
from arena.testing.results import MemoryResults
from cardarena.v1 import play_pb2, work_pb2
from tests.live.cuts import SdkPlayer, quick_disk
from tests.live.lives import arena_in, run

KEY = ArenaKey.new()
NAMES = ("ann", "bob")


def plans_of(number):
    """So many deal-sets of two bots and two matches each."""
    return round_robin(NAMES, seats=2, deal_sets=number, seed="s", tournament="t")


class Process(SdkPlayer):
    """One process of a bot, with the SDK's own side of fair deals."""

    def __init__(self, arena, bot):
        super().__init__(bot.name, adds_entropy=True)
        self.token = new_token()
        self.scope = trio.CancelScope()
        arena.tokens.add(self.token, bot)

    def opened(self):
        hello = super().opened()
        hello.token = self.token
        return hello

    @staticmethod
    def kind(data):
        return play_pb2.ArenaMessage.FromString(data).WhichOneof("body")


class MemoryBots:
    """Has bots come to an arena: as `Players`, without programs."""

    def __init__(self, world, arena, nursery):
        self.world, self.arena, self.nursery = world, arena, nursery
        self.processes = {}
        self.known = {}
        self.frozen_bots = FrozenBots(lambda _: None)
        self.phases = Phases(self._end)
        self.ended = []
        """Processes that were ended between two phases."""

    def is_launched(self, name):
        return name not in self.world.remote

    def command(self, name):
        return BotCommand(name, ("bot", name))

    def archived(self, name):
        return self.world.versions.get(name)

    def add(self, command):
        self.known[command.name] = command.argv

    def add_version(self, version):
        self.world.launch_version(version)
        self.known[str(version)] = version

    async def forget(self, name):
        del self.known[name]

    def all_sandboxed(self, bots):
        return False

    def phases_of(self, bots):
        return self.phases if any(self.is_launched(bot.name) for bot in bots) else None

    async def _end(self):
        self.ended += self.processes.values()
        for process in self.processes.values():
            process.scope.cancel()
        self.processes = {}

    async def ensure(self, bots):
        for bot in bots:
            if bot not in self.processes:
                self.processes[bot] = Process(self.arena, bot)
                if (session := self.arena.sessions.get(bot)) is not None:
                    session.forget_sent()
                self.nursery.start_soon(self._streams, bot)
        await self.arena.sessions.arrived(bots)
        self.phases.started(1.0)

    async def _streams(self, bot):
        process = self.processes[bot]
        process.line = MemoryOutbox()
        session = self.arena.hello(process.opened(), process.line)
        with process.scope:
            while True:
                for data in process.line.take_frames():
                    process.receive(data)
                while process.said:
                    said = process.said.popleft()
                    session.incoming.deliver(process.line, said, trio.current_time())
                await trio.sleep(0.01)
        self.arena.hung_up(session, process.line)


class MemoryWorker:
    """A worker's process, and its call: `ChildProcess` and `Connection`."""

    def __init__(self, world, number, folder, worker):
        self.world, self.number, self.folder, self.worker = world, number, folder, worker
        self.stdin, _ = trio.testing.memory_stream_one_way_pair()
        self._status, self.stdout = trio.testing.memory_stream_one_way_pair()
        self._asked, self._messages = trio.open_memory_channel(math.inf)
        self.returncode = None
        self.scope = trio.CancelScope()
        self._ended = trio.Event()
        self.bots = None
        """What launches its bots, once it plays."""

    async def run(self):
        recorder = ReportRecorder()
        try:
            with self.scope:
                async with arena_in(self.folder, recorder=recorder) as (arena, nursery):
                    self.bots = MemoryBots(self.world, arena, nursery)
                    player = AssignmentPlayer(arena, recorder, self.bots, self.say)
                    self.worker.connect(self)
                    nursery.start_soon(self._tell)
                    host = self.world.hosts.get(self.number, "")
                    ready = work_pb2.WorkerReady(pid=os.getpid(), sandbox="S2", host=host)
                    self.say(work_pb2.WorkRequest(ready=ready))
                    await player.run(self._messages)
        finally:
            self.returncode = 0
            self.worker.disconnect(self)
            self._status.close()
            self._ended.set()

    async def _tell(self):
        """Write its status, which `WorkerProcess` reads."""
        while True:
            await self._status.send_all(Activity.PLAYS)
            await trio.sleep(LOOK_S)

    def say(self, message):
        """Send a message to the arena, as far as it comes."""
        for each in self.world.between(self, message):
            if not self.scope.cancel_called:
                self.worker.take(each)

    def send(self, message):
        """As `Connection.send`."""
        for each in self.world.between(self, message):
            if not self.scope.cancel_called:
                self._asked.send_nowait(each)

    def end(self):
        """As `Connection.end`."""
        self.scope.cancel()

    def leave(self):
        """Have it want no further deal-sets."""
        self.worker.take(work_pb2.WorkRequest(leaves=work_pb2.WorkerLeaves()))

    async def wait(self):
        await self._ended.wait()
        return self.returncode

    def kill(self):
        self.scope.cancel()


def passed(worker, message):
    """Pass a message on as it is."""
    return [message]


class BegunAgain(ScheduledWork):
    """Work whose begins are counted on from one run to the next, as the store counts them."""

    def __init__(self, plans, begins):
        super().__init__(plans)
        self._begins = begins


class World:
    """An arena with workers, that plays deal-sets of launched bots."""

    def __init__(self, folder, *, fair=True, hands=2, workers=2, joined=0, names=()):
        """`names` are those of the workers on other machines, as `key@host`; by default m1, m2 ..."""
        self.folder, self.number = folder, workers
        self.joined = names or [f"m{number}" for number in range(1, joined + 1)]
        seed = "" if fair else "s"
        self.terms = match_order("abstrac", NAMES, {"hands": hands}, seed=seed).terms
        self.between = passed
        self.remote, self.versions = (), {}
        if self.joined:
            self.versions = {name: ArchivedBot(name, "0" * 64, {}, "") for name in NAMES}
        self.launch_version = lambda version: None
        self.pack = lambda command: ArchivedBot(command.name, "1" * 64, {}, "")
        self.hosts = {}
        """Those of workers on other machines, by number."""
        self.children = []
        """Every process of a worker that was started."""
        self.seen = []
        """Every message between the arena and its workers: the worker's number, and what it is."""
        self.results = MemoryResults()
        self.begins = Counter()
        self.checker = None
        """Has deal-sets of workers on other machines played again."""
        self.starting = None
        """Starts workers in place of `_start`."""

    async def _start(self, command, worker=None):
        number, folder = command
        child = MemoryWorker(self, number, folder, worker or self.pool.local(number))
        self.children.append(child)
        self.nursery.start_soon(child.run)
        return child

    def order(self, plan):
        return order_of(plan, self.terms)

    @contextlib.asynccontextmanager
    async def arena(self):
        """The arena, with a pool of workers."""
        (self.folder / "home").mkdir(exist_ok=True)
        async with trio.open_nursery() as self.nursery:
            async with arena_in(self.folder / "home", self.results, signer=KEY) as (arena, nursery):
                self.home, self.bots = arena, MemoryBots(self, arena, nursery)
                command = lambda number, folder: (number, folder)  # noqa: E731
                start = self.starting or self._start
                self.pool = WorkerPool(spot_checker=self.checker)
                if self.checker is not None:
                    nursery.start_soon(self.checker.run, self.pool.find_other)
                folder, tokens = self.folder / "workers", arena.tokens
                arena.add_workers(self.pool)
                nursery.start_soon(self.pool.end_silent)
                await nursery.start(
                    run_local_workers, self.pool, folder, command, self.number, tokens, start
                )
                for number, name in enumerate(self.joined, 1):
                    nursery.start_soon(self._join, number, name)
                yield arena
            self.nursery.cancel_scope.cancel()

    async def _join(self, number, name):
        """Have a worker on another machine join, again and again."""
        key, _, self.hosts[number] = name.partition("@")
        for times in itertools.count(1):
            worker = self.pool.add(64 + number, key)
            (folder := self.folder / f"m{number}-{times}").mkdir()
            child = await self._start((number, folder), worker)
            await child.wait()
            self.pool.remove(worker)
            await trio.sleep(1)

    async def play(self, plans, max_matches=4, make_player=None):
        """Have deal-sets played by the workers; the report of the runner."""
        terms = PoolTerms(Needs(0) if self.joined else LOCAL)
        make_player = make_player or partial(PoolPlayer, self.pool, terms=terms, pack=self.pack)
        player = make_player(self.home, self.bots, self.order, max_matches=max_matches)
        return await run_deal_sets(BegunAgain(plans, self.begins), player, deal_sets=plans)

    def replays(self):
        return [Replay.open(path) for path in sorted((self.folder / "home" / "replays").iterdir())]


def played(
    folder, monkeypatch, *, number=3, between=passed, during=None, prepare=lambda _: None, **how
):
    """Deal-sets that were played by workers, with what is between the two; the world and the report."""
    world = World(folder, **how)
    prepare(world)

    def seen(child, message):
        kind = message.WhichOneof("body")
        if kind not in ("ready", "joined", "counts", "takes"):
            world.seen.append((child.number, kind))
        return between(child, message)

    world.between = seen

    async def main():
        async with world.arena():
            return await (during(world) if during else world.play(plans_of(number)))

    with quick_disk(monkeypatch):
        return world, run(main)


def alone(folder, monkeypatch, number=3, **how):
    """The same deal-sets, played by an arena without workers; the outcomes."""
    world = World(folder, workers=0, **how)

    async def main():
        async with world.arena():
            return await world.play(plans_of(number), make_player=ArenaPlayer)

    with quick_disk(monkeypatch):
        return run(main).outcomes


class Once:
    """Does something at the first message of a kind, or the one of a number."""

    def __init__(self, kind, act, at=1):
        self.kind, self.act, self.at = kind, act, at
        self.counter = itertools.count(1)
        self.child = None

    def __call__(self, child, message):
        if message.WhichOneof("body") == self.kind and next(self.counter) == self.at:
            self.child = child
            changed = self.act(child, message)
            return [message] if changed is None else changed
        return [message]


async def until(happened):
    """Wait until this is so, on the mock clock."""
    while not happened():  # noqa: ASYNC110 - no event tells it
        await trio.sleep(0.01)
