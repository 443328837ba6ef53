"""A deal-set as a task of an engine: its assignment and archives in, its report out, all as bytes.

A separate process plays the task, as a worker does, and stays for the next task. It exchanges the messages of
`work.proto` over two pipes, each with its length before it.
"""

import asyncio
import atexit
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import BinaryIO, Final

from arena.app.worker import PROGRAM
from arena.bots.archive import read_archive
from arena.bots.blobs import Blobs
from arena.contests.workers.messages import BadMessage
from cardarena.v1 import work_pb2

LENGTH_BYTES: Final = 4


class _Player:
    def __init__(self, sandbox: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="arena-task-")
        self._cache = Path(self._folder.name) / "cache"
        its_input, writes = os.pipe()
        reads, its_output = os.pipe()
        self._process = subprocess.Popen(
            [
                *(sys.executable, *PROGRAM, "--frames", f"{its_input},{its_output}"),
                *("--cache", str(self._cache), "--data", str(Path(self._folder.name) / "data")),
                *("--number", "1", "--sandbox", sandbox, "--take-all"),
            ],
            stdin=subprocess.PIPE,  # it ends with this process
            stdout=subprocess.DEVNULL,
            pass_fds=(its_input, its_output),
            start_new_session=True,
        )
        os.close(its_input)
        os.close(its_output)
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")  # an empty line for the token, as it connects to no arena
        self._process.stdin.flush()
        self._writes, self._reads = os.fdopen(writes, "wb", 0), os.fdopen(reads, "rb")
        atexit.register(self.close)
        self.ready = next(self._messages()).ready
        self._send(work_pb2.WorkResponse(joined=work_pb2.WorkJoined()))

    def play(
        self, assignment: work_pb2.WorkResponse, archives: Mapping[str, bytes]
    ) -> Iterator[work_pb2.WorkRequest]:
        """Yield the messages about an assignment, up to the last part of its report."""
        blobs = Blobs(self._cache)
        for sha256, content in archives.items():
            if not blobs.has(sha256):
                path = Path(self._folder.name) / "archive"
                path.write_bytes(content)
                blobs.keep(read_archive(path))  # the process refuses an archive with other contents
        self._send(assignment)
        for message in self._messages():
            if message.begin != assignment.begin:
                continue  # these are its counts, and its requests for more
            yield message
            if message.HasField("failed") or not message.report.more:
                break
        self._send(work_pb2.WorkResponse(begin=assignment.begin, done=work_pb2.WorkDone()))

    def _send(self, message: work_pb2.WorkResponse) -> None:
        self._writes.write(frame(message.SerializeToString()))

    def _messages(self) -> Iterator[work_pb2.WorkRequest]:
        while body := read_frame(self._reads):
            yield work_pb2.WorkRequest.FromString(body)
        raise ChildProcessError(f"the process of the task has ended with {self._process.wait()}")

    def close(self) -> None:
        atexit.unregister(self.close)
        self._process.kill()
        self._process.wait()
        for pipe in (self._writes, self._reads, self._process.stdin):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        self._folder.cleanup()


_idle: Final[dict[str, list[_Player]]] = {}
"""Processes without a task, by their sandbox."""
_lock: Final = Lock()


def play_assignment(
    sandbox: str, assignment: bytes, sha256s: tuple[str, ...], *archives: bytes
) -> list[bytes]:
    """Play a deal-set with seeded deals: a task of an engine.

    Args:
      sandbox: The value of the option `--sandbox` of `arena worker`.
      assignment: A `WorkResponse` with an assignment.
      sha256s: The hashes of the archives.

    Returns:
      `WorkRequest`s: the parts of the report, or why there is none.

    Raises `ChildProcessError` if the process that plays has died.
    """
    with _player(sandbox) as player:
        message = work_pb2.WorkResponse.FromString(assignment)
        contents = dict(zip(sha256s, archives, strict=True))
        return [part.SerializeToString() for part in player.play(message, contents)]


def probe(sandbox: str) -> bytes:
    """Return a `WorkerReady` that describes the machine of a task."""
    with _player(sandbox) as player:
        return player.ready.SerializeToString()


@contextlib.contextmanager
def _player(sandbox: str) -> Iterator[_Player]:
    """Provide a process without a task; it stays unless the block fails."""
    with _lock:
        idle = _idle.setdefault(sandbox, [])
        player = idle.pop() if idle else None
    player = player or _Player(sandbox)
    try:
        yield player
    except BaseException:
        player.close()
        raise
    with _lock:
        idle.append(player)


class FrameCalls:
    """The calls of the process that plays: it has two pipes in place of an arena."""

    def __init__(self, pipes: tuple[int, int]) -> None:
        self._reads, self._writes = pipes

    async def work(
        self, requests: Callable[[], AsyncIterator[work_pb2.WorkRequest]]
    ) -> AsyncIterator[work_pb2.WorkResponse]:
        pipe = os.fdopen(self._reads, "rb")
        writing = asyncio.ensure_future(self._write(requests()))
        try:
            while body := await asyncio.to_thread(read_frame, pipe):
                yield work_pb2.WorkResponse.FromString(body)
        finally:
            writing.cancel()

    async def _write(self, requests: AsyncIterator[work_pb2.WorkRequest]) -> None:
        with os.fdopen(self._writes, "wb", 0) as pipe:
            async for request in requests:
                await asyncio.to_thread(pipe.write, frame(request.SerializeToString()))

    def archive(self, sha256: str) -> AsyncIterator[bytes]:
        """Fetch nothing, because the task has stored the archives before."""
        raise BadMessage(f"the task has no archive {sha256}")


def frame(body: bytes) -> bytes:
    """Return a message with its length before it."""
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def read_frame(pipe: BinaryIO) -> bytes:
    """Return the next message; empty at the end."""
    length = pipe.read(LENGTH_BYTES)
    return pipe.read(int.from_bytes(length, "big")) if length else b""
