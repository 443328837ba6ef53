"""The composition root: builds every part of an arena process, and takes them apart in order.

Nothing else builds these parts. `serve` runs an arena for a program of the caller's, as
`arena play` and tests do. `serve_bots` is `arena serve`, `play_competitions` plays competitions
without a running arena, and `play_as_worker` is a worker of another arena.

To stop, trio's program is cancelled first, so that its `finally` blocks run; the gRPC servers stop
after that.
"""

import asyncio
import contextlib
import functools
import gc
import logging
import os
import shutil
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Generic, TypeVar

import grpc
import trio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from arena.heap import share_one_heap
from arena.referee import Unwritten
from arena.referee.clock import LagMeter
from arena.replay.journal.deal_log import DealLog
from arena.replay.journal.journal import Journal
from arena.replay.journal.recovery import Recovery, recover
from arena.replay.signing import Signer, arena_key
from arena.replay.write import remove_partials
from arena.sandbox import Level, Sandbox
from arena.server import data_folder, host
from arena.server.admission.calls import CallInterceptor
from arena.server.admission.key_reload import KeyReloader
from arena.server.admission.match_admission import Admission
from arena.server.admission.tokens import Tokens
from arena.server.arena import Arena
from arena.server.competition_service import CompetitionService
from arena.server.competitions.arena_player import MAX_MATCHES
from arena.server.competitions.drawn_rounds import OnProgress
from arena.server.competitions.players import Players
from arena.server.competitions.scheduler import Scheduler
from arena.server.listen import (
    UNIX,
    CannotServe,
    TlsFiles,
    is_local,
    listen,
    require_this_machine,
)
from arena.server.matches.recording import MatchRecorder
from arena.server.metrics import Metrics
from arena.server.play_socket import PlaySocket
from arena.server.self_probe import SelfProbe
from arena.server.services.bots import BotCalls
from arena.server.services.call_metrics import CallMetrics
from arena.server.services.comparisons import ComparisonCalls
from arena.server.services.competitions import CompetitionCalls
from arena.server.services.health import Health
from arena.server.services.lobby import LobbyCalls
from arena.server.services.owners import OwnerCalls
from arena.server.services.play import SERVICE, play_handler
from arena.server.services.replays import ReplayCalls
from arena.server.services.spectating import SpectateCalls
from arena.server.services.standings import StandingsCalls
from arena.server.standings_process import StandingsProcess
from arena.server.submissions.built_runtimes import BuiltRuntimes
from arena.server.submissions.intake import SubmissionIntake
from arena.server.submissions.qualifier import Qualifier
from arena.server.submissions.remote_versions import RemoteVersions
from arena.server.transport import Service, connection_monitor, new_server, offer
from arena.server.workers.joined import JoinedWorkers
from arena.server.workers.local import Command, LocalWorkers
from arena.server.workers.player import AssignmentPlayer, ReportRecorder
from arena.server.workers.pool import WorkerPool, player_of
from arena.server.workers.spot_checks import SpotChecker
from arena.server.workers.verification import VerifyingProcesses
from arena.store import Blobs, Store, kept_at, open_store
from cardarena.v1 import (
    bots_pb2,
    bots_pb2_grpc,
    comparisons_pb2,
    comparisons_pb2_grpc,
    competitions_pb2,
    competitions_pb2_grpc,
    lobby_pb2,
    lobby_pb2_grpc,
    owners_pb2,
    owners_pb2_grpc,
    replay_pb2,
    replay_pb2_grpc,
    standings_pb2,
    standings_pb2_grpc,
    watch_pb2,
    watch_pb2_grpc,
    work_pb2,
    work_pb2_grpc,
)

if TYPE_CHECKING:
    import outcome

    from arena.server.admission.connections import ConnectionMonitor

T = TypeVar("T")

