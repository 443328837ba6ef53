"""The one bridge: asyncio hosts the process, trio is its guest on the same thread.

The host does input and output for gRPC and awaits trio's end, nothing else.
A stream's callbacks reach sessions and tables directly: these are plain
state machines, and both loops run on one thread, so no two of them are ever
active at once. Whatever has to *start or wait* does so in trio.

To close, trio's root scope is cancelled first, so that its `finally` blocks
run; the gRPC server stops after that.
"""

import asyncio
import contextlib
import functools
import gc
import logging
import os
import resource
import shutil
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

import grpc
import trio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from arena.heap import share_one_heap
from arena.referee import Unwritten
from arena.referee.lag import LagMeter
from arena.replay import disk
from arena.replay.journal.deal_log import DealLog
from arena.replay.journal.journal import Journal
from arena.replay.journal.recovery import recover
from arena.replay.signing import arena_key
from arena.replay.write import remove_partials
from arena.server import data_folder
from arena.server.arena import Arena
from arena.server.gate.admission import Admission
from arena.server.gate.calls import CallInterceptor
from arena.server.gate.connections import (
    ConnectionWatch,
    bound_buffers,
    can_be_watched,
    listening,
    of_this_process,
    open_descriptors,
)
from arena.server.gate.shut_out import shut_out_at
from arena.server.gate.tokens import Tokens
from arena.server.gate.traffic import Traffic
from arena.server.listen import UNIX, CannotServe, TlsFiles, listen, require_this_machine
from arena.server.office import Office
from arena.server.play_socket import PlaySocket
from arena.server.probe import TransportProbe
from arena.server.services.bots import Bots
from arena.server.services.call_watch import CallWatch
from arena.server.services.compare import CompareCalls
from arena.server.services.competitions import CompetitionCalls
from arena.server.services.health import Health
from arena.server.services.lobby import Lobby
from arena.server.services.owners import Owners
from arena.server.services.play import SERVICE, play_handler
from arena.server.services.replays import Replays
from arena.server.services.tables import TableCalls
from arena.server.services.watching import Watching
from arena.server.session.session import MAX_MESSAGE_BYTES, MAX_SENT_BYTES, MIN_PING_INTERVAL_MS
from arena.server.submissions.desk import Desk
from arena.server.tables_apart import TablesApart
from arena.server.watch import Watch
from arena.store import Store, kept_at, open_store
from cardarena.v1 import (
    bots_pb2,
    bots_pb2_grpc,
    compare_pb2,
    compare_pb2_grpc,
    competitions_pb2,
    competitions_pb2_grpc,
    lobby_pb2,
    lobby_pb2_grpc,
    owners_pb2,
    owners_pb2_grpc,
    replay_pb2,
    replay_pb2_grpc,
    tables_pb2,
    tables_pb2_grpc,
    watch_pb2,
    watch_pb2_grpc,
)

if TYPE_CHECKING:
    import outcome

    from arena.server.services.metrics import MetricsPort

T = TypeVar("T")

_log = logging.getLogger(__name__)

