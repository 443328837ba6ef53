"""The composition root: builds every part of an arena process, and takes them apart in order.

`serve` runs an arena for a program of the caller's, as `arena play` and tests do;
`arena.app.programs` has the others. `arena.app.open_folder` opens the files, and
`arena.app.grpc_servers` makes the servers.

To stop, trio's program is cancelled first, so that its `finally` blocks run; the gRPC servers stop
after that.
"""

import asyncio
import contextlib
import functools
import logging
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import grpc
import trio
from grpc_health.v1 import health_pb2

from arena.api.health import Health
from arena.api.transport import connection_monitor
from arena.api.work import WorkCalls
from arena.app.grpc_servers import arena_server, play_server, servicers_of
from arena.app.open_folder import OpenFolder, open_folder
from arena.bots.blobs import Blobs
from arena.bots.tokens import Tokens
from arena.contests.competition_service import CompetitionService
from arena.contests.human_opponents import HumanOpponents
from arena.contests.waiting import waiting_by_class
from arena.durable_files import Unwritten
from arena.heap import keep_loaded_objects, share_one_heap
from arena.live import host
from arena.live.arena import Arena
from arena.live.event_buffers import EventBuffers
from arena.live.listen import UNIX, CannotServe, is_local, listen, require_this_machine
from arena.live.match_admission import Admission
from arena.live.matches.recording import MatchRecorder
from arena.live.metrics import Metrics
from arena.live.play_socket import PlaySockets
from arena.live.self_probe import SelfProbe
from arena.live.tls import Certificate, TlsFiles
from arena.referee.clock import LagMeter
from arena.referee.timers import ArenaTime
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.spawner.order import Level
from arena.store import Store, data_folder

if TYPE_CHECKING:
    import outcome

    from arena.api.admission.connections import ConnectionMonitor

T = TypeVar("T")

