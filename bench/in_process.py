"""The arena and its bots in one process, without gRPC.

Services, sessions, matches and journal are those of a served arena. Only the calls are test doubles: a stream reads
from a list, and its messages are answered at once with the first move. So a job takes the same steps in each run, and
they can be counted. Work for other threads is done at once, because the count would vary with their turns.
"""

import asyncio
import contextlib
import math
import random
import tempfile
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from unittest import mock

import outcome
import trio

from arena.api.play import SERVICE, play_handler
from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens
from arena.contests.competition_service import CompetitionService
from arena.contests.scheduler import Scheduler
from arena.live.arena import Arena
from arena.live.matches.results import ArenaRecords
from arena.live.metrics import Metrics
from arena.live.players import Players
from arena.records.journal.deal_log import DealLog
from arena.records.journal.journal import Journal
from arena.records.journal.recovery import recover
from arena.records.signing import arena_key
from arena.referee.clock import LagMeter
from arena.referee.timers import ArenaTime
from arena.store import Store, open_store
from arena.store.data_folder import store_path
from bench import arena_server, competitions, load

Marks = Callable[[], object]
DECISION_S: Final = 25e-6
"""Approximate duration of a decision, in seconds."""
LOOK_S: Final = 1.0
"""Longest real time in seconds between two reads of the clock."""


class Played:
    """Counts decisions, and calls marks at the first counted one and at the last one."""

    def __init__(
        self, warm: int, counted: int, begin: Marks, end: Marks, *, of_matches: bool = False
    ) -> None:
        self.decisions = 0
        """All decisions so far."""
        self.of_matches = of_matches
        self.frames = 0
        """Counted decisions."""
        self._warm, self._counted = warm, counted
        self._begin, self._end = begin, end
        self.on_asked: Callable[[], None] = lambda: None
        """Called after each frame."""
        self.all_begun: Callable[[], bool] = lambda: True
        """Whether all matches have begun and all bots have answered; counting waits for it, as beginnings cost more."""
        self.began_at = 0
        self.ended_at = 0
        self.done = asyncio.Event()

    def asked(self, decisions: int) -> None:
        """Add the decisions of a frame."""
        self.decisions += decisions
        self.frames += self.began_at > 0
        self.on_asked()
        if not self.of_matches:
            self._reached(self.decisions)

    def ended(self, matches: int) -> None:
        """Note how many matches of a tournament have ended."""
        self._reached(matches)

    def _reached(self, number: int) -> None:
        if not self.began_at:
            if number >= self._warm and self.all_begun():
                self.began_at = number
                self._begin()
        elif not self.ended_at and number >= self.began_at + self._counted:
            self._end()
            self.ended_at = number
            self.done.set()

    @property
    def counted(self) -> int:
        """Decisions or matches between the marks."""
        return self.ended_at - self.began_at


class _Call:
    """A stream of a bot in this process: the part of `grpc.aio.ServicerContext` that play uses."""

    def __init__(self, hello: bytes, respond: load.Respond, played: Played, number: int) -> None:
        self._said = deque([hello])
        self._respond = respond
        self._played = played
        self._peer = f"ipv4:127.0.0.1:{40_000 + number}"
        self._reading: asyncio.Future[None] | None = None
        self.has_answered = False

    async def read(self) -> Any:
        # gRPC delivers a message in a later turn of the loop.
        await asyncio.sleep(0)
        while not self._said:
            self._reading = asyncio.get_running_loop().create_future()
            await self._reading
        return self._said.popleft()

    async def write(self, frame: bytes) -> None:
        await asyncio.sleep(0)
        answer, decisions = self._respond(frame)
        if decisions:
            self.has_answered = True
            self._played.asked(decisions)
            self._said.append(answer)
            if self._reading is not None and not self._reading.done():
                self._reading.set_result(None)

    def peer(self) -> str:
        return self._peer

    def invocation_metadata(self) -> tuple[()]:
        return ()

    def add_done_callback(self, callback: object) -> None:
        """Do nothing, as calls end with the process."""

    def set_trailing_metadata(self, metadata: object) -> None:
        """Do nothing, as the details have the status."""

    def set_code(self, code: object) -> None:
        raise RuntimeError(f"a stream was refused: {code}")

    def set_details(self, details: str) -> None:
        """Do nothing, as `abort` has raised."""


class DecisionClock(trio.abc.Clock):
    """A clock that advances with each decision, by its duration on an idle machine.

    So work that the arena does at intervals, such as syncing its journal, comes after the same decisions in each run.
    """

    def __init__(self, played: Played) -> None:
        self._played = played
        self._later: list[_Later] = []

    def start_clock(self) -> None:
        """Start the clock with the first decision."""

    def current_time(self) -> float:
        return self._played.decisions * DECISION_S

    def deadline_to_sleep_time(self, deadline: float) -> float:
        return 0.0 if deadline <= self.current_time() else LOOK_S

    def call_later(self, delay_s: float, call: Callable[[], None]) -> "_Later":
        """Schedule a call, as `asyncio.AbstractEventLoop.call_later` does, by this clock."""
        later = _Later(self.current_time() + delay_s, call)
        self._later.append(later)
        return later

    def call_due(self) -> None:
        """Make the calls that are due."""
        now_s = self.current_time()
        due = [later for later in self._later if later.due_s <= now_s]
        if due:
            self._later = [later for later in self._later if later.due_s > now_s]
            for later in due:
                later.call()


