"""The journal: everything that happens in the matches of one process, as it happens.

Records are collected in memory and written with one `write` before anything
that follows from them is sent to a bot (`flush`); they reach the disk in
groups, at most 20 ms later (`run`), and at once where a result is to be shown
(`synced`). A killed process so loses nothing that a bot has seen, a power cut
at most 20 ms of moves and never a result.

The keys of deals stand in a file of their own, see `arena.replay.journal.deal_log`.
"""

import contextlib
import fcntl
import logging
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self

import trio

from arena.referee import MatchSpec, Unwritten
from arena.replay.disk import append_only, sync_data, write_all
from arena.replay.journal.match_log import MatchLog, SeatedAt
from arena.replay.journal.segments import SEGMENT_SUFFIX
from arena.replay.records import JOURNAL_MAGIC, check_match_id, framed, sync_folder
from cardarena.v1 import journal_pb2

SYNC_INTERVAL_S: Final = 0.02
"""Longest time that a move stays off the disk."""
SEGMENT_BYTES: Final = 64 << 20
"""A segment that has grown past this is followed by a new one."""

_log = logging.getLogger(__name__)


class JournalWatch(Protocol):
    """Is told how long the journal's disk takes, for metrics."""

    @property
    def wrote(self) -> Callable[[float], None]:
        """Takes the time of one write. Called on the way of every move."""
        ...

    def synced(self, seconds: float) -> None:
        """What was written has reached the disk."""
        ...


class Journal:
    """The journal of one process, in a folder of its own (mode 0700).

    Raises:
      Unwritten: from any method that writes, once the disk has refused; from
        then on nothing is written any more and play must stop.
    """

    def __init__(
        self,
        folder: Path,
        *,
        matches: int = 0,
        on_broken: Callable[[str], None] = lambda _: None,
        watch: JournalWatch | None = None,
    ) -> None:
        """Start a new segment in `folder`.

        `matches` is the highest number of a match in the journals before this one,
        which may go on in it; `on_broken` is told why writing ended.
        """
        self.folder = folder
        self._watch = watch
        self._on_broken = on_broken
        self._buffer: list[bytes] = []
        self._broken = ""
        self._matches = matches
        self._written = 0
        self._synced = 0
        self._syncing: trio.Event | None = None
        self._dirty: trio.Event | None = None
        self._segments = 0
        self._segment = ""
        self._segment_at = 0
        # Sorts by time; the process id keeps two processes apart.
        self._run = f"{time.time_ns():020d}-{os.getpid()}"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._fd = self._new_segment()
        except OSError as error:
            raise Unwritten(f"cannot write a journal in {folder}: {error.strerror}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def match(self, spec: MatchSpec, seated: Sequence[SeatedAt] = ()) -> MatchLog:
        """The ledger of a match that begins; for `seated` see `MatchLog`.

        Raises:
          ValueError: if the match's id cannot be part of a file's name.
        """
        check_match_id(spec.match_id)
        self._matches += 1
        return MatchLog(self, self._matches, seated)

    def match_again(self, bodies: Sequence[bytes], seated: Sequence[SeatedAt] = ()) -> MatchLog:
        """The ledger of a match that goes on: its records, of an earlier journal, come first."""
        number = journal_pb2.Record.FromString(bodies[0]).match
        log = MatchLog(self, number, seated)
        log.go_on(bodies)
        return log

    def append(self, body: bytes) -> None:
        """Add a record, to be written by the next `flush`."""
        if self._broken:
            raise Unwritten(self._broken)
        self._buffer.append(framed(body))

    @property
    def position(self) -> str:
        """Where the next record will be written: the segment's name and the byte in it."""
        return f"{self._segment}:{self._segment_at}"

    @property
    def written_bytes(self) -> int:
        """Bytes of records that were written so far."""
        return self._written

    @property
    def unsynced_bytes(self) -> int:
        """Bytes that are written and may not have reached the disk."""
        return self._written - self._synced

    def flush(self) -> None:
        """Write all records added so far, so that they survive the process."""
        if not self._buffer:
            return
        data = b"".join(self._buffer)
        self._buffer.clear()
        began_s = time.perf_counter()
        self._write(self._fd, data)
        if self._watch is not None:
            self._watch.wrote(time.perf_counter() - began_s)
        self._written += len(data)
        self._segment_at += len(data)
        if self._dirty is not None:
            self._dirty.set()

    async def synced(self) -> None:
        """Wait until all records added so far are on disk."""
        self.flush()
        wanted = self._written
        while self._synced < wanted:
            if self._broken:
                raise Unwritten(self._broken)
            if self._syncing is not None:
                await self._syncing.wait()
            else:
                await self._sync()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep the disk at most 20 ms behind, until cancelled."""
        self._dirty = trio.Event()
        task_status.started()
        while not self._broken:
            await self._dirty.wait()
            self._dirty = trio.Event()
            await trio.sleep(SYNC_INTERVAL_S)
            if self._synced < self._written and self._syncing is None:
                try:
                    await self._sync()
                except Unwritten:
                    return

    def close(self) -> None:
        """Write what is left and close the files."""
        try:
            if not self._broken:
                self.flush()
                sync_data(self._fd)
        except OSError as error:
            self._break(error)
        finally:
            os.close(self._fd)

    async def _sync(self) -> None:
        self._syncing = trio.Event()
        written = self._written
        try:
            began_s = time.perf_counter()
            await trio.to_thread.run_sync(sync_data, self._fd)
            if self._watch is not None:
                self._watch.synced(time.perf_counter() - began_s)
            if self._segment_at >= SEGMENT_BYTES:
                self._roll()
            self._synced = max(self._synced, written)
        except OSError as error:
            # After a failed sync the kernel may have dropped the pages: no retry.
            self._break(error)
        finally:
            self._syncing.set()
            self._syncing = None

    def _roll(self) -> None:
        """Go on in a new segment; matches in progress simply continue there."""
        sync_data(self._fd)
        full, self._fd = self._fd, self._new_segment()
        os.close(full)

    def _new_segment(self) -> int:
        self._segments += 1
        name = f"{self._run}-{self._segments:06d}{SEGMENT_SUFFIX}"
        fd = append_only(self.folder / name)
        # Tells `recover` that this journal is alive. Where files cannot be locked,
        # as on some network disks, nobody may recover while an arena runs.
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        run = journal_pb2.Record(run=journal_pb2.Run(boot_id=boot_id()))
        head = JOURNAL_MAGIC + framed(run.SerializeToString())
        write_all(fd, head)
        self._segment, self._segment_at = name, len(head)
        sync_folder(self.folder)
        return fd

    def _write(self, fd: int, data: bytes) -> None:
        if self._broken:
            raise Unwritten(self._broken)
        try:
            write_all(fd, data)
        except OSError as error:
            self._break(error)

    def _break(self, error: OSError) -> None:
        self._broken = f"the journal in {self.folder} cannot be written: {error.strerror}"
        _log.error("%s", self._broken)
        self._on_broken(self._broken)
        raise Unwritten(self._broken) from error


def boot_id() -> str:
    """Names the time since this machine was started; empty where the system does not tell."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
