"""Workers of another arena: the process that plays, and `arena worker`, which runs several of them."""

import asyncio
import logging
import math
import os
import re
import signal
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import trio

from arena.app.arena_process import Parts, ServerSettings, run
from arena.app.programs import while_bots_can_start
from arena.bots.archive import MAX_ARCHIVE_BYTES, BadArchive, read_archive
from arena.bots.blobs import Blobs, remove_unpacked, size_of
from arena.bots.built_runtimes import BuiltRuntimes
from arena.bots.installed_wheels import INSTALLED
from arena.bots.tokens import Tokens
from arena.contests.workers.messages import BadMessage
from arena.contests.workers.player import LOOK_S, AssignmentPlayer, ReportRecorder
from arena.contests.workers.processes import (
    MOST_LOCAL,
    Activity,
    Command,
    WorkerProcess,
    make_folder,
)
from arena.contests.workers.speed import speed_class as measured
from arena.errors import exits
from arena.live.players import Players
from arena.results.worker_names import HOST
from arena.sandbox.sandbox import Sandbox
from arena.store import data_folder
from cardarena.v1 import work_pb2

PROGRAM: Final = ("-m", "arena.cli.worker_process")
"""Arguments of Python that run the program of one worker process."""
MAX_CACHE_BYTES: Final = 10 * 2**30
"""The number of bytes of archives, and of installed wheels, that a worker keeps from its last run."""
MEASURE_AGAIN_S: Final = 3600.0
"""Seconds between two measurements of the speed class; a measurement waits until nothing is in play."""

_log = logging.getLogger(__name__)


# A process that plays.


Work = Callable[
    [Callable[[], AsyncIterator[work_pb2.WorkRequest]]], AsyncIterator[work_pb2.WorkResponse]
]
"""Calls `WorkService.Work`; gets the first messages of the worker, again for each attempt to call."""
GetArchive = Callable[[str], AsyncIterator[bytes]]
"""Yields the pieces of the archive of these contents, while the call of the worker is open."""


class WorkLink:
    """The messages between a worker and its arena: a call on the host's loop. Made and run in trio."""

    def __init__(
        self,
        work: Work,
        get_archive: GetArchive,
        ready: work_pb2.WorkerReady,
        blobs: Blobs,
        folder: Path,
        *,
        is_local: bool,
    ) -> None:
        """Make a link that calls nothing until `run`.

        Args:
          folder: The folder for archives while they are fetched.
          is_local: Whether the arena runs on this machine, so that it may name commands.
        """
        self._work, self._get_archive, self._ready = work, get_archive, ready
        self._blobs, self._folder, self._is_local = blobs, folder, is_local
        self._requests: asyncio.Queue[work_pb2.WorkRequest]
        self._arrived, self.messages = trio.open_memory_channel[work_pb2.WorkResponse](math.inf)

    def send(self, message: work_pb2.WorkRequest) -> None:
        """Send a message without blocking."""
        self._requests.put_nowait(message)

    async def run(self) -> Exception | None:
        """Pass messages on until the call ends; return why the arena cannot be called, or None."""
        call, ended = asyncio.get_running_loop().create_task(self._read()), trio.Event()
        call.add_done_callback(lambda _: ended.set())
        try:
            await ended.wait()
        finally:
            call.cancel()
            self._arrived.close()
        return call.result()

    async def _read(self) -> Exception | None:
        try:
            async for message in self._work(self._begun):
                for entrant in message.assignment.entrants:
                    await self._require(entrant)
                self._arrived.send_nowait(message)
        except (BadMessage, OSError) as error:
            _log.error("a call is ended", extra={"why": str(error)})
        except Exception as error:
            return error
        return None

    async def _begun(self) -> AsyncIterator[work_pb2.WorkRequest]:
        requests = self._requests = asyncio.Queue()
        yield work_pb2.WorkRequest(ready=self._ready)
        while True:
            yield await requests.get()

    async def _require(self, entrant: work_pb2.WorkEntrant) -> None:
        """Fetch the missing files of a bot before its deal-set begins.

        Raises `BadMessage` if the arena names a command of this machine, or sends another archive.
        """
        if entrant.argv and not self._is_local:
            raise BadMessage(f"{entrant.name} is no uploaded bot, and its command is not run here")
        if not entrant.archive_sha256:
            return
        if self._blobs.has(entrant.archive_sha256):
            self._blobs.touch(entrant.archive_sha256)
        else:
            await self._fetch(entrant.archive_sha256)

    async def _fetch(self, sha256: str) -> None:
        """Fetch an archive of these contents; any other is refused."""
        path, size = self._folder / "archive", 0
        with path.open("wb") as file:
            async for piece in self._get_archive(sha256):
                size += len(piece)
                if size > MAX_ARCHIVE_BYTES:
                    raise BadMessage(f"the archive {sha256} is too large")
                file.write(piece)
        try:
            archive = await asyncio.to_thread(read_archive, path)
        except BadArchive as error:
            raise BadMessage(f"the archive {sha256} is damaged: {error}") from error
        if archive.sha256 != sha256:
            raise BadMessage(f"the archive {sha256} has other contents")
        await asyncio.to_thread(self._blobs.keep, archive)


