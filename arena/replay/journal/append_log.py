"""A log that is only appended to, and knows how much of it is on the disk.

Records are collected in memory (`append`), written together (`flush`: then they survive the
process), and brought to the disk together (`synced`: then they survive a power cut). Callers
that wait for the disk at the same time share one sync.

The owner of the log opens the file. The first write or sync that fails ends all writing.
"""

import logging
import os
import time
from collections.abc import Callable
from typing import NoReturn, Protocol

import trio

from arena.referee import Unwritten
from arena.replay import durable_files
from arena.replay.records import framed

_log = logging.getLogger(__name__)


class DiskMonitor(Protocol):
    """Receives the times that the disk takes, for metrics."""

    @property
    def wrote(self) -> Callable[[float], None]:
        """Called with the seconds of each write, on the path of every move."""
        ...

    def synced(self, seconds: float) -> None:
        """Called with the seconds of each sync."""
        ...


class AppendLog:
    """A log of records (`arena.replay.records`) that this process alone writes.

    Raises:
      Unwritten: from any method that writes or waits for the disk, once the disk has failed.
        Nothing is written afterwards, and play must stop. A failed sync is never tried again:
        the kernel may have dropped the data and report success the next time.
    """

    def __init__(
        self,
        fd: int,
        name: str,
        *,
        on_broken: Callable[[str], None],
        metrics: DiskMonitor | None = None,
        after_sync: Callable[[], None] = lambda: None,
    ) -> None:
        """Append to the open file `fd`, which this log closes.

        Args:
          fd: Open for appending.
          name: The name of the log in the sentence that `on_broken` gets.
          on_broken: Called once with the reason when writing has ended.
          metrics: Receives the times that the disk takes.
          after_sync: Called after each sync that a caller waited for; it may `continue_in`
            another file.
        """
        self._fd = fd
        self._name = name
        self._on_broken = on_broken
        self._metrics = metrics
        self._after_sync = after_sync
        self._buffer: list[bytes] = []
        self._broken = ""
        self._written = 0
        self._synced = 0
        self._syncing: trio.Event | None = None
        self._dirty: trio.Event | None = None
        self._file_begins = -os.fstat(fd).st_size
        """`written_bytes` at the first byte of the current file."""

    @property
    def broken(self) -> str:
        """Why writing has ended, in a sentence; empty while it has not."""
        return self._broken

    @property
    def written_bytes(self) -> int:
        """Bytes of records that were written so far."""
        return self._written

    @property
    def synced_bytes(self) -> int:
        """Of these, the bytes that are on the disk."""
        return self._synced

    @property
    def file_bytes(self) -> int:
        """Size of the current file with its head."""
        return self._written - self._file_begins

    def append(self, body: bytes) -> None:
        """Add a record, to be written by the next `flush`."""
        if self._broken:
            raise Unwritten(self._broken)
        self._buffer.append(framed(body))

    def flush(self) -> None:
        """Write all records added so far, so that they survive the process."""
        if not self._buffer:
            return
        if self._broken:
            raise Unwritten(self._broken)
        data = b"".join(self._buffer)
        began_s = time.perf_counter()
        try:
            durable_files.write_all(self._fd, data)
        except OSError as error:
            self._break(error)
        # Not before: while unwritten records are in the buffer, every flush fails, and nothing
        # that follows from them is sent.
        self._buffer.clear()
        if self._metrics is not None:
            self._metrics.wrote(time.perf_counter() - began_s)
        self._written += len(data)
        if self._dirty is not None:
            self._dirty.set()

    async def synced(self) -> None:
        """Wait until all records added so far are on disk."""
        self.check()
        self.flush()
        wanted = self._written
        while self._synced < wanted:
            self.check()
            if self._syncing is not None:
                await self._syncing.wait()
            else:
                await self._sync()

    async def keep_synced(
        self,
        interval_s: float,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Sync at most `interval_s` after each write, until cancelled."""
        self._dirty = trio.Event()
        task_status.started()
        while not self._broken:
            await self._dirty.wait()
            self._dirty = trio.Event()
            await trio.sleep(interval_s)
            if self._synced < self._written and self._syncing is None:
                try:
                    await self._sync()
                except Unwritten:
                    return

    def sync_now(self) -> None:
        """Write and sync all records. Blocks."""
        self.check()
        self.flush()
        try:
            durable_files.sync_data(self._fd)
        except OSError as error:
            self._break(error)
        self._synced = self._written

    def continue_in(self, next_file: Callable[[], int]) -> None:
        """Sync this file, and continue in the one that `next_file` opens. Blocks."""
        try:
            durable_files.sync_data(self._fd)
            full, self._fd = self._fd, next_file()
            os.close(full)
        except OSError as error:
            self._break(error)
        self._synced = self._written
        self._file_begins = self._written - os.fstat(self._fd).st_size

    def check(self) -> None:
        """Raise `Unwritten` if writing has ended."""
        if self._broken:
            raise Unwritten(self._broken)

    def end(self, why: str) -> None:
        """End writing, because a log that belongs to this one has failed."""
        self._broken = self._broken or why

    def close(self) -> None:
        """Write and sync all records, unless writing has ended, and close the file."""
        try:
            if not self._broken:
                self.sync_now()
        finally:
            os.close(self._fd)

    async def _sync(self) -> None:
        self._syncing = trio.Event()
        written = self._written
        try:
            began_s = time.perf_counter()
            await trio.to_thread.run_sync(durable_files.sync_data, self._fd)
            if self._metrics is not None:
                self._metrics.synced(time.perf_counter() - began_s)
            self._after_sync()
            # It is higher already if another file was begun.
            self._synced = max(self._synced, written)
        except OSError as error:
            self._break(error)
        finally:
            self._syncing.set()
            self._syncing = None

    def _break(self, error: OSError) -> NoReturn:
        if not self._broken:
            self._broken = f"{self._name} cannot be written: {error.strerror}"
            _log.error(self._broken)
            self._on_broken(self._broken)
        raise Unwritten(self._broken) from error
