"""Verifies matches that workers on other machines have played, in processes beside the event loop.

The packs are the arena's own, so states, faults and the result follow from the moves and times that a worker reports.
"""

import os
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Final

import trio

from arena.referee.step_processes import begin_worker
from arena.replay.bot_notes import without_notes
from arena.replay.deal_book import Opening
from arena.replay.playback import Discrepancy
from arena.replay.read import Replay, Unplayable
from arena.replay.records import Damaged, Framed
from arena.replay.verify import verify
from arena.replay.write import with_revealed
from arena.schedule.deal_sets import MatchOutcome
from arena.server.matches.results import match_outcome
from arena.server.workers.messages import BadMessage

PROCESSES: Final = max(2, (os.cpu_count() or 1) - 1)
"""They start as reports wait for them. One core is left to the arena's process."""

Verify = Callable[[Sequence[bytes], Opening], Awaitable[MatchOutcome]]
"""The outcome of a match by its records and the opening of its deals.

Raises:
  BadMessage: if the records are not true.
"""


async def verified_here(records: Sequence[bytes], opening: Opening) -> MatchOutcome:
    """A `Verify` in this process, which it blocks."""
    return _result(_outcome(records, opening))


class VerifyingProcesses:
    """A `Verify` in processes of lower priority, which start when they are first needed. Used in trio."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        # Otherwise the reports that wait would take the threads that write to the store and the journal.
        self._limiter = trio.CapacityLimiter(2 * PROCESSES)

    async def __call__(self, records: Sequence[bytes], opening: Opening) -> MatchOutcome:
        """As `Verify`."""
        return await trio.to_thread.run_sync(
            self._verified, records, opening, limiter=self._limiter
        )

    def _verified(self, records: Sequence[bytes], opening: Opening) -> MatchOutcome:
        pool = self._pool = self._pool or ProcessPoolExecutor(
            PROCESSES, mp_context=get_context("spawn"), initializer=begin_worker
        )
        try:
            return _result(pool.submit(_outcome, records, opening).result())
        except BrokenProcessPool:
            self._pool = None
            raise BadMessage("the process that verified it has died") from None

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def _result(found: MatchOutcome | str) -> MatchOutcome:
    if isinstance(found, str):
        raise BadMessage(found)
    return found


def _outcome(records: Sequence[bytes], opening: Opening) -> MatchOutcome | str:
    """The outcome by the records, or why they are not true."""
    try:
        public, _ = without_notes(records)
        bodies = with_revealed(public, opening)
        return match_outcome(verify(Replay.of_records(Framed(0, each) for each in bodies)).outcome)
    except (Damaged, Discrepancy, Unplayable) as error:
        return f"a replay is not true: {error}"
    except Exception as error:  # hostile records must not end the arena
        return f"a replay cannot be verified: {type(error).__name__}"
