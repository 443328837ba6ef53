"""Work on lease from the store, for a runner in trio."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from trio.to_thread import run_sync

from arena.schedule.deal_sets import MatchOutcome
from arena.schedule.work import DealSetJob
from arena.server.shared_transactions import SharedTransactions, patiently
from arena.store import Leases
from arena.store.leases import LeaseBegin, LeaseReport


def _unix_ms() -> int:
    return time.time_ns() // 1_000_000


async def _always() -> bool:
    return True


class LeasedWork:
    """A `WorkSource` over the store's leases; each call is on disk when it returns.

    A call is retried while another program has locked the store, as results are. Begins and reports that wait at the
    same time share a transaction.
    """

    def __init__(
        self,
        leases: Leases,
        now_unix_ms: Callable[[], int] = _unix_ms,
        *,
        goes_on: Callable[[], Awaitable[bool]] = _always,
    ) -> None:
        """Nothing is leased once `goes_on` is false, as when a competition is paused."""
        self._leases = leases
        self._now_unix_ms = now_unix_ms
        self._goes_on = goes_on
        self._begins = SharedTransactions(leases.begin_many)
        self._reports = SharedTransactions(self._report_many)

    async def start_anew(self) -> None:
        """End all leases. Only one process plays in a data folder."""
        await run_sync(patiently, self._leases.start_anew)

    async def lease(self, worker: str, most: int) -> Sequence[DealSetJob]:
        """As `WorkSource.lease`."""
        if not await self._goes_on():
            return ()
        now_unix_ms = self._now_unix_ms()
        call = partial(self._leases.lease, worker, most, now_unix_ms=now_unix_ms)
        return await run_sync(patiently, call)

    async def heartbeat(self, worker: str) -> frozenset[str]:
        """As `WorkSource.heartbeat`."""
        now_unix_ms = self._now_unix_ms()
        call = partial(self._leases.heartbeat, worker, now_unix_ms=now_unix_ms)
        return await run_sync(patiently, call)

    async def begin(self, worker: str, job: DealSetJob, player: str) -> DealSetJob:
        """As `WorkSource.begin`."""
        return await self._begins.write(LeaseBegin(worker, job, player))

    async def report(
        self, worker: str, job: DealSetJob, outcomes: Mapping[str, MatchOutcome]
    ) -> None:
        """As `WorkSource.report`."""
        await self._reports.write(LeaseReport(worker, job, outcomes))

    def _report_many(self, reports: Sequence[LeaseReport]) -> Sequence[None]:
        self._leases.report_many(reports, now_unix_ms=self._now_unix_ms())
        return [None] * len(reports)

    async def give_up(self, worker: str, job: DealSetJob) -> None:
        """As `WorkSource.give_up`."""
        await run_sync(patiently, partial(self._leases.give_up, worker, job))
