"""Connects a worker process to an arena on another machine.

The process is the one that `arena serve --workers` starts. The link passes its messages on, fetches archives that an
assignment needs before it passes the assignment on, and starts the process again with each new call.
"""

import contextlib
import logging
import queue
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final

from arena.cli.arena_client import NoAnswer, Server, ServiceClient, channel_of
from arena.cli.sandbox_options import SandboxChoice
from arena.cli.worker_process import worker_command
from arena.server.submissions.installed_wheels import INSTALLED
from arena.server.workers.messages import PIECE_BYTES, BadMessage, FrameReader, frame
from arena.store import Blobs
from arena.store.blobs import remove_unpacked, size_of
from arena.submission.archive import MAX_ARCHIVE_BYTES, BadArchive, read_archive
from cardarena.v1 import work_pb2, work_pb2_grpc

AGAIN_S: Final = 1.0
"""Wait between the end of a call and the next; doubled while the arena does not answer."""
LONGEST_AGAIN_S: Final = 30.0
STOP_S: Final = 10.0
"""Time for the process to end after its standard input was closed."""
_KEEPALIVE: Final = (
    # Otherwise a worker that is cut off would notice it only after minutes.
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
)
_KEY_HINT: Final = "make a key with: arena keys new worker"

_log = logging.getLogger(__name__)


def limit_cache(data: Path, max_bytes: int) -> None:
    """Remove archives and installed wheels of earlier runs beyond `max_bytes` each. Nothing may be in play."""
    Blobs(data).shrink(max_bytes)
    installed = data / INSTALLED
    if size_of(installed) > max_bytes:
        for folder in installed.iterdir():
            remove_unpacked(folder)  # installed again when a bot needs it


class Stopped(Exception):
    """The arena refuses the worker, so that trying again does not help. The text says why."""


class WorkerLink:
    """One worker process and its call."""

    def __init__(
        self,
        number: int,
        server: Server,
        data: Path,
        *,
        confinement: SandboxChoice,
        speed_class: int,
    ) -> None:
        """Nothing is started yet; `number` differs from those of other links in `data`."""
        self._number, self._server, self._data = number, server, data
        self._confinement, self._speed_class = confinement, speed_class
        self._blobs = Blobs(data)
        self._ends = threading.Event()
        self._drains = False
        self._call: _Call | None = None

    @property
    def is_draining(self) -> bool:
        """Whether it takes no further deal-sets."""
        return self._drains

    @property
    def is_idle(self) -> bool:
        """Whether nothing is in play."""
        call = self._call  # its thread may set it to None at any time
        return call is None or call.in_play == 0

    def change_speed_class(self, speed_class: int) -> None:
        """Enrol anew with another speed class, once what is in play is over."""
        self._speed_class = speed_class
        call = self._call
        if call is not None:
            call.leave()

    def drain(self) -> None:
        """End once what is in play is over."""
        self._drains = True
        if self._call is None:
            self._ends.set()
        else:
            self._call.leave()

    def stop(self) -> None:
        """End at once."""
        self._ends.set()
        if self._call is not None:
            self._call.cancel()

    def run(self, told: Callable[[str], object]) -> None:
        """Work until stopped; `told` is told why calls end.

        Raises:
          Stopped: if the arena refuses the worker.
        """
        wait_s, last = AGAIN_S, ""
        while not self._ends.is_set():
            try:
                began = self._work()
            except NoAnswer as error:
                if not error.passes and error.reason != "DRAINING":
                    raise Stopped(error.message) from error
                began, text = False, error.message
            else:
                text = "the arena has ended the call"
            if self._drains:
                return
            if text != last:
                told(f"worker {self._number}: {text}; it connects again")
            last = text
            wait_s = AGAIN_S if began else min(LONGEST_AGAIN_S, 2 * wait_s)
            self._ends.wait(wait_s)

    def _command(self, folder: Path, speed_class: int) -> list[str]:
        command = worker_command(
            self._data, confinement=self._confinement, take_all=False, speed_class=speed_class
        )
        return command(self._number, folder)

    def _work(self) -> bool:
        """Play for one call; returns whether the arena has sent anything."""
        folders = self._data / "workers"
        folders.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{self._number}-", dir=folders))
        enrolled = self._speed_class
        try:
            with (
                channel_of(self._server, _KEEPALIVE) as channel,
                _process(self._command(folder, enrolled)) as process,
            ):
                client = ServiceClient(
                    work_pb2_grpc.WorkServiceStub(channel), self._server, _KEY_HINT
                )
                call = self._call = _Call(client, process, self._blobs, folder)
                if self._drains or self._speed_class != enrolled:
                    call.leave()
                return call.run()
        finally:
            self._call = None
            shutil.rmtree(folder, ignore_errors=True)