FOLDER_POLL_S: Final = 1.0
"""Seconds between two checks that the data folder still exists."""
STOP_S: Final = 1.0
"""Seconds for calls that are open when the servers stop."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The settings of an arena process."""

    data: Path
    host: str = "127.0.0.1"
    """A host, an IP address or `unix:PATH`."""
    port: int = 0
    """0 takes any free port."""
    drain_s: float = 120.0
    """The longest time in seconds for matches in play after SIGTERM."""
    tls: TlsFiles | None = None
    """None is plain text."""
    insecure: bool = False
    """Whether plain text may leave this machine."""
    metrics_port: int | None = None
    """The port of the metrics; 0 takes any free port, None serves no metrics."""
    metrics_host: str = "127.0.0.1"
    play_socket: bool = False
    """Whether sandboxed bots can connect, by a socket file in the data folder."""
    sandbox: str = ""
    """The sandbox level of launched bots, for `arena status`; empty if no bots are launched."""
    limits_load: bool = False
    """Whether new matches are refused, or wait, while the arena is late or its disk is full."""
    spectator_delay_s: float = 0.0
    """The delay of spectators' events, in seconds."""
    open_hands: bool = False
    """Whether spectators of practice matches receive all hands; only if the arena listens on this machine only."""
    webhook_hosts: frozenset[str] = frozenset()
    """Hosts to which webhooks may be sent by http and at private addresses."""
    is_worker: bool = False
    """Whether it plays for another arena: then it serves only bots, and ignores signals."""

    @property
    def is_local(self) -> bool:
        return is_local(self.host)

    def sandboxed(self, sandbox: Sandbox | None) -> "ServerSettings":
        """Return these settings for an arena that launches its bots in a sandbox, or in none."""
        level = Level.S0 if sandbox is None else sandbox.level
        return replace(self, play_socket=level is not Level.S0, sandbox=level)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of an arena that programs in trio use."""

    arena: Arena
    store: Store
    service: CompetitionService
    work: WorkCalls
    people: HumanOpponents
    standings: Callable[[str], str]
    """Computes the latest standings of a competition, as JSON; blocks."""


def serve(
    settings: ServerSettings, tokens: Tokens, main: Callable[[Arena], Awaitable[T]]
) -> T | None:
    """Run an arena with its server while `main` runs in trio, and return its value.

    SIGINT cancels `main`. SIGTERM drains first, and then cancels it: then the value is None.

    Raises:
      CannotServe: if the port is taken, the folder cannot be written, the files of TLS are wrong,
        plain text would leave this machine, or open hands would.
      StoreError: if the store cannot be opened.
      Unwritten: if the journal could not be written, as on a full disk.
      KeyboardInterrupt: after SIGINT.
    """
    return run(settings, tokens, lambda parts: main(parts.arena))


def run(
    settings: ServerSettings,
    tokens: Tokens,
    program: Callable[[Parts], Awaitable[T]],
    recorder: MatchRecorder | None = None,
) -> T | None:
    """Do as `serve` does, for a program that uses more parts.

    Args:
      recorder: Receives the records of matches, in place of the journal.
    """
    share_one_heap()  # before gRPC has threads
    return asyncio.run(_App(settings, tokens, program, recorder).run())


class _App(Generic[T]):
    """One arena process, from its first file to its last."""

    def __init__(
        self,
        settings: ServerSettings,
        tokens: Tokens,
        program: Callable[[Parts], Awaitable[T]],
        recorder: MatchRecorder | None = None,
    ) -> None:
        self._settings = settings
        self._tokens = tokens
        self._program = program
        self._recorder = recorder
        self._metrics = Metrics()
        self._interrupted = False
        self._broken = ""
        """Why nothing can be kept any more; empty while it can."""
        self._arena: Arena | None = None
        self._guest: host.TrioGuest[T] | None = None
        self._listens: trio.Event
        self._work: WorkCalls
        self._people: HumanOpponents

    async def run(self) -> T | None:
        """Build everything, run the program, and take everything apart."""
        settings = self._settings
        if settings.open_hands:
            require_this_machine(settings.host)
        asyncio.get_running_loop().set_exception_handler(host.report_error)
        async with contextlib.AsyncExitStack() as stack:
            folder = await open_folder(
                settings.data, stack, metrics=self._metrics, on_broken=self._on_broken
            )
            result = await self._serve(folder)
        if self._broken:
            raise Unwritten(self._broken)
        if self._interrupted:
            raise KeyboardInterrupt
        return result.unwrap()

    # The two loops.

    async def _serve(self, folder: OpenFolder) -> "outcome.Outcome[T | None]":
        """Run trio's program with the servers; return its outcome."""
        loop = asyncio.get_running_loop()
        restored: asyncio.Future[Arena] = loop.create_future()
        guest = self._guest = host.TrioGuest(lambda: self._in_trio(folder, restored))
        guest.start()
        await asyncio.wait((restored, guest.ended), return_when=asyncio.FIRST_COMPLETED)
        if not restored.done():
            with contextlib.suppress(Exception):
                guest.ended.result().unwrap()
            raise CannotServe("the arena could not start")
        arena, health = restored.result(), Health()
        assert arena.lag is not None
        probe = SelfProbe(arena.lag, arena.now_s)
        async with contextlib.AsyncExitStack() as stack:
            terminate = functools.partial(guest.soon, functools.partial(self._drain, arena, health))
            stack.enter_context(host.stop_signals(self._interrupt, terminate))
            await health.set("", health_pb2.HealthCheckResponse.SERVING)
            stack.callback(_log.info, "the arena has stopped")
            stack.push_async_callback(host.other_tasks_end, STOP_S)
            stack.callback(folder.standings.close)
            try:
                await self._listen(stack, arena, folder, probe, health)
                probe.start()
                self._poll_folder(folder.monitor)
            except BaseException:  # after any failure, the program waits for the servers
                guest.cancel()
                raise
            finally:
                await guest.ended
                await probe.stop()
        return guest.ended.result()

    async def _in_trio(self, folder: OpenFolder, restored: "asyncio.Future[Arena]") -> T:
        """Run trio's side: the arena's core, and the program once the server listens."""
        arena = self._arena = self._build_arena(folder)
        blobs = Blobs(self._settings.data)
        competitions = folder.store.competitions()
        self._work = WorkCalls(
            self._tokens,
            arena.limits.traffic,
            blobs,
            lambda: waiting_by_class(competitions, datetime.now(UTC)),
        )
        self._people = HumanOpponents(arena, folder.store, lambda: datetime.now(UTC))
        self._listens = trio.Event()
        try:
            async with trio.open_nursery() as nursery:
                await nursery.start(arena.run)
                restored.set_result(arena)
                await self._listens.wait()
                parts = Parts(
                    arena,
                    folder.store,
                    folder.service,
                    self._work,
                    self._people,
                    folder.standings.latest,
                )
                value = await self._program(parts)
                arena.stop_taking()
                nursery.cancel_scope.cancel()
        finally:
            self._require_folder(folder.monitor)  # the folder may be the reason of a failure
            arena.close_streams()
        return value

    def _build_arena(self, folder: OpenFolder) -> Arena:
        """Build the core of the arena. Called in trio."""
        settings = self._settings
        now_s = trio.lowlevel.current_clock().current_time
        lag = LagMeter(asyncio.get_running_loop().call_later, now_s, time.thread_time)
        disk = functools.partial(shutil.disk_usage, settings.data)
        admission = Admission(p99_ms=lag.p99_ms, disk=disk, now_s=now_s)
        return Arena(
            folder.records,
            self._tokens,
            time=ArenaTime(now_s, lag=lag, owner_of=self._tokens.owner_of),
            recorder=self._recorder,
            spectators=EventBuffers(settings.spectator_delay_s, open_hands=settings.open_hands),
            admission=admission if settings.limits_load else None,
            metrics=self._metrics,
        )

    # The servers.

    async def _listen(
        self,
        stack: contextlib.AsyncExitStack,
        arena: Arena,
        folder: OpenFolder,
        probe: SelfProbe,
        health: Health,
    ) -> None:
        """Start the servers, and let the program begin."""
        settings = self._settings
        servicers: Sequence[object] = ()
        if not settings.is_worker:
            servicers = servicers_of(
                arena, folder, self._work, self._people, settings.sandbox, settings.webhook_hosts
            )
        server = arena_server(arena, folder, self._metrics, probe, health, servicers)
        stack.push_async_callback(server.stop, STOP_S)
        certificate = None if settings.tls is None else Certificate(settings.tls)
        credentials = None if certificate is None else certificate.credentials()
        address = listen(
            server, settings.host, settings.port, credentials, insecure=settings.insecure
        )
        if not settings.is_worker:
            self._listen_for_pages(server)
        play_sockets = PlaySockets(settings.data) if settings.play_socket else None
        play_socket_server = None
        if play_sockets is not None:
            play_socket_server = play_server(arena, folder, self._metrics)
            stack.callback(play_sockets.close)
            stack.push_async_callback(play_socket_server.stop, STOP_S)
            play_sockets.listen(play_socket_server)
            probe.relay(play_sockets)
        connections = connection_monitor(address, arena.limits.traffic)
        metrics_url = await self._serve_metrics(stack, arena, folder, connections, certificate)
        keep_loaded_objects()
        await server.start()
        if play_socket_server is not None:
            await play_socket_server.start()
        if connections is not None:
            connections.start()
            stack.callback(connections.stop)
        arena.listens(address, play_sockets)
        self._write_notice(address if settings.tls is None else f"https://{address}", metrics_url)
        assert self._guest is not None
        self._guest.soon(self._listens.set)

    def _listen_for_pages(self, server: grpc.aio.Server) -> None:
        """Let `arena web` connect by a socket file of the folder; without one it shows no live matches."""
        data = self._settings.data
        path = data_folder.watch_socket(data)
        try:
            (data / data_folder.LIVE_FOLDER).mkdir(mode=0o700, exist_ok=True)
            listen(server, f"{UNIX}{path}", 0, None, insecure=False)
        except (CannotServe, OSError) as error:
            _log.warning("pages cannot follow what is played", extra={"why": str(error)})

    async def _serve_metrics(
        self,
        stack: contextlib.AsyncExitStack,
        arena: Arena,
        folder: OpenFolder,
        connections: "ConnectionMonitor | None",
        certificate: Certificate | None,
    ) -> str:
        """Serve metrics if they are requested; return the address of the page."""
        settings = self._settings
        if settings.metrics_port is None:
            return ""
        # The module is loaded only here, because most commands that run an arena serve no metrics.
        from arena.api.metrics_port import MetricsPort
        from arena.api.metrics_source import MetricsSource
        from arena.api.store_figures import StoreReader

        source = MetricsSource(
            arena,
            folder.records.journal,
            folder.records.deal_log,
            settings.data,
            arena.admission,
            arena.lag,
            connections,
            StoreReader(folder.store),
            certificate,
        )
        port = MetricsPort(source)
        stack.callback(port.close)
        return await port.start(settings.metrics_host, settings.metrics_port)

    def _write_notice(self, address: str, metrics: str) -> None:
        notice = data_folder.RunningNotice(
            os.getpid(),
            address,
            metrics,
            time.time(),
            data_folder.arena_version(),
            self._settings.sandbox,
        )
        try:
            data_folder.write_notice(self._settings.data, notice)
        except OSError:
            _log.exception("the notice of the running arena cannot be written")
        _log.info("the arena listens", extra={"address": address, "metrics": metrics})

    # Stopping.

    def _interrupt(self) -> None:
        """Stop at once, after SIGINT. Only its arena ends a worker, which it drains first."""
        if not self._settings.is_worker:
            self._interrupted = True
            self._stop()

    def _drain(self, arena: Arena, health: Health) -> None:
        """Finish the matches in play, then stop; called in trio after SIGTERM. It does nothing in a worker, like `_interrupt`."""
        if self._settings.is_worker:
            return
        if not arena.draining:
            longest_s = self._settings.drain_s
            in_play = len(arena.matches.referee.runners)
            _log.info("the arena drains", extra={"matches": in_play, "longest_s": longest_s})
            arena.drain(longest_s)
            trio.lowlevel.spawn_system_task(self._end_when_idle, arena)
        # After health reports that the arena does not serve, it must take no new match.
        self._not_serving = asyncio.get_running_loop().create_task(health.enter_graceful_shutdown())

    async def _end_when_idle(self, arena: Arena) -> None:
        with trio.move_on_after(self._settings.drain_s):
            await arena.idle()
        assert self._guest is not None
        self._guest.cancel()

    def _poll_folder(self, monitor: data_folder.FolderMonitor) -> None:
        """Check periodically that the data folder still exists."""
        assert self._guest is not None
        if not self._guest.ended.done() and self._require_folder(monitor):
            loop = asyncio.get_running_loop()
            loop.call_later(FOLDER_POLL_S, self._poll_folder, monitor)

    def _require_folder(self, monitor: data_folder.FolderMonitor) -> bool:
        """Stop the arena if its folder is missing, because no further record would be kept."""
        data = self._settings.data
        there = monitor.is_whole()
        if not there and not self._broken:
            self._on_broken(
                f"the folder {data} was removed, in whole or in part, while the arena ran: what "
                "was in it is lost, and nothing more could be kept"
            )
        return there

    def _on_broken(self, why: str) -> None:
        """Stop the arena, because no further record can be written."""
        self._broken = why
        self._stop()

    def _stop(self) -> None:
        """Cancel trio's program, and accept no bots and matches while it ends."""
        if self._arena is not None:
            self._arena.shut()
        if self._guest is not None:
            self._guest.cancel()
