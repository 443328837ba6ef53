"""Processes of workers, which `arena serve --workers` and `arena worker` start, and restart when they end.

Such a process is controlled by two pipes. The first line of its standard input has the token of its calls; the next
line asks it to leave. It ends at the end of its input, so that it never outlives the program that started it. Every
second it writes an `Activity` to its standard output.
"""

import contextlib
import logging
import shutil
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import Final

import trio

from arena.bots.tokens import Tokens, new_token
from arena.contests.workers.pool import WorkerPool
from arena.contests.workers.worker import SILENT_S, Worker
from arena.errors import exits
from arena.store.data_folder import is_running

AGAIN_S: Final = 0.5
"""Seconds between the end of a process and its next start; doubled after each failed start."""
LONGEST_AGAIN_S: Final = 30.0
STOP_S: Final = 10.0
"""Seconds that a process has to end after its standard input was closed."""
MOST_STARTS: Final = 6
"""Failed starts in a row after which a worker counts as broken."""
MOST_LOCAL: Final = 64
"""The maximal number of local workers; those on other machines have higher numbers."""

_log = logging.getLogger(__name__)


class Activity(bytes, Enum):
    """The activity of a process, which it writes to its output."""

    DIALS = b"d"
    """The arena has not accepted it yet."""
    IDLE = b"i"
    PLAYS = b"p"


Command = Callable[[int, Path], Sequence[str]]
"""The command that starts the worker of a number in its own folder."""
Start = Callable[[Sequence[str]], Awaitable[trio.Process]]
"""Starts a program with pipes at its standard input and output."""


async def _started(command: Sequence[str]) -> trio.Process:
    pipe = subprocess.PIPE
    # The process has a session of its own, because Ctrl-C is for the program that started it, which ends the process.
    return await trio.lowlevel.open_process(
        list(command), stdin=pipe, stdout=pipe, start_new_session=True
    )


class WorkerProcess:
    """The process of a worker, which is started again when it ends. Used in trio."""

    def __init__(
        self,
        number: int,
        folders: Path,
        command: Command,
        token: str,
        *,
        start: Start = _started,
        broken: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Create a worker whose process is not started.

        Args:
          number: The number of the worker, unique in `folders`.
          broken: Called with a sentence when it has failed to start several times.
        """
        self._number, self._folders, self._command = number, folders, command
        self._token, self._start, self._broken = token, start, broken
        self._process: trio.Process | None = None
        self._status: Activity | None = None
        self.has_ever_joined = False
        """Whether the arena has accepted it since `run`."""
        self._has_joined = False
        """Whether the arena has accepted it since its last start."""
        self._leaves = False
        """Whether it was asked to leave since its last start."""
        self._drained = trio.Event()
        """Set once it is not to be started again."""

    @property
    def is_idle(self) -> bool:
        return self._status is not Activity.PLAYS

    async def run(self) -> int:
        """Keep it running until cancelled, until it has ended after `drain`, or until it is refused; return its exit code."""
        failed = code = 0
        while not self._drained.is_set():
            code = await self._run_once()
            if code == exits.USAGE:  # or refused: a restart does not help
                break
            failed = 0 if self._has_joined else failed + 1
            if failed == MOST_STARTS:
                self._broken(f"worker {self._number} does not start; the logs say why")
            _log.warning("a worker has ended", extra={"worker": self._number, "failed": failed})
            with trio.move_on_after(min(LONGEST_AGAIN_S, AGAIN_S * 2**failed)):
                await self._drained.wait()
        return code

    async def leave(self) -> None:
        """Let the process finish what it plays and end; then restart it."""
        self._leaves = True
        if self._process is not None and self._process.stdin is not None:
            await _write(self._process.stdin, b"leave\n")

    async def drain(self) -> None:
        """Let the process finish what it plays and end."""
        self._drained.set()
        await self.leave()

    async def _run_once(self) -> int:
        """Run it once, to its end; return its exit code."""
        folder = Path(tempfile.mkdtemp(prefix=f"{self._number}-", dir=self._folders))
        self._has_joined, self._leaves = False, False
        try:
            process = self._process = await self._start(self._command(self._number, folder))
            try:
                await self._watch(process)
            finally:
                self._process = self._status = None
                with trio.CancelScope(shield=True):
                    await _end(process)
        except OSError as error:
            fields = {"worker": self._number, "why": error.strerror}
            _log.error("a worker cannot be started", extra=fields)
            return 1
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(_remove, folder)
        return process.returncode or 0

    async def _watch(self, process: trio.Process) -> None:
        """Read its status until it ends or is silent for too long."""
        assert process.stdin is not None
        assert process.stdout is not None
        await _write(process.stdin, f"{self._token}\n".encode())
        if self._leaves:
            await self.leave()
        with trio.move_on_after(SILENT_S) as patience:
            while data := await process.stdout.receive_some():
                patience.deadline = trio.current_time() + SILENT_S
                self._status = Activity(data[-1:])
                self._has_joined = self._has_joined or self._status is not Activity.DIALS
                self.has_ever_joined = self.has_ever_joined or self._has_joined
        if patience.cancelled_caught:
            fields = {"worker": self._number, "after_s": SILENT_S}
            _log.error("the process of a worker hangs, and is ended", extra=fields)
            process.kill()


async def run_local_workers(
    pool: WorkerPool,
    folder: Path,
    command: Command,
    number: int,
    tokens: Tokens,
    start: Start = _started,
    *,
    key: str = "",
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Run `number` local workers of a pool until cancelled; started when deal-sets can be assigned.

    With a `key` they are treated like workers on other machines of this name: what they report is verified. While a
    worker runs, it has a folder in `folder`, where files of earlier workers are removed. `tokens` gets a token for each
    worker.
    """
    await trio.to_thread.run_sync(make_folder, folder)
    async with trio.open_nursery() as nursery:
        for worker in [pool.add(which, key) for which in range(1, number + 1)]:
            token = new_token()
            tokens.add_worker(token, worker.number)
            process = WorkerProcess(
                worker.number, folder, command, token, start=start, broken=worker.broken
            )
            nursery.start_soon(_run, process, worker)
        # Otherwise the first worker that is ready would get all deal-sets.
        await pool.all_started()
        task_status.started()


async def _run(process: WorkerProcess, worker: Worker) -> None:
    """Keep the process of a worker running, and report if it cannot run."""
    await process.run()
    worker.broken(f"{worker.name} cannot play: it has printed the reason")


def make_folder(folder: Path) -> None:
    """Make the folder of the workers' folders, and remove those of workers that have ended."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in folder.iterdir():
        if not is_running(path):
            _remove(path)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


async def _write(stream: trio.abc.SendStream, data: bytes) -> None:
    # If the process has ended, its output shows it.
    with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        await stream.send_all(data)


async def _end(process: trio.Process) -> None:
    if process.stdin is not None:
        await process.stdin.aclose()
    with trio.move_on_after(STOP_S):
        await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
    if process.stdout is not None:
        await process.stdout.aclose()