FOLDER_POLL_S: Final = 1.0
"""Between two checks that the data folder is still there."""
STOP_S: Final = 1.0
"""Time for calls that are still open when the servers stop."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How an arena process is run."""

    data: Path
    """The folder of everything that it keeps."""
    host: str = "127.0.0.1"
    """A host, an IP address or `unix:PATH`."""
    port: int = 0
    """0 takes any free port."""
    drain_s: float = 120.0
    """Longest time for matches in play after SIGTERM."""
    tls: TlsFiles | None = None
    """None is plain text."""
    insecure: bool = False
    """Whether plain text may leave this machine."""
    metrics_port: int | None = None
    """Where metrics are served; 0 takes any free port, None serves none."""
    metrics_host: str = "127.0.0.1"
    play_socket: bool = False
    """Whether sandboxed bots can connect, by a socket file in the data folder."""
    sandbox: str = ""
    """The sandbox level of launched bots, for `arena status`; empty if no bots are launched."""
    limits_load: bool = False
    """Whether new matches are refused, or wait, while the arena is late or its disk is full."""
    spectator_delay_s: float = 0.0
    """Delay of what spectators receive, in seconds."""
    open_hands: bool = False
    """Whether spectators of practice matches receive all hands; only if the arena listens to this
    machine alone."""
    is_worker: bool = False
    """Whether it plays for another arena: then it serves bots alone, and takes no signals."""