def play_as_worker(
    work: Work,
    get_archive: GetArchive,
    data: Path,
    sandbox: Sandbox | None,
    *,
    number: int,
    cache: Path,
    status: int,
    speed_class: int,
    host: str,
    limits_load: bool,
    is_local: bool,
    one_at_a_time: bool = False,
) -> None:
    """Play deal-sets for another arena until it ends the call, or standard input ends.

    Args:
      number: The worker's number in `cache`.
      cache: The folder of archives of uploaded versions, their wheels and runtimes, and of the
        output of bots.
      status: The descriptor to which it writes an `Activity` every second.
      speed_class: The speed class of this machine.
      host: The name of this machine; empty for a local worker.
      limits_load: Whether fewer matches are played while the arena is late or its disk full.
      is_local: Whether the other arena runs on this machine.
      one_at_a_time: Whether deal-sets are played one after the other.

    Raises:
      As `arena.app.arena_process.serve`, and the errors of `work` if the arena refuses the worker.
    """
    recorder = ReportRecorder()
    errors: list[Exception] = []

    async def main(parts: Parts) -> None:
        async with trio.open_nursery() as nursery:
            bots = data_folder.bots_of_worker(cache, number)
            players = Players(
                parts.arena, cache, bots, nursery, sandbox=sandbox, one_at_a_time=one_at_a_time
            )
            ready = work_pb2.WorkerReady(
                pid=os.getpid(),
                engine=data_folder.arena_version(),
                sandbox=players.level,
                runtimes=[built.sha256 for built in BuiltRuntimes(cache).all() if not built.lacks],
                speed_class=speed_class,
                host=host,
            )
            link = WorkLink(work, get_archive, ready, Blobs(cache), data, is_local=is_local)
            player = AssignmentPlayer(parts.arena, recorder, players, link.send)

            async def call() -> None:
                if (error := await link.run()) is not None:
                    errors.append(error)

            nursery.start_soon(_obey, player, nursery.cancel_scope)
            nursery.start_soon(_tell, player, status)
            nursery.start_soon(call)
            async with while_bots_can_start(sandbox):
                await player.run(link.messages)
            if player.is_idle:
                await players.send_home()
            nursery.cancel_scope.cancel()

    settings = ServerSettings(data, limits_load=limits_load, is_worker=True).sandboxed(sandbox)
    run(settings, Tokens(guests=False), main, recorder)
    if errors:
        raise errors[0]


async def _obey(player: AssignmentPlayer, scope: trio.CancelScope) -> None:
    """Leave after a line on standard input, and end when standard input ends."""
    async with trio.lowlevel.FdStream(os.dup(0)) as lines:
        while await lines.receive_some():
            if not player.has_joined:
                break
            player.leave()
    scope.cancel()


async def _tell(player: AssignmentPlayer, status: int) -> None:
    """Write the activity of the player every second."""
    async with trio.lowlevel.FdStream(status) as output:
        while True:
            playing = Activity.IDLE if player.is_idle else Activity.PLAYS
            await output.send_all(playing if player.has_joined else Activity.DIALS)
            await trio.sleep(LOOK_S)


# Several processes.


class SpeedClass:
    """The speed class of this machine, which is measured again every hour while nothing is in play."""

    def __init__(self, given: int | None, measure: Callable[[], int] = measured) -> None:
        self._is_given, self._measure = given is not None, measure
        self.current = measure() if given is None else given

    async def keep(self, processes: Sequence[WorkerProcess], say: Callable[[str], object]) -> None:
        """Measure it periodically, and let the processes join again if the class has changed."""
        while not self._is_given:
            await trio.sleep(MEASURE_AGAIN_S)
            while not all(process.is_idle for process in processes):  # noqa: ASYNC110 - no event tells it
                await trio.sleep(LOOK_S)
            before, self.current = self.current, self._measure()
            if self.current != before:
                say(f"The speed class is {self.current} now; it was {before}.")
                for process in processes:
                    await process.leave()


