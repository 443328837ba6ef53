"""The journal: the records of all matches of one process, written during play.

Records are collected in memory and written with one `write` before anything that follows from them is sent to a bot
(`flush`). They are synced in groups, at most 20 ms later (`run`), and at once before a result is shown (`synced`). A
killed process loses no record that a bot has seen. A power cut loses at most 20 ms of moves, and never a result that
was shown.

The journal is a sequence of files, its segments. The keys of deals are in a file of their own,
see `arena.records.journal.deal_log`.
"""

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Self

import trio

from arena import durable_files
from arena.durable_files import Unwritten
from arena.records import records
from arena.records.journal.disk_budget import Grant
from arena.records.journal.match_log import MatchLog, SeatedAt
from arena.records.journal.segments import SEGMENT_SUFFIX
from arena.records.records import JOURNAL_MAGIC, AppendLog, check_match_id, framed
from arena.referee.ledger import UsedTime
from arena.referee.spec import MatchSpec
from cardarena.v1 import journal_pb2

SYNC_INTERVAL_S: Final = 0.02
"""The longest time in seconds from a move to its sync."""
SEGMENT_BYTES: Final = 64 << 20
"""The size of a segment in bytes after which a new one begins."""


class Journal:
    """The journal of one process, in a folder of its own (mode 0700).

    Raises:
      Unwritten: from any method that writes, once the disk has failed; nothing is
        written afterwards, and play must stop.
    """

    def __init__(
        self,
        folder: Path,
        *,
        matches: int = 0,
        on_broken: Callable[[str], None] = lambda _: None,
        on_write: Callable[[float], None] = lambda _: None,
        on_sync: Callable[[float], None] = lambda _: None,
    ) -> None:
        """Start a new segment in `folder`.

        `matches` is the highest number of a match in the journals before this one,
        whose matches may continue in it; `on_broken` is called with the reason when writing
        has ended. For `on_write` and `on_sync` see `AppendLog`.
        """
        self.folder = folder
        self._matches = matches
        self._segments = 0
        self._segment = ""
        # Sorts by time; the process id makes it unique.
        self._run = f"{time.time_ns():020d}-{os.getpid()}"
        try:
            durable_files.private_folder(folder)
            first = self._new_segment()
        except OSError as error:
            raise Unwritten(f"cannot write a journal in {folder}: {error.strerror}") from error
        self._records = log = AppendLog(
            first,
            f"the journal in {folder}",
            on_broken=on_broken,
            on_write=on_write,
            on_sync=on_sync,
            after_sync=self._roll_if_full,
        )
        # These are methods of the log itself, because they are on the path of every move.
        self.append: Final = log.append
        """Add a record, to be written by the next `flush`."""
        self.flush: Final = log.flush
        """Write all records added so far, so that they survive the process."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def match(
        self, spec: MatchSpec, seated: Sequence[SeatedAt] = (), room: Grant | None = None
    ) -> MatchLog:
        """Return the ledger of a new match; for `seated` and `room` see `MatchLog`.

        Raises `ValueError` if the match's id cannot be part of a file's name.
        """
        check_match_id(spec.match_id)
        self._matches += 1
        return MatchLog(self, self._matches, seated, room=room)

    def match_again(
        self,
        bodies: Sequence[bytes],
        seated: Sequence[SeatedAt] = (),
        used: Sequence[UsedTime] = (),
        room: Grant | None = None,
    ) -> MatchLog:
        """Return the ledger of a match that continues; its records in an earlier journal are copied first."""
        return MatchLog.continued(self, bodies, seated, used, room=room)

    def append_framed(self, records: bytes) -> None:
        """Add records that have their frames, as `match_log.reported` does."""
        self._records.append_framed(records)

    def next_number(self) -> int:
        """Return the number of a match that a worker has played; no other match has it."""
        self._matches += 1
        return self._matches

    @property
    def full_segments(self) -> tuple[Path, ...]:
        """The full segments of this process, oldest first."""
        if self._segments == 1:
            return ()
        segments = sorted(self.folder.glob(f"{self._run}-*{SEGMENT_SUFFIX}"))
        return tuple(segment for segment in segments if segment.name < self._segment)

    @property
    def position(self) -> str:
        """The place of the next record: the segment's name and the byte in it."""
        return f"{self._segment}:{self._records.file_bytes}"

    @property
    def written_bytes(self) -> int:
        return self._records.written_bytes

    @property
    def unsynced_bytes(self) -> int:
        return self._records.written_bytes - self._records.synced_bytes

    async def synced(self) -> None:
        """Wait until all records added so far are on disk."""
        await self._records.synced()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Sync at most 20 ms after each write, until cancelled."""
        await self._records.keep_synced(SYNC_INTERVAL_S, task_status=task_status)

    def close(self) -> None:
        """Write and sync all records, unless writing has ended, and close the segment."""
        self._records.close()

    def _roll_if_full(self) -> None:
        if self._records.file_bytes >= SEGMENT_BYTES:
            self._roll()

    def _roll(self) -> None:
        self._records.continue_in(self._new_segment)

    def _new_segment(self) -> int:
        """Begin the next segment with its first record; return the open file."""
        self._segments += 1
        self._segment = f"{self._run}-{self._segments:06d}{SEGMENT_SUFFIX}"
        run = journal_pb2.Record(run=journal_pb2.Run(boot_id=boot_id()))
        with contextlib.ExitStack() as unless_done:
            fd = durable_files.append_only(self.folder / self._segment)
            unless_done.callback(os.close, fd)
            # Shows `segments.alive` that this journal is being written. Without locks, as on some
            # network disks, a recovery must not run beside an arena.
            with contextlib.suppress(OSError):
                durable_files.lock(fd)
            records.write_all(fd, JOURNAL_MAGIC + framed(run.SerializeToString()))
            durable_files.sync(self.folder)
            unless_done.pop_all()
        return fd


def boot_id() -> str:
    """Return the id of the machine's current boot; empty if the system has none."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
