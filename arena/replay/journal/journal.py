"""The journal: everything that happens in the matches of one process, as it happens.

Records are collected in memory and written with one `write` before anything
that follows from them is sent to a bot (`flush`); they reach the disk in
groups, at most 20 ms later (`run`), and at once where a result is to be shown
(`synced`). So a killed process loses nothing that a bot has seen. A power cut
loses at most 20 ms of moves, and never a result that was shown.

It is one log in many files, its segments: a full one is followed by the next.

The keys of deals stand in a file of their own, see `arena.replay.journal.deal_log`.
"""

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import trio

from arena.referee import MatchSpec, Unwritten, UsedTime
from arena.replay import disk
from arena.replay.journal.append_log import AppendLog, DiskWatch
from arena.replay.journal.match_log import MatchLog, Room, SeatedAt
from arena.replay.journal.segments import SEGMENT_SUFFIX
from arena.replay.records import JOURNAL_MAGIC, check_match_id, framed
from cardarena.v1 import journal_pb2

SYNC_INTERVAL_S: Final = 0.02
"""Longest time that a move stays off the disk."""
SEGMENT_BYTES: Final = 64 << 20
"""A segment that has grown past this is followed by a new one."""


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
        watch: DiskWatch | None = None,
    ) -> None:
        """Start a new segment in `folder`.

        `matches` is the highest number of a match in the journals before this one,
        which may go on in it; `on_broken` is told why writing ended.
        """
        self.folder = folder
        self._matches = matches
        self._segments = 0
        self._segment = ""
        # Sorts by time; the process id keeps two processes apart.
        self._run = f"{time.time_ns():020d}-{os.getpid()}"
        try:
            disk.private_folder(folder)
            first = self._new_segment()
        except OSError as error:
            raise Unwritten(f"cannot write a journal in {folder}: {error.strerror}") from error
        self._records = records = AppendLog(
            first,
            f"the journal in {folder}",
            on_broken=on_broken,
            watch=watch,
            after_sync=self._roll_if_full,
        )
        # The log's own methods, as each is on the way of every move.
        self.append: Final = records.append
        """Add a record, to be written by the next `flush`."""
        self.flush: Final = records.flush
        """Write all records added so far, so that they survive the process."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def match(
        self, spec: MatchSpec, seated: Sequence[SeatedAt] = (), room: Room | None = None
    ) -> MatchLog:
        """The ledger of a match that begins; for `seated` and `room` see `MatchLog`.

        Raises:
          ValueError: if the match's id cannot be part of a file's name.
        """
        check_match_id(spec.match_id)
        self._matches += 1
        return MatchLog(self, self._matches, seated, room=room)

    def match_again(
        self,
        bodies: Sequence[bytes],
        seated: Sequence[SeatedAt] = (),
        used: Sequence[UsedTime] = (),
        room: Room | None = None,
    ) -> MatchLog:
        """The ledger of a match that goes on: its records, of an earlier journal, come first."""
        number = journal_pb2.Record.FromString(bodies[0]).match
        log = MatchLog(self, number, seated, room=room)
        log.go_on(bodies, used)
        return log

    @property
    def full_segments(self) -> tuple[Path, ...]:
        """The segments of this process that nothing is appended to any more, oldest first."""
        if self._segments == 1:
            return ()
        found = sorted(self.folder.glob(f"{self._run}-*{SEGMENT_SUFFIX}"))
        return tuple(each for each in found if each.name < self._segment)

    @property
    def position(self) -> str:
        """Where the next record will be written: the segment's name and the byte in it."""
        return f"{self._segment}:{self._records.file_bytes}"

    @property
    def written_bytes(self) -> int:
        """Bytes of records that were written so far."""
        return self._records.written_bytes

    @property
    def unsynced_bytes(self) -> int:
        """Bytes that are written and may not have reached the disk."""
        return self._records.written_bytes - self._records.synced_bytes

    async def synced(self) -> None:
        """Wait until all records added so far are on disk."""
        await self._records.synced()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep the disk at most 20 ms behind, until cancelled."""
        await self._records.keep_synced(SYNC_INTERVAL_S, task_status=task_status)

    def close(self) -> None:
        """Bring what is left to the disk, if it can be written, and close the segment."""
        self._records.close()

    def _roll_if_full(self) -> None:
        if self._records.file_bytes >= SEGMENT_BYTES:
            self._roll()

    def _roll(self) -> None:
        """Go on in a new segment; matches in progress simply continue there."""
        self._records.continue_in(self._new_segment)

    def _new_segment(self) -> int:
        """Begin the next segment, up to its first record; returns its open file."""
        self._segments += 1
        self._segment = f"{self._run}-{self._segments:06d}{SEGMENT_SUFFIX}"
        run = journal_pb2.Record(run=journal_pb2.Run(boot_id=boot_id()))
        with contextlib.ExitStack() as unless_done:
            fd = disk.append_only(self.folder / self._segment)
            unless_done.callback(os.close, fd)
            # Tells `segments.alive` that this journal is being written. Where files cannot be
            # locked, as on some network disks, nobody may recover while an arena runs.
            with contextlib.suppress(OSError):
                disk.lock(fd)
            disk.write_all(fd, JOURNAL_MAGIC + framed(run.SerializeToString()))
            disk.sync_folder(self.folder)
            unless_done.pop_all()
        return fd


def boot_id() -> str:
    """Names the time since this machine was started; empty where the system does not tell."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