@dataclass(frozen=True, slots=True)
class Stop:
    """The conditions under which workers stop by themselves: they then finish what they play, and take no further deal-sets."""

    idle_s: float = math.inf
    """The number of seconds without play of any of them, including those before the first deal-set."""
    after_s: float = math.inf
    """The number of seconds after their start."""
    with_input: bool = False
    """Whether they stop when standard input ends, as it does when the program that started them dies."""

    async def drain(self, processes: Sequence[WorkerProcess]) -> None:
        """Wait until one of the times is over or the input has ended, and drain the processes."""
        async with trio.open_nursery() as nursery:
            if self.with_input:
                nursery.start_soon(_input_ended, nursery.cancel_scope)
            await self._pass(processes)
            nursery.cancel_scope.cancel()
        for process in processes:
            await process.drain()

    async def _pass(self, processes: Sequence[WorkerProcess]) -> None:
        began_s = played_s = trio.current_time()
        while True:
            now_s = trio.current_time()
            if not all(process.is_idle for process in processes):
                played_s = now_s
            if now_s >= min(played_s + self.idle_s, began_s + self.after_s):
                break
            await trio.sleep(min(LOOK_S, began_s + self.after_s - now_s))


async def _input_ended(scope: trio.CancelScope) -> None:
    """Wait for the end of standard input, and cancel. Nothing reads the output then either."""
    async with trio.lowlevel.FdStream(os.dup(0)) as stream:
        while await stream.receive_some():
            pass
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    scope.cancel()


class WorkersFailed(Exception):
    """No worker could play. The text says why; it is empty if the processes have reported it."""


def run_workers(
    command: Command,
    data: Path,
    token: str,
    number: int,
    speed_class: SpeedClass,
    say: Callable[[str], object],
    stop: Stop = Stop(),
) -> None:
    """Run processes of workers until they are stopped, or stop by themselves.

    SIGTERM drains them, and a second one ends them, as does SIGINT.

    Args:
      command: The command of a worker, to which the speed class is appended.
      data: The folder of archives, logs and matches in play.
      number: The number of processes.
      say: Called with messages for the organiser.
      stop: The conditions under which they stop by themselves.

    Raises `WorkersFailed` if the arena has refused one, or they have stopped by themselves and it never accepted one.
    """
    limit_cache(data, MAX_CACHE_BYTES)
    folders = data_folder.worker_folders(data)
    make_folder(folders)

    def with_class(which: int, folder: Path) -> list[str]:
        return [*command(which, folder), "--speed-class", str(speed_class.current)]

    async def main() -> None:
        has_stopped = False
        codes: list[int] = []
        processes = [
            WorkerProcess(which, folders, with_class, token) for which in range(1, number + 1)
        ]

        async def drain() -> None:
            nonlocal has_stopped
            await stop.drain(processes)
            has_stopped = True

        async def run_one(process: WorkerProcess, scope: trio.CancelScope) -> None:
            codes.append(await process.run())
            if codes[-1] == exits.USAGE:
                scope.cancel()

        async with trio.open_nursery() as helpers:
            await helpers.start(_handle_signals, processes, helpers.cancel_scope)
            helpers.start_soon(speed_class.keep, processes, say)
            helpers.start_soon(drain)
            async with trio.open_nursery() as nursery:
                for process in processes:
                    nursery.start_soon(run_one, process, helpers.cancel_scope)
            helpers.cancel_scope.cancel()
        if exits.USAGE in codes:
            raise WorkersFailed
        if has_stopped and not any(process.has_ever_joined for process in processes):
            raise WorkersFailed("no worker has reached the arena: the logs say why")

    trio.run(main)


async def _handle_signals(
    processes: Sequence[WorkerProcess],
    scope: trio.CancelScope,
    *,
    task_status: trio.TaskStatus[None],
) -> None:
    """Drain the processes at the first SIGTERM, and end them at the second one and at SIGINT."""
    drains = False
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for number in signals:
            if drains or number == signal.SIGINT:
                scope.cancel()
                return
            drains = True
            for process in processes:
                await process.drain()


def limit_cache(data: Path, max_bytes: int) -> None:
    """Remove archives and installed wheels of earlier runs beyond `max_bytes` each. Nothing may be in play."""
    Blobs(data).shrink(max_bytes)
    installed = data / INSTALLED
    if size_of(installed) > max_bytes:
        for folder in installed.iterdir():
            remove_unpacked(folder)  # installed again when a bot needs it


def host_name() -> str:
    """Return the name of this machine, as a worker has it."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname())[:64]


def local_address(data: Path) -> str:
    """Return the address by which a local worker dials the arena of a folder."""
    return f"unix:{data_folder.watch_socket(data)}"


__all__ = [
    "HOST",
    "MOST_LOCAL",
    "PROGRAM",
    "SpeedClass",
    "Stop",
    "WorkersFailed",
    "host_name",
    "local_address",
    "play_as_worker",
    "run_workers",
]