class _Later:
    """A scheduled call."""

    def __init__(self, due_s: float, call: Callable[[], None]) -> None:
        self.due_s = due_s
        self.call = call

    def cancel(self) -> None:
        self.due_s = math.inf


class _Details:
    """The name of a call: `grpc.HandlerCallDetails`."""

    method = f"/{SERVICE}/Play"
    invocation_metadata = ()


def play(job: arena_server.Job, played: Played, *, tournament: str = "") -> None:
    """Play a job until `played` has its count.

    With a plan, its bots play this `tournament`, each round at several tables, and `played` counts matches.
    """
    with contextlib.ExitStack() as stack:
        inline: Any = _inline
        stack.enter_context(mock.patch("trio._threads.start_thread_soon", inline))
        asyncio.run(_play(job, played, tournament))


def _inline(
    call: Callable[[], Any], deliver: Callable[[Any], object], _name: object = None
) -> None:
    """Do the work of a thread at once."""
    deliver(outcome.capture(call))


async def _play_tournament(
    arena: Arena, store: Store, data: Path, streams: int, played: Played
) -> None:
    await arena.sessions.arrived([BotId(load.bot_name(stream)) for stream in range(streams)])
    service = CompetitionService(store.competitions(), arena_key(data))
    async with trio.open_nursery() as nursery:
        scheduler = Scheduler(
            arena,
            store,
            service,
            Players(arena, data, data / "bots", nursery),
            on_progress=lambda _name, _game, progress: played.ended(progress.played),
        )
        await scheduler.play(competitions.NAME)
    raise RuntimeError("the tournament is too short to be counted")


async def _play(job: arena_server.Job, played: Played, tournament: str) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[Arena] = loop.create_future()
    ended: asyncio.Future[outcome.Outcome[Any]] = loop.create_future()
    stop = trio.CancelScope()
    clock = DecisionClock(played)
    played.on_asked = clock.call_due
    with contextlib.ExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cardarena-bench-")))
        replays, folder = data / "replays", data / "journal"
        replays.mkdir()
        if tournament:
            bots = map(load.bot_name, range(job.streams))
            competitions.begin(data, tournament, {}, remote=bots)
        store = stack.enter_context(open_store(store_path(data)))
        deal_log = stack.enter_context(DealLog(folder, public=data / "commitments"))
        recovery = recover(folder, replays, is_secret=lambda _: True)
        metrics = Metrics()
        journal = stack.enter_context(
            Journal(
                folder, matches=recovery.matches, on_write=metrics.wrote, on_sync=metrics.synced
            )
        )

        async def guest() -> None:
            arena = Arena(
                ArenaRecords(
                    journal, deal_log, replays, store.matches(), recovery, "bench", arena_key(data)
                ),
                Tokens(guests=True),
                time=ArenaTime(
                    trio.lowlevel.current_clock().current_time,
                    lag=LagMeter(clock.call_later, clock.current_time, clock.current_time),
                ),
                metrics=metrics,
                draw=random.Random(0).randbytes,  # the same hands in each run
            )
            with stop:
                async with trio.open_nursery() as nursery:
                    await nursery.start(arena.run)
                    ready.set_result(arena)
                    if tournament:
                        await _play_tournament(arena, store, data, job.streams, played)
                    else:
                        await arena_server.keep_playing(arena, job)

        trio.lowlevel.start_guest_run(
            guest,
            run_sync_soon_threadsafe=loop.call_soon_threadsafe,
            run_sync_soon_not_threadsafe=loop.call_soon,
            done_callback=ended.set_result,
            host_uses_signal_set_wakeup_fd=True,
            clock=clock,
        )
        arena = await ready
        wanted = 0 if tournament else len(job.tables())
        game = metrics.counts.game(job.game)
        handler = play_handler(arena, journal.flush, arena.now_s, metrics)
        method: Any = handler.service(_Details())
        respond = load.first()
        hellos = load.Job("", job.streams, job.game, job.matches)
        streams = [
            _Call(load.hello(hellos, number), respond, played, number)
            for number in range(job.streams)
        ]
        played.all_begun = lambda: (
            game.begun >= wanted and all(stream.has_answered for stream in streams)
        )
        calls = [asyncio.create_task(method.stream_stream(None, stream)) for stream in streams]
        try:
            await asyncio.wait(
                (asyncio.ensure_future(played.done.wait()), ended),
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            stop.cancel()
            (await ended).unwrap()