OPTIONS: Final = (
    # What is longer than gRPC takes is refused by it, without a reason that a program can read.
    ("grpc.max_receive_message_length", 2 * MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_SENT_BYTES),
    ("grpc.max_metadata_size", 4_096),
    ("grpc.absolute_max_metadata_size", 8_192),
    ("grpc.max_concurrent_streams", 128),  # of one connection
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # Without this a frozen peer is noticed only after a minute.
    ("grpc.http2.ping_timeout_ms", 10_000),
    # Clients ping every 20 s; the default would close them for too many pings.
    ("grpc.http2.min_ping_interval_without_data_ms", MIN_PING_INTERVAL_MS),
    ("grpc.http2.max_ping_strikes", 2),
    ("grpc.server_handshake_timeout_ms", 5_000),
    # Without a call on it; bots always have one.
    ("grpc.max_connection_idle_ms", 60_000),
    # The probe would let a stream's window grow to megabytes, which wait in memory while
    # the stream is not read.
    ("grpc.http2.bdp_probe", 0),
    # Two servers would otherwise share a port without a word.
    ("grpc.so_reuseport", 0),
    ("grpc.enable_channelz", 0),
    # No compression: grpc unpacks a message whole before it looks at the size, so that 64 kB
    # could become 64 MB for a moment, and take the processor for a third of a second.
    ("grpc.compression_enabled_algorithms_bitset", 1),
)
MAX_DESCRIPTORS: Final = 65_536
"""More than all streams that may be open (`arena.server.gate.limits`), and their like."""
SPARE_DESCRIPTORS: Final = 64
"""Held back for the journal, replays and what else is written."""
OTHER_DESCRIPTORS: Final = 128
"""For launched bots, workers, the store and what the arena serves beside gRPC."""
LOOK_S: Final = 1.0
"""Between two looks at the data folder."""
STOP_S: Final = 1.0
"""Grace for calls that are still open when the server stops."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the server listens and keeps its files."""

    data: Path
    """Folder of the journal, and of all else unless it plays for another."""
    host: str = "127.0.0.1"
    """A host, an IP address or `unix:PATH`."""
    port: int = 0
    """0 takes any free port."""
    drain_s: float = 120.0
    """After SIGTERM, longest time for matches in play."""
    tls: TlsFiles | None = None
    """None is plain text."""
    insecure: bool = False
    """Whether plain text may leave this machine."""
    metrics_port: int | None = None
    """Where metrics are served; 0 takes any free port, None serves none."""
    metrics_host: str = "127.0.0.1"
    play_socket: bool = False
    """Whether jailed bots are to reach the arena, by a socket file in the data folder."""
    jail: str = ""
    """The level at which bots are launched, to be told; empty if none are."""
    limits_load: bool = False
    """Whether new matches are refused, or wait, while the arena is late or its disk full."""
    spectator_delay_s: float = 0.0
    """How long after it happened spectators are told of a match."""
    open_hands: bool = False
    """Whether spectators of practice are told what its seats know; only where none but this machine
    is listened to."""
    plays_for: Path | None = None
    """The folder of another arena, which has the store, the key and the replays; None is its own."""

    @property
    def house(self) -> Path:
        """The folder that has the store, the key and the replays."""
        return self.plays_for or self.data


def serve(
    settings: ServerSettings, tokens: Tokens, main: Callable[[Arena], Awaitable[T]]
) -> T | None:
    """Run an arena with its server while `main` runs in trio, and return its value.

    SIGINT cancels `main`; SIGTERM drains first, and then cancels it: then the value is None.

    Raises:
      CannotServe: if the port is taken, the folder cannot be written, the files of TLS are not
        right, plain text would leave this machine, or open hands would.
      Unwritten: if the journal could not be written, as on a full disk.
      KeyboardInterrupt: after SIGINT.
    """
    share_one_heap()  # before gRPC has threads
    value: T | None = asyncio.run(_Host(settings, tokens, main).run())
    return value


