"""Keeps journals small while the arena runs: what no match needs any more is removed.

A match needs its records until its result is recorded and its replay is published, and the latest
ends for as long as a bot may not have heard of them. A journal of an earlier process goes once
nothing of it is needed; where something is, the rest of it goes, as with this process's own.
"""

import contextlib
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import trio

from arena.referee import Unwritten
from arena.replay.journal.compaction import Compactor
from arena.replay.journal.journal import Journal
from arena.replay.journal.recovery import JournalRun, Recovery
from arena.replay.read import replay_path
from arena.server.matches.matches import Matches

LOOK_S: Final = 10.0
"""Between two looks at what is needed."""
PAUSE_S: Final = 0.005
"""After each piece of work, so that the loop's thread is not kept waiting for the interpreter."""

_log = logging.getLogger(__name__)


class JournalUpkeep:
    """Looks after the journals of one folder. Made in trio."""

    def __init__(
        self, journal: Journal, matches: Matches, recovery: Recovery, replays: Path
    ) -> None:
        """`recovery` is what earlier processes left, `replays` where replays are published."""
        self._journal = journal
        self._matches = matches
        self._recovery = recovery
        self._replays = replays
        self._compactor = Compactor(_pause)
        self._looking = trio.Lock()
        self._earlier: dict[tuple[Path, ...], tuple[Compactor, frozenset[str]]] = {}
        """Of each journal of an earlier process: what was needed of it at the last look."""

    async def run(self) -> None:
        """Look after them until cancelled."""
        with contextlib.suppress(Unwritten):  # the arena ends, and says why
            while True:
                await trio.sleep(LOOK_S)
                await self.look()

    async def look(self) -> None:
        """Remove what is not needed now.

        Raises:
          Unwritten: if the journal cannot be written.
        """
        async with self._looking:
            await self._look()

    async def _look(self) -> None:
        # Both before anything else can happen: what is full now has no records of later matches.
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
                _tell(freed, full)
        except OSError as error:  # there is more to read at the next start, and no more to it
            _log.warning("a journal cannot be made smaller", extra={"why": error.strerror})

    async def drop_spent(self) -> None:
        """Remove the journals of earlier processes of which nothing is needed.

        Raises:
          OSError: if a file cannot be removed.
          Unwritten: if the journal cannot be written.
        """
        recovery, waiting = self._recovery, self._matches.waiting
        unpublished = self._unpublished
        spent = recovery.spent(waiting, unpublished)
        if not spent:
            return
        await self._journal.synced()
        for segment in spent:
            segment.unlink(missing_ok=True)
        recovery.runs = [
            run for run in recovery.runs if run.damaged or run.needs(waiting, unpublished)
        ]
        _log.info("earlier journals were removed", extra={"segments": len(spent)})

    async def _compact_earlier(self, run: JournalRun) -> None:
        """Drop what is not needed any more of an earlier journal of which something is."""
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
        _tell(freed, there)

    @property
    def _unpublished(self) -> frozenset[str]:
        """Matches of earlier processes that are over and have no replay so far, by id."""
        return frozenset(
            match_id
            for run in self._recovery.runs
            for match_id in run.unpublished
            if not replay_path(self._replays, match_id).exists()
        )


def _pause() -> None:
    """Let others have the interpreter; give up if the arena ends."""
    trio.from_thread.check_cancelled()
    time.sleep(PAUSE_S)


def _tell(freed: int, segments: Sequence[Path]) -> None:
    if freed:
        fields = {"segments": len(segments), "freed_bytes": freed}
        _log.info("what was not needed of a journal is gone", extra=fields)
