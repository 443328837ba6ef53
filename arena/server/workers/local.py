"""Local workers: child processes of the arena that play deal-sets, controlled over two pipes.

A worker that dies, stalls or sends an invalid message is ended and started again. Its deal-sets are handed
out again, to any worker.
"""

import logging
import shutil
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final, Protocol

import trio

from arena.server.data_folder import is_running
from arena.server.workers.pool import WorkerPool
from arena.server.workers.worker import RunningWorker, Worker
from cardarena.v1 import work_pb2

AGAIN_S: Final = 0.5
"""Wait between the end of a worker and its next start; doubled after each failed start."""
LONGEST_AGAIN_S: Final = 30.0
STOP_S: Final = 10.0
"""Time for a worker to end after its standard input was closed."""
MOST_STARTS: Final = 6
"""Failed starts in a row after which a worker counts as broken."""
MOST_LOCAL: Final = 64
"""Most local workers; those on other machines have higher numbers."""

Command = Callable[[int, Path], Sequence[str]]
"""The command that starts the worker of a number in its own folder."""

_log = logging.getLogger(__name__)


class ChildProcess(RunningWorker, Protocol):
    """The part of `trio.Process` that is used."""

    @property
    def returncode(self) -> int | None: ...
    async def wait(self) -> int: ...


Start = Callable[[Sequence[str]], Awaitable[ChildProcess]]
"""Starts a program with pipes at its standard input and output."""


class LocalWorkers:
    """Starts local workers, again and again, which play for a pool. Made and run in trio."""

    def __init__(
        self,
        pool: WorkerPool,
        folder: Path,
        command: Command,
        number: int,
        start: Start | None = None,
    ) -> None:
        """Add workers to a pool that are not started.

        Args:
          pool: Hands out deal-sets.
          folder: Has a folder for each while it runs; what earlier ones left there is removed.
          command: Starts one.
          number: How many there are.
          start: Starts a program; without it, a child of this process.
        """
        self._pool, self._folder = pool, folder
        self._workers = [
            _Process(pool.add(each), folder, command, start or _started)
            for each in range(1, number + 1)
        ]

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Have them run until cancelled; started once deal-sets can be handed out."""
        await trio.to_thread.run_sync(self._make_folder)
        async with trio.open_nursery() as nursery:
            for each in self._workers:
                nursery.start_soon(each.run)
            # Otherwise the first that is ready would get everything.
            await self._pool.all_started()
            task_status.started()

    def _make_folder(self) -> None:
        """Make the folder of the workers' folders, and remove those of workers that have ended."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in self._folder.iterdir():
            if not is_running(left):
                _remove(left)


class _Process:
    """The process of a worker, which is started again when it ends."""

    def __init__(self, worker: Worker, folders: Path, command: Command, start: Start) -> None:
        self._worker, self._number = worker, worker.number
        self._folders, self._command, self._start = folders, command, start
        self._was_ready = False
        """Whether it has been ready since its last start."""

    async def run(self) -> None:
        """Keep it running until cancelled."""
        failed = 0
        while True:
            was_ready = await self._run_once()
            failed = 0 if was_ready else failed + 1
            if failed == MOST_STARTS:
                self._worker.broken(f"worker {self._number} does not start; the logs say why")
            fields = {"worker": self._number, "ready": was_ready}
            _log.warning("a worker has ended, and is started again", extra=fields)
            await trio.sleep(min(LONGEST_AGAIN_S, AGAIN_S * 2**failed))

    async def _run_once(self) -> bool:
        """Run it once, to its end; returns whether it became ready."""
        folder = Path(tempfile.mkdtemp(prefix=f"{self._number}-", dir=self._folders))
        self._was_ready = False
        try:
            process = await self._start(self._command(self._number, folder))
            try:
                await self._worker.converse(process, self._note_ready)
            finally:
                with trio.CancelScope(shield=True):
                    await _end(process)
        except OSError as error:
            fields = {"worker": self._number, "why": error.strerror}
            _log.error("a worker cannot be started", extra=fields)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(_remove, folder)
        return self._was_ready

    def _note_ready(self, _: work_pb2.WorkerReady) -> str:
        self._was_ready = True
        return ""


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


async def _started(command: Sequence[str]) -> ChildProcess:
    return await trio.lowlevel.open_process(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the arena, which ends it
    )


async def _end(process: ChildProcess) -> None:
    """End a process, and wait for it."""
    if process.stdin is not None:
        await process.stdin.aclose()
    with trio.move_on_after(STOP_S):
        await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
    if process.stdout is not None:
        await process.stdout.aclose()
