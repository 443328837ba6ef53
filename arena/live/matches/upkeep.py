"""Keeps journals small while the arena runs: it removes records that no match needs any more.

The records of a match are needed until its result is recorded and its replay is published; the records of the latest
ends are needed while a bot may not have received them. A journal of an earlier process is removed once nothing of it is
needed. Until then its other records are removed, as they are from the journal of this process.
"""

import contextlib
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import trio

from arena import durable_files
from arena.durable_files import Unwritten
from arena.live.matches.matches import Matches
from arena.live.matches.results import ArenaRecords
from arena.records.journal.compaction import Compactor
from arena.records.journal.recovery import JournalRun
from arena.records.read import replay_path

CHECK_S: Final = 10.0
"""The time in seconds between two checks."""
PAUSE_S: Final = 0.005
"""Pause in seconds after each piece of work, so that the loop's thread gets the interpreter."""

_log = logging.getLogger(__name__)


class JournalUpkeep:
    """Compacts the journals of one folder. Made in trio."""

    def __init__(self, records: ArenaRecords, matches: Matches) -> None:
        self._journal = records.journal
        self._matches = matches
        self._recovery = records.recovery
        self._replays = records.replays
        self._compactor = Compactor(_pause)
        self._checking = trio.Lock()
        self._earlier: dict[tuple[Path, ...], tuple[Compactor, frozenset[str]]] = {}
        """For each journal of an earlier process, what was needed of it at the last check."""

    async def run(self) -> None:
        """Compact them every `CHECK_S` seconds until cancelled."""
        with contextlib.suppress(Unwritten):  # the arena ends, and logs the reason
            while True:
                await trio.sleep(CHECK_S)
                await self.check()

    async def check(self) -> None:
        """Remove the records that are not needed now. Raises `Unwritten` if the journal cannot be written."""
        async with self._checking:
            # The lock waits for a backup that copies the journal and for a program that removes replays.
            with durable_files.folder_locked(self._journal.folder) as held:
                if held:
                    await self._check()

    async def _check(self) -> None:
        # Both are read at once: segments that are full now have no records of later matches.
        full, needed = self._journal.full_segments, self._matches.needed_records
        # What this process copied of earlier journals has to be on the disk before these go.
        if self._recovery.runs:
            await self._journal.synced()
        try:
            await self.drop_spent()
            for run in self._recovery.runs:
                await self._compact_earlier(run)
            if full:
                freed = await trio.to_thread.run_sync(self._compactor.compact, full, needed)
                _log_freed(freed, full)
        except OSError as error:  # the only effect is that the next start reads more
            _log.warning("a journal cannot be made smaller", extra={"why": error.strerror})

    async def drop_spent(self) -> None:
        """Remove the journals of earlier processes of which nothing is needed.

        Raises `OSError` if a file cannot be removed, and `Unwritten` if the journal cannot be written.
        """
        recovery, waiting = self._recovery, self._matches.waiting
        unpublished = self._unpublished
        spent = recovery.spent(waiting, unpublished)
        if not spent:
            return
        await self._journal.synced()
        for segment in spent:
            segment.unlink(missing_ok=True)
        recovery.forget_spent(waiting, unpublished)
        _log.info("earlier journals were removed", extra={"segments": len(spent)})

    async def _compact_earlier(self, run: JournalRun) -> None:
        """Remove unneeded records of an earlier journal that has needed ones."""
        if run.damaged:
            return
        needed = run.needs(self._matches.waiting, self._unpublished)
        compactor, before = self._earlier.get(run.segments, (Compactor(_pause), None))
        if needed == before:
            return
        self._earlier[run.segments] = compactor, needed
        there = [segment for segment in run.segments if segment.exists()]
        freed = await trio.to_thread.run_sync(
            lambda: compactor.compact(there, needed, sessions=False)
        )
        _log_freed(freed, there)

    @property
    def _unpublished(self) -> frozenset[str]:
        """Matches of earlier processes that have ended and have no replay so far, by id."""
        return frozenset(
            match_id
            for run in self._recovery.runs
            for match_id in run.unpublished
            if not replay_path(self._replays, match_id).exists()
        )


def _pause() -> None:
    """Let other threads have the interpreter; stop if the arena ends."""
    trio.from_thread.check_cancelled()
    time.sleep(PAUSE_S)


def _log_freed(freed: int, segments: Sequence[Path]) -> None:
    if freed:
        fields = {"segments": len(segments), "freed_bytes": freed}
        _log.info("a journal was compacted", extra=fields)