def tell_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Tell of an error in a callback of the loop, as asyncio does, if it is one.

    A wake-up of gRPC that finds nothing to read is none: the queue was emptied by the
    one before (https://github.com/grpc/grpc/pull/36096).
    """
    callback = context.get("message", "")
    if (
        isinstance(context.get("exception"), BlockingIOError)
        and "PollerCompletionQueue" in callback
    ):
        return
    loop.default_exception_handler(context)


def _connection_watch(address: str, traffic: Traffic) -> ConnectionWatch | None:
    if address.startswith(UNIX):
        return None  # its bytes are not counted, and the file's mode says who may come
    if not can_be_watched():
        _log.warning("this system does not show connections: floods of frames are not cut")
        return None
    port = int(address.rpartition(":")[2])
    bound_buffers(port)
    return ConnectionWatch(
        of_this_process(port),
        traffic,
        most=_room_for_connections(),
        shut_out=shut_out_at(functools.partial(listening, port)),
    )


def _room_for_connections() -> int:
    """Raise the limit of descriptors as far as is useful, and hold some back; returns the rest."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    wanted = MAX_DESCRIPTORS if hard == unlimited else min(hard, MAX_DESCRIPTORS)
    if soft != unlimited and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    disk.spare.hold(SPARE_DESCRIPTORS)
    limit = MAX_DESCRIPTORS if soft == unlimited else soft
    return max(limit - open_descriptors() - OTHER_DESCRIPTORS, 1)


async def _calls_have_ended() -> None:
    """Wait for the last steps of calls that gRPC has cancelled but does not wait for.

    A loop that closes on them has gRPC print a traceback for each.
    """
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    if rest:
        await asyncio.wait(rest, timeout=STOP_S)


class _Host:
    def __init__(
        self,
        settings: ServerSettings,
        tokens: Tokens,
        main: Callable[[Arena], Awaitable[Any]],
    ) -> None:
        self._settings = settings
        self._tokens = tokens
        self._main = main
        self._scope = trio.CancelScope()
        self._interrupted = False
        self._token: trio.lowlevel.TrioToken | None = None
        self._arena: Arena | None = None
        self._make_arena: Callable[[], Arena]
        self._broken = ""
        self._store: Store
        self._office: Office
        self._tables: TablesApart
        self._folder: data_folder.FolderWatch
        self._desk: Desk
        self._watch = Watch()
        self._metrics: MetricsPort | None = None
        self._connections: ConnectionWatch | None = None
        self._play_socket = PlaySocket(settings.data)

    async def run(self) -> Any:
        if self._settings.open_hands:
            require_this_machine(self._settings.host)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(tell_error)
        replays = self._settings.house / "replays"
        try:
            for folder in (replays, self._settings.data):  # the inner says what is no folder
                folder.mkdir(parents=True, exist_ok=True)
            lock = os.fdopen(data_folder.open_lock(self._settings.data), "r+")
        except OSError as error:
            text = f"cannot write in {self._settings.data}: {error.strerror}"
            raise CannotServe(text) from error
        with lock:
            _hold(lock, self._settings.data)
            data_folder.remove_notice(self._settings.data)
            if self._settings.plays_for is None:  # else somebody may be writing one
                remove_partials(replays)
            remove_partials(self._settings.data / "journal")
            try:
                return await self._run_in(replays, loop)
            finally:
                data_folder.remove_notice(self._settings.data)

    async def _run_in(self, replays: Path, loop: asyncio.AbstractEventLoop) -> Any:
        self._listening: asyncio.Future[Arena] = loop.create_future()
        self._stopped: asyncio.Future[outcome.Outcome[Any]] = loop.create_future()
        try:
            server_id = data_folder.arena_id(self._settings.data)
            signer = arena_key(self._settings.house)
        except (OSError, ValueError) as error:
            raise CannotServe(f"the arena has no id or no key: {error}") from error
        folder, public = self._settings.data / "journal", self._settings.data / "commitments"
        store_file = data_folder.store_path(self._settings.house)
        with (
            open_store(store_file) as store,
            DealLog(folder, public=public, on_broken=self._on_broken) as deal_log,
        ):
            registry, keys = store.registry(), store.keys()
            self._desk = Desk(self._settings.data, registry, keys, lambda: datetime.now(UTC))
            await asyncio.to_thread(self._desk.clear)
            self._tables = TablesApart(store_file)
            make = self._tables.unsigned
            self._store, self._office = store, Office(store.competitions(), signer, make=make)
            # What an earlier process left, before this one writes anything.
            recovery = await asyncio.to_thread(
                recover, folder, replays, held=lambda _: True, signer=signer
            )
            for damage in (*deal_log.damage, *recovery.damage):
                _log.warning("the journal is damaged", extra={"why": damage})
            with Journal(
                folder, matches=recovery.matches, on_broken=self._on_broken, watch=self._watch
            ) as journal:
                self._journal, self._deal_log = journal, deal_log
                self._folder = data_folder.FolderWatch(
                    self._settings.data, kept_at(store_file), replays
                )

                def make_arena() -> Arena:
                    now_s = trio.lowlevel.current_clock().current_time
                    lag = LagMeter(loop.call_later, now_s)
                    disk = functools.partial(shutil.disk_usage, self._settings.data)
                    admission = Admission(p99_ms=lag.p99_ms, disk=disk, now_s=now_s)
                    return Arena(
                        journal,
                        deal_log,
                        replays,
                        self._tokens,
                        results=store.matches(),
                        recovery=recovery,
                        server_id=server_id,
                        signer=signer,
                        lag=lag,
                        admission=admission if self._settings.limits_load else None,
                        watch=self._watch,
                        spectator_delay_s=self._settings.spectator_delay_s,
                        open_hands=self._settings.open_hands,
                    )

                self._make_arena = make_arena
                with contextlib.closing(self._folder):
                    return await self._serve(loop)

    async def _serve(self, loop: asyncio.AbstractEventLoop) -> Any:
        trio.lowlevel.start_guest_run(
            self._guest,
            run_sync_soon_threadsafe=loop.call_soon_threadsafe,
            run_sync_soon_not_threadsafe=loop.call_soon,
            done_callback=self._done,
            host_uses_signal_set_wakeup_fd=True,
        )
        arena = await self._listening
        assert arena.lag is not None
        probe = TransportProbe(arena.lag, arena.now_s)
        server, servicer = self._make_server(arena, probe)
        of_jailed = self._make_play_server(arena) if self._settings.play_socket else None
        with self._signals(loop, servicer):
            try:
                await self._start(server, arena, of_jailed)
                probe.start()
                self._look_at_folder(loop)
            finally:
                result = await self._stopped
                await probe.stop()
                await server.stop(STOP_S)
                if of_jailed is not None:
                    await of_jailed.stop(STOP_S)
                    self._play_socket.close()
                self._tables.close()
                await _calls_have_ended()
                if self._metrics is not None:
                    self._metrics.close()
                if self._connections is not None:
                    self._connections.stop()
                _log.info("the arena has stopped")
        if self._broken:
            raise Unwritten(self._broken)
        if self._interrupted:
            raise KeyboardInterrupt
        return result.unwrap()

    async def _guest(self) -> Any:
        """Trio's side: the arena's core, and `main` once the server listens."""
        self._token = trio.lowlevel.current_trio_token()
        arena = self._arena = self._make_arena()
        self._open = trio.Event()
        value = None
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    await nursery.start(arena.run)
                    self._listening.set_result(arena)
                    await self._open.wait()
                    value = await self._main(arena)
                    arena.stop_taking()
                    nursery.cancel_scope.cancel()
        finally:
            self._require_folder()  # also if that is why something failed, or nothing did
            arena.close_streams()
        return value

    def _done(self, result: "outcome.Outcome[Any]") -> None:
        if not self._listening.done():
            with contextlib.suppress(Exception):
                result.unwrap()
            self._listening.set_exception(CannotServe("the arena could not start"))
        self._stopped.set_result(result)

    async def _start(
        self, server: grpc.aio.Server, arena: Arena, of_jailed: grpc.aio.Server | None
    ) -> None:
        """Listen, and let `main` begin; stop trio if that is not possible."""
        settings = self._settings
        try:
            address = listen(
                server, settings.host, settings.port, settings.tls, insecure=settings.insecure
            )
            if settings.plays_for is None:
                self._listen_for_pages(server)
            if of_jailed is not None:
                self._play_socket.listen(of_jailed)
            self._connections = _connection_watch(address, arena.limits.traffic)
            metrics = await self._serve_metrics(arena)
        except CannotServe:
            self._soon(self._scope.cancel)
            raise
        # All that is loaded by now stays: the collector need not go through it again.
        gc.collect()
        gc.freeze()
        await server.start()
        if of_jailed is not None:
            await of_jailed.start()
        if self._connections is not None:
            self._connections.start()
        arena.listens(address, None if of_jailed is None else self._play_socket.path)
        self._tell_of(address if settings.tls is None else f"https://{address}", metrics)
        self._soon(self._open.set)

    def _listen_for_pages(self, server: grpc.aio.Server) -> None:
        """Let `arena web` in by a socket file of the folder; without one, nobody watches live by it."""
        path = data_folder.watch_socket(self._settings.data)
        try:
            listen(server, f"{UNIX}{path}", 0, None, insecure=False)
        except (CannotServe, OSError) as error:
            _log.warning("pages cannot follow what is played", extra={"why": str(error)})

    async def _serve_metrics(self, arena: Arena) -> str:
        """Serve metrics if that is wanted; returns the page's address."""
        settings = self._settings
        if settings.metrics_port is None:
            return ""
        from arena.server.services.metrics import MetricsPort
        from arena.server.services.watched import Watched

        watched = Watched(
            arena,
            self._journal,
            self._deal_log,
            settings.data,
            arena.admission,
            arena.lag,
            self._connections,
        )
        self._metrics = MetricsPort(watched)
        return await self._metrics.start(settings.metrics_host, settings.metrics_port)

    def _tell_of(self, address: str, metrics: str) -> None:
        """Let a person find the arena by its folder."""
        told = data_folder.Notice(
            os.getpid(),
            address,
            metrics,
            time.time(),
            data_folder.arena_version(),
            self._settings.jail,
        )
        try:
            data_folder.write_notice(self._settings.data, told)
        except OSError:
            _log.exception("nobody can be told where the arena is")
        _log.info("the arena listens", extra={"address": address, "metrics": metrics})

    def _interceptors(self, arena: Arena, own_call: str = "") -> tuple[CallWatch, CallInterceptor]:
        return (
            CallWatch(self._watch),
            CallInterceptor(
                self._tokens,
                arena.limits,
                own_call=own_call,
                now_s=arena.now_s,
                caused=arena.lag.caused if arena.lag is not None else None,
            ),
        )

    def _make_play_server(self, arena: Arena) -> grpc.aio.Server:
        """The server of jailed bots: they can play, and nothing else."""
        server = grpc.aio.server(interceptors=self._interceptors(arena), options=OPTIONS)
        flush = self._journal.flush
        play = play_handler(arena, flush, arena.now_s, self._watch, walled=True)
        server.add_generic_rpc_handlers((play,))
        return server

    def _make_server(self, arena: Arena, probe: TransportProbe) -> tuple[grpc.aio.Server, Any]:
        interceptors = self._interceptors(arena, probe.call)
        server = grpc.aio.server(interceptors=interceptors, options=OPTIONS)
        probe.listen(server)
        flush = self._journal.flush
        play = play_handler(arena, flush, arena.now_s, self._watch)
        server.add_generic_rpc_handlers((play,))
        names: tuple[str, ...] = (SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME)
        if self._settings.plays_for is None:
            names += self._offer_calls(arena, server)
        servicer = Health()
        health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
        reflection.enable_server_reflection(names, server)
        return server, servicer

    def _offer_calls(self, arena: Arena, server: grpc.aio.Server) -> tuple[str, ...]:
        """Let a server take all that people and programs ask beside play; the names of these services."""
        lobby_pb2_grpc.add_LobbyServiceServicer_to_server(
            Lobby(arena.matches, arena.sessions, arena.tokens), server
        )
        replays = Replays(arena.replays, arena.matches.results)
        replay_pb2_grpc.add_ReplayServiceServicer_to_server(replays, server)
        competitions = CompetitionCalls(self._store, self._office, arena.tokens)
        competitions_pb2_grpc.add_CompetitionServiceServicer_to_server(competitions, server)
        tables = TableCalls(self._office, self._tables)
        tables_pb2_grpc.add_TableServiceServicer_to_server(tables, server)
        compare = CompareCalls(self._store, arena.tokens, lambda: datetime.now(UTC))
        compare_pb2_grpc.add_CompareServiceServicer_to_server(compare, server)
        owners = Owners(self._desk, arena.tokens)
        bots = Bots(self._desk, arena.tokens, jail=self._settings.jail)
        owners_pb2_grpc.add_OwnerServiceServicer_to_server(owners, server)
        bots_pb2_grpc.add_BotServiceServicer_to_server(bots, server)
        watching = Watching(arena.matches.feeds, lambda: arena.matches.in_play, self._journal.flush)
        watch_pb2_grpc.add_WatchServiceServicer_to_server(watching, server)
        return tuple(
            each.DESCRIPTOR.services_by_name[name].full_name
            for each, name in (
                (lobby_pb2, "LobbyService"),
                (replay_pb2, "ReplayService"),
                (competitions_pb2, "CompetitionService"),
                (tables_pb2, "TableService"),
                (compare_pb2, "CompareService"),
                (owners_pb2, "OwnerService"),
                (bots_pb2, "BotService"),
                (watch_pb2, "WatchService"),
            )
        )

    @contextlib.contextmanager
    def _signals(self, loop: asyncio.AbstractEventLoop, servicer: Any) -> Any:
        def interrupt() -> None:
            self._interrupted = True
            self._stop()

        def drain() -> None:
            # Who is told that the arena does not serve must not find that it still does.
            self._drain()
            loop.create_task(self._not_serving(servicer))

        def terminate() -> None:
            self._soon(drain)

        handlers = {signal.SIGINT: interrupt, signal.SIGTERM: terminate}
        added = []
        for number, handler in handlers.items():
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, handler)
                added.append(number)
        loop.create_task(servicer.set("", health_pb2.HealthCheckResponse.SERVING))
        try:
            yield
        finally:
            for number in added:
                loop.remove_signal_handler(number)

    async def _not_serving(self, servicer: Any) -> None:
        await servicer.enter_graceful_shutdown()

    def _drain(self) -> None:
        """Trio's side of SIGTERM: finish what is in play, then end."""
        arena = self._arena
        assert arena is not None
        if arena.draining:
            return
        in_play = len(arena.matches.referee.tables)
        _log.info(
            "the arena drains", extra={"matches": in_play, "longest_s": self._settings.drain_s}
        )
        arena.drain(self._settings.drain_s)
        trio.lowlevel.spawn_system_task(self._end_when_idle, arena)

    async def _end_when_idle(self, arena: Arena) -> None:
        with trio.move_on_after(self._settings.drain_s):
            await arena.idle()
        self._scope.cancel()

    def _look_at_folder(self, loop: asyncio.AbstractEventLoop) -> None:
        """See time after time that the data folder is still there."""
        if not self._stopped.done() and self._require_folder():
            loop.call_later(LOOK_S, self._look_at_folder, loop)

    def _require_folder(self) -> bool:
        """Stop the arena if its folder is gone: whatever it says from then on is kept nowhere."""
        data = self._settings.data
        there = self._folder.is_whole()
        if not there and not self._broken:
            self._on_broken(
                f"the folder {data} was removed, in whole or in part, while the arena ran: what "
                "was in it is lost, and nothing more could be kept"
            )
        return there

    def _on_broken(self, why: str) -> None:
        """The journal failed: nothing can be promised any more, so stop."""
        self._broken = why
        self._stop()

    def _stop(self) -> None:
        """End trio's side, and take nothing new while it ends."""
        if self._arena is not None:
            self._arena.shut()
        self._soon(self._scope.cancel)

    def _soon(self, call: Callable[[], object]) -> None:
        if self._token is not None:
            with contextlib.suppress(trio.RunFinishedError):
                self._token.run_sync_soon(call)


def _hold(lock: IO[str], data: Path) -> None:
    """Keep a second arena out of the folder for as long as `lock` is open."""
    if not data_folder.take_lock(lock.fileno()):
        text = f"another arena is running in the folder {data}; give this one its own with --data"
        raise CannotServe(text)