def sandboxed(data: Path, sandbox: Sandbox | None, *, limits_load: bool = False) -> ServerSettings:
    """The settings of an arena that launches its bots in a sandbox, or in none."""
    level = Level.S0 if sandbox is None else sandbox.level
    return ServerSettings(
        data, play_socket=level is not Level.S0, sandbox=level, limits_load=limits_load
    )


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of an arena that programs in trio work with."""

    arena: Arena
    store: Store
    service: CompetitionService
    joined: JoinedWorkers
    """The workers on other machines."""


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
    return _run(settings, tokens, lambda parts: main(parts.arena))


def serve_bots(
    settings: ServerSettings,
    command: Command,
    *,
    workers: int = 0,
    guests: bool | None = None,
    sandbox: Sandbox | None = None,
    listening: Callable[[str, Tokens], None] = lambda *_: None,
) -> None:
    """Run an arena that bots dial in to, and that plays its competitions, until it is stopped.

    Args:
      settings: How it is run.
      command: Starts a worker.
      workers: So many play deal-sets of launched bots; with 0 the arena itself does.
      guests: Whether bots without a key are let in; None lets them in on this machine alone.
      sandbox: Sandboxes launched bots; None sandboxes no bot.
      listening: Called with the arena's address and its tokens once it listens.

    Raises:
      As `serve`.
    """

    async def main(parts: Parts) -> None:
        arena, store, data = parts.arena, parts.store, settings.data
        listening(arena.address, tokens)
        changed, registry = store.change_detector, store.registry()
        reloader = KeyReloader(keys, tokens, arena.sessions.hang_up, changed())
        versions = RemoteVersions(registry, _utc_now)
        arena.tell_versions(versions.note)
        qualifier = Qualifier(data, registry, _utc_now, changes=changed())
        async with trio.open_nursery() as nursery:
            for run in (reloader.run, versions.run, qualifier.run):
                nursery.start_soon(run)
            with contextlib.closing(VerifyingProcesses()) as verify:
                spot_checks = store.spot_checks()
                pool = WorkerPool(verify, SpotChecker(spot_checks.add))
                local = LocalWorkers(pool, data_folder.worker_folders(data), command, workers)
                await nursery.start(local.run)
                arena.add_workers(pool)
                nursery.start_soon(parts.joined.run, pool)
                scheduler = Scheduler(
                    arena,
                    store,
                    parts.service,
                    data,
                    nursery,
                    sandbox=sandbox,
                    player_of=functools.partial(player_of, pool),
                )
                async with _while_bots_can_start(sandbox):
                    await scheduler.run()

    path = data_folder.store_path(settings.data)
    open_store(path).close()  # made, or brought up to date, with patience for other programs
    # Keys are looked up on the loop, which must not wait for locks of other programs.
    with open_store(path, busy_timeout_s=0) as impatient:
        keys = impatient.keys()
        tokens = Tokens(
            guests=is_local(settings.host) if guests is None else guests, keys=keys.all()
        )
        _run(settings, tokens, main)


def play_competitions(
    names: Sequence[str],
    data: Path,
    *,
    at_a_time: int = 1,
    max_matches: int = MAX_MATCHES,
    limits_load: bool = True,
    sandbox: Sandbox | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> None:
    """Play competitions of a folder until each is finished or paused.

    An arena is started in the folder, and the competitions' bots are launched into it.

    Args:
      names: The competitions, in the order in which they begin.
      data: The folder.
      at_a_time: Competitions in play at a time.
      max_matches: Matches of a game at a time.
      limits_load: Whether fewer matches are played while the arena is late or its disk full.
      sandbox: Sandboxes the launched bots; None sandboxes no bot.
      on_progress: Called with how far games have come.

    Raises:
      CannotServe: if an arena runs there already.
      KeyboardInterrupt: after Ctrl-C or SIGTERM; called again, it continues where it was.
      BadCommand, BotsChanged, CannotPlay, DrawDiffers, Incomplete, NoShow, StoreError: why one
        cannot continue.
    """

    async def main(parts: Parts) -> bool:
        async with trio.open_nursery() as launched:
            scheduler = Scheduler(
                parts.arena,
                parts.store,
                parts.service,
                data,
                launched,
                sandbox=sandbox,
                max_matches=max_matches,
                on_progress=on_progress,
            )
            async with _while_bots_can_start(sandbox):
                await scheduler.play_each(names, at_a_time)
            await scheduler.players.send_home()
            launched.cancel_scope.cancel()
        return True

    if _run(sandboxed(data, sandbox, limits_load=limits_load), Tokens(), main) is None:
        raise KeyboardInterrupt  # it was drained before everything was played


def play_as_worker(
    settings: ServerSettings,
    asks: int,
    answers: int,
    *,
    cache: Path,
    bots: Path,
    sandbox: Sandbox | None = None,
    speed_class: int = 0,
) -> None:
    """Play deal-sets for another arena until it stops asking.

    Args:
      settings: How the worker's own arena is run.
      asks: The descriptor of the pipe from the other arena.
      answers: That of the pipe to it.
      cache: Has the archives of uploaded versions, their wheels and runtimes.
      bots: Gets a folder and a log for every instance of a bot.
      sandbox: Sandboxes launched bots; None sandboxes no bot.
      speed_class: That of this machine.

    Raises:
      As `serve`.
    """
    recorder = ReportRecorder()

    async def main(parts: Parts) -> None:
        reads, writes = map(trio.lowlevel.FdStream, (asks, answers))
        async with reads, writes, trio.open_nursery() as nursery:
            players = Players(parts.arena, cache, bots, nursery, sandbox=sandbox)
            ready = work_pb2.WorkerReady(
                pid=os.getpid(),
                engine=data_folder.arena_version(),
                sandbox=players.level,
                runtimes=[each.sha256 for each in BuiltRuntimes(cache).all() if not each.lacks],
                speed_class=speed_class,
            )
            player = AssignmentPlayer(parts.arena, recorder, players, ready)
            async with _while_bots_can_start(sandbox):
                await player.run(reads, writes)
            if player.is_idle:
                await players.send_home()
            nursery.cancel_scope.cancel()

    _run(settings, Tokens(guests=False), main, recorder)


@contextlib.asynccontextmanager
async def _while_bots_can_start(sandbox: Sandbox | None) -> AsyncGenerator[None]:
    """Cancel the body when the spawner ends: otherwise every deal-set would fail at once. Who started the program starts it again.

    Raises:
      CannotServe: if the spawner has ended.
    """
    has_ended = False

    async def watch(sandbox: Sandbox, scope: trio.CancelScope) -> None:
        nonlocal has_ended
        await sandbox.ended()
        has_ended = True
        scope.cancel()

    async with trio.open_nursery() as nursery:
        if sandbox is not None:
            nursery.start_soon(watch, sandbox, nursery.cancel_scope)
        yield
        nursery.cancel_scope.cancel()
    if has_ended:
        _log.error("the spawner of bots has ended")
        raise CannotServe(
            "the process that starts sandboxed bots has ended, and no bot could be started any more; "
            "start the program again, and everything goes on"
        )


def _run(
    settings: ServerSettings,
    tokens: Tokens,
    program: Callable[[Parts], Awaitable[T]],
    recorder: MatchRecorder | None = None,
) -> T | None:
    share_one_heap()  # before gRPC has threads
    return asyncio.run(_App(settings, tokens, program, recorder).run())


def _utc_now() -> datetime:
    return datetime.now(UTC)


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
        self._replays = settings.data / "replays"
        self._interrupted = False
        self._broken = ""
        """Why nothing can be kept any more; empty while it can."""
        self._arena: Arena | None = None
        self._guest: host.TrioGuest[T] | None = None
        self._listens: trio.Event
        self._joined: JoinedWorkers

    async def run(self) -> T | None:
        """Build everything, run the program, and take everything apart."""
        settings = self._settings
        if settings.open_hands:
            require_this_machine(settings.host)
        asyncio.get_running_loop().set_exception_handler(host.report_error)
        async with contextlib.AsyncExitStack() as stack:
            self._open_folder(stack)
            result = await self._serve(await self._open_files(stack))
        if self._broken:
            raise Unwritten(self._broken)
        if self._interrupted:
            raise KeyboardInterrupt
        return result.unwrap()

    # The data folder.

    def _open_folder(self, stack: contextlib.AsyncExitStack) -> None:
        """Make the folder, keep other arenas out of it, and remove what earlier ones left."""
        data = self._settings.data
        try:
            for folder in (self._replays, data):  # the inner one tells what is no folder
                folder.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context(os.fdopen(data_folder.open_lock(data), "r+"))
        except OSError as error:
            raise CannotServe(f"cannot write in {data}: {error.strerror}") from error
        _hold(lock, data)
        data_folder.write_format(data)
        stack.callback(data_folder.remove_notice, data)
        data_folder.remove_notice(data)
        remove_partials(self._replays)
        remove_partials(data / "journal")

    async def _open_files(self, stack: contextlib.AsyncExitStack) -> "_Files":
        """Open the store, the journal and the deal log, and read what earlier processes left."""
        data = self._settings.data
        try:
            server_id, signer = data_folder.arena_id(data), arena_key(data)
        except (OSError, ValueError) as error:
            raise CannotServe(f"the arena has no id or no key: {error}") from error
        folder, store_file = data / "journal", data_folder.store_path(data)
        store = stack.enter_context(open_store(store_file))
        deal_log = stack.enter_context(
            DealLog(folder, public=data / "commitments", on_broken=self._on_broken)
        )
        intake = SubmissionIntake(data, store.registry(), store.keys(), _utc_now)
        await asyncio.to_thread(intake.clear)
        # What an earlier process left is read before this one writes anything.
        recovery = await asyncio.to_thread(
            recover, folder, self._replays, is_secret=lambda _: True, signer=signer
        )
        for damage in (*deal_log.damage, *recovery.damage):
            _log.warning("the journal is damaged", extra={"why": damage})
        journal = stack.enter_context(
            Journal(
                folder, matches=recovery.matches, on_broken=self._on_broken, metrics=self._metrics
            )
        )
        monitor = data_folder.FolderMonitor(data, kept_at(store_file), self._replays)
        stack.enter_context(contextlib.closing(monitor))
        standings = StandingsProcess(store_file)
        service = CompetitionService(store.competitions(), signer, compute=standings.unsigned)
        return _Files(
            server_id,
            signer,
            store,
            deal_log,
            journal,
            recovery,
            monitor,
            intake,
            standings,
            service,
        )

    # The two loops.

    async def _serve(self, files: "_Files") -> "outcome.Outcome[T | None]":
        """Run trio's program with the servers; returns its outcome."""
        loop = asyncio.get_running_loop()
        restored: asyncio.Future[Arena] = loop.create_future()
        guest = self._guest = host.TrioGuest(lambda: self._in_trio(files, restored))
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
            stack.callback(files.standings.close)
            try:
                await self._listen(stack, arena, files, probe, health)
                probe.start()
                self._poll_folder(files.monitor)
            except CannotServe:
                guest.cancel()
                raise
            finally:
                await guest.ended
                await probe.stop()
        return guest.ended.result()

    async def _in_trio(self, files: "_Files", restored: "asyncio.Future[Arena]") -> T:
        """Trio's side: the arena's core, and the program once the server listens."""
        arena = self._arena = self._build_arena(files)
        blobs = Blobs(self._settings.data)
        self._joined = JoinedWorkers(self._tokens, arena.limits.traffic, blobs)
        self._listens = trio.Event()
        try:
            async with trio.open_nursery() as nursery:
                await nursery.start(arena.run)
                restored.set_result(arena)
                await self._listens.wait()
                parts = Parts(arena, files.store, files.service, self._joined)
                value = await self._program(parts)
                arena.stop_taking()
                nursery.cancel_scope.cancel()
        finally:
            self._require_folder(files.monitor)  # also if that is why something failed
            arena.close_streams()
        return value

    def _build_arena(self, files: "_Files") -> Arena:
        """The core of the arena. Called in trio."""
        settings = self._settings
        now_s = trio.lowlevel.current_clock().current_time
        lag = LagMeter(asyncio.get_running_loop().call_later, now_s)
        disk = functools.partial(shutil.disk_usage, settings.data)
        admission = Admission(p99_ms=lag.p99_ms, disk=disk, now_s=now_s)
        return Arena(
            files.journal,
            files.deal_log,
            self._replays,
            self._tokens,
            results=files.store.matches(),
            recovery=files.recovery,
            server_id=files.server_id,
            signer=files.signer,
            recorder=self._recorder,
            lag=lag,
            admission=admission if settings.limits_load else None,
            metrics=self._metrics,
            spectator_delay_s=settings.spectator_delay_s,
            open_hands=settings.open_hands,
        )

    # The servers.

    async def _listen(
        self,
        stack: contextlib.AsyncExitStack,
        arena: Arena,
        files: "_Files",
        probe: SelfProbe,
        health: Health,
    ) -> None:
        """Start the servers, and let the program begin."""
        settings = self._settings
        server = self._arena_server(arena, files, probe, health)
        stack.push_async_callback(server.stop, STOP_S)
        address = listen(
            server, settings.host, settings.port, settings.tls, insecure=settings.insecure
        )
        if not settings.is_worker:
            self._listen_for_pages(server)
        play_socket = PlaySocket(settings.data) if settings.play_socket else None
        play_server = None
        if play_socket is not None:
            play_server = self._play_server(arena, files)
            stack.callback(play_socket.close)
            stack.push_async_callback(play_server.stop, STOP_S)
            play_socket.listen(play_server)
        connections = connection_monitor(address, arena.limits.traffic)
        metrics_url = await self._serve_metrics(stack, arena, files, connections)
        # What is loaded by now stays: the collector need not look at it again.
        gc.collect()
        gc.freeze()
        await server.start()
        if play_server is not None:
            await play_server.start()
        if connections is not None:
            connections.start()
            stack.callback(connections.stop)
        arena.listens(address, None if play_socket is None else play_socket.path)
        self._write_notice(address if settings.tls is None else f"https://{address}", metrics_url)
        assert self._guest is not None
        self._guest.soon(self._listens.set)

    def _listen_for_pages(self, server: grpc.aio.Server) -> None:
        """Let `arena web` connect by a socket file of the folder; without one it shows no live matches."""
        path = data_folder.watch_socket(self._settings.data)
        try:
            listen(server, f"{UNIX}{path}", 0, None, insecure=False)
        except (CannotServe, OSError) as error:
            _log.warning("pages cannot follow what is played", extra={"why": str(error)})

    def _interceptors(
        self, arena: Arena, own_call: str = ""
    ) -> tuple[CallMetrics, CallInterceptor]:
        caused = arena.lag.caused if arena.lag is not None else None
        return (
            CallMetrics(self._metrics),
            CallInterceptor(
                self._tokens, arena.limits, own_call=own_call, now_s=arena.now_s, caused=caused
            ),
        )

    def _play_server(self, arena: Arena, files: "_Files") -> grpc.aio.Server:
        """The server of sandboxed bots: they can play, and nothing else."""
        server = new_server(self._interceptors(arena))
        flush = files.journal.flush
        play = play_handler(arena, flush, arena.now_s, self._metrics, sandboxed=True)
        server.add_generic_rpc_handlers((play,))
        return server

    def _arena_server(
        self, arena: Arena, files: "_Files", probe: SelfProbe, health: Health
    ) -> grpc.aio.Server:
        """The server of everybody else."""
        server = new_server(self._interceptors(arena, probe.call))
        probe.listen(server)
        play = play_handler(arena, files.journal.flush, arena.now_s, self._metrics)
        server.add_generic_rpc_handlers((play,))
        services = [Service.of(health_pb2, health_pb2_grpc, "Health", health)]
        if not self._settings.is_worker:
            services += self._services(arena, files)
        offer(server, services, (SERVICE,))
        return server

    def _services(self, arena: Arena, files: "_Files") -> list[Service]:
        """The services that people and programs call besides play."""
        matches, tokens = arena.matches, arena.tokens
        spectating = SpectateCalls(
            matches.spectators.buffers, lambda: matches.in_play, files.journal.flush
        )
        standings = StandingsCalls(files.service, files.standings)
        competitions = CompetitionCalls(files.store, files.service, tokens)
        comparisons = ComparisonCalls(files.store, tokens, _utc_now)
        bots = BotCalls(files.intake, tokens, sandbox=self._settings.sandbox)
        owners = OwnerCalls(files.intake, tokens)
        replays = ReplayCalls(arena.replays, matches.results)
        lobby = LobbyCalls(matches, arena.sessions, tokens)
        return [
            Service.of(lobby_pb2, lobby_pb2_grpc, "LobbyService", lobby),
            Service.of(replay_pb2, replay_pb2_grpc, "ReplayService", replays),
            Service.of(competitions_pb2, competitions_pb2_grpc, "CompetitionService", competitions),
            Service.of(standings_pb2, standings_pb2_grpc, "StandingsService", standings),
            Service.of(comparisons_pb2, comparisons_pb2_grpc, "ComparisonService", comparisons),
            Service.of(owners_pb2, owners_pb2_grpc, "OwnerService", owners),
            Service.of(bots_pb2, bots_pb2_grpc, "BotService", bots),
            Service.of(watch_pb2, watch_pb2_grpc, "WatchService", spectating),
            Service.of(work_pb2, work_pb2_grpc, "WorkService", self._joined),
        ]

    async def _serve_metrics(
        self,
        stack: contextlib.AsyncExitStack,
        arena: Arena,
        files: "_Files",
        connections: "ConnectionMonitor | None",
    ) -> str:
        """Serve metrics if that is wanted; returns the address of the page."""
        settings = self._settings
        if settings.metrics_port is None:
            return ""
        # Loaded only here: most commands that run an arena serve no metrics.
        from arena.server.services.metrics_port import MetricsPort
        from arena.server.services.metrics_source import MetricsSource

        source = MetricsSource(
            arena,
            files.journal,
            files.deal_log,
            settings.data,
            arena.admission,
            arena.lag,
            connections,
        )
        port = MetricsPort(source)
        stack.callback(port.close)
        return await port.start(settings.metrics_host, settings.metrics_port)

    def _write_notice(self, address: str, metrics: str) -> None:
        """Let people find the arena by its folder."""
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
        """SIGINT: stop at once. A worker is ended by its arena alone, which drains it first."""
        if not self._settings.is_worker:
            self._interrupted = True
            self._stop()

    def _drain(self, arena: Arena, health: Health) -> None:
        """SIGTERM, in trio: finish the matches in play, then stop. Not for a worker, as `_interrupt`."""
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
        """Check again and again that the data folder is still there."""
        assert self._guest is not None
        if not self._guest.ended.done() and self._require_folder(monitor):
            loop = asyncio.get_running_loop()
            loop.call_later(FOLDER_POLL_S, self._poll_folder, monitor)

    def _require_folder(self, monitor: data_folder.FolderMonitor) -> bool:
        """Stop the arena if its folder is gone: nothing that happens from then on is kept."""
        data = self._settings.data
        there = monitor.is_whole()
        if not there and not self._broken:
            self._on_broken(
                f"the folder {data} was removed, in whole or in part, while the arena ran: what "
                "was in it is lost, and nothing more could be kept"
            )
        return there

    def _on_broken(self, why: str) -> None:
        """Nothing can be kept any more, so stop."""
        self._broken = why
        self._stop()

    def _stop(self) -> None:
        """Cancel trio's program, and take nothing new while it ends."""
        if self._arena is not None:
            self._arena.shut()
        if self._guest is not None:
            self._guest.cancel()


@dataclass(frozen=True, slots=True)
class _Files:
    """What is opened before trio starts."""

    server_id: str
    signer: Signer
    store: Store
    deal_log: DealLog
    journal: Journal
    recovery: Recovery
    monitor: data_folder.FolderMonitor
    intake: SubmissionIntake
    standings: StandingsProcess
    service: CompetitionService


def _hold(lock: IO[str], data: Path) -> None:
    """Keep a second arena out of the folder for as long as `lock` is open."""
    if not data_folder.take_lock(lock.fileno()):
        text = f"another arena is running in the folder {data}; give this one its own with --data"
        raise CannotServe(text)