class _Call:
    """A call of `WorkService.Work`, and the process whose messages it carries."""

    def __init__(
        self,
        client: ServiceClient[work_pb2_grpc.WorkServiceStub],
        process: "subprocess.Popen[bytes]",
        blobs: Blobs,
        folder: Path,
    ) -> None:
        self._client, self._process, self._blobs, self._folder = client, process, blobs, folder
        self._sent: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        """Messages to the arena; None ends the call."""
        self.in_play = 0
        """Deal-sets that were assigned and are not done."""

    def leave(self) -> None:
        """Want no further deal-sets; the arena then ends the call."""
        self._sent.put(frame(work_pb2.FromWorker(leaves=work_pb2.WorkerLeaves())))

    def cancel(self) -> None:
        """End the process, and so the call."""
        self._process.kill()

    def run(self) -> bool:
        """Carry messages until one side ends; returns whether the arena has sent any.

        Raises:
          NoAnswer: if the call fails.
        """
        reader = threading.Thread(target=self._read_process)
        reader.start()
        frames, began = FrameReader(), False
        try:
            stub = self._client.stub
            for response in self._client.stream(stub.Work, self._requests()):
                frames.feed(response.piece)
                while (body := frames.next()) is not None:
                    began = True
                    self._pass_on(body)
        except (BadMessage, OSError) as error:
            _log.error("a call is ended", extra={"why": str(error)})
        finally:
            self._sent.put(None)
            _end(self._process)
            reader.join()
        return began

    def _requests(self) -> Iterator[work_pb2.WorkRequest]:
        while (message := self._sent.get()) is not None:
            for at in range(0, len(message), PIECE_BYTES):
                yield work_pb2.WorkRequest(piece=message[at : at + PIECE_BYTES])

    def _read_process(self) -> None:
        """Pass on whole messages of the process, until it ends."""
        frames, output = FrameReader(), self._process.stdout
        assert output is not None
        while data := output.read1(PIECE_BYTES):  # type: ignore[attr-defined]
            frames.feed(data)
            while (body := frames.next()) is not None:
                self._sent.put(frame(work_pb2.FromWorker.FromString(body)))
        self._sent.put(None)

    def _pass_on(self, body: bytes) -> None:
        message = work_pb2.ToWorker.FromString(body)
        self.in_play += message.HasField("assignment") - message.HasField("done")
        for each in message.assignment.entrants:
            if not each.archive_sha256:
                continue
            if self._blobs.has(each.archive_sha256):
                self._blobs.touch(each.archive_sha256)
            else:
                self._fetch(each.archive_sha256)
        stdin = _stdin(self._process)
        stdin.write(frame(message))
        stdin.flush()

    def _fetch(self, sha256: str) -> None:
        """Fetch an archive of these contents; any other is refused.

        Raises:
          BadMessage: if the arena sends something else.
          NoAnswer: if the call fails.
        """
        path, size = self._folder / "archive", 0
        request = work_pb2.GetArchiveRequest(sha256=sha256)
        with path.open("wb") as file:
            for response in self._client.stream(self._client.stub.GetArchive, request):
                size += len(response.piece)
                if size > MAX_ARCHIVE_BYTES:
                    raise BadMessage(f"the archive {sha256} is too large")
                file.write(response.piece)
        try:
            archive = read_archive(path)
        except BadArchive as error:
            raise BadMessage(f"the archive {sha256} is damaged: {error}") from error
        if archive.sha256 != sha256:
            raise BadMessage(f"the archive {sha256} has other contents")
        self._blobs.keep(archive)


@contextlib.contextmanager
def _process(command: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker process, which has ended after the block."""
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        yield process
    finally:
        _end(process)
        if process.stdout is not None:
            process.stdout.close()


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process by its standard input, and wait for it."""
    with contextlib.suppress(OSError):
        _stdin(process).close()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _stdin(process: "subprocess.Popen[bytes]") -> IO[bytes]:
    assert process.stdin is not None
    return process.stdin
