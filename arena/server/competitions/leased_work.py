"""Work on lease from the store, for a runner in trio."""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from trio.to_thread import run_sync

from arena.schedule.deal_sets import MatchOutcome
from arena.schedule.work import DealSetJob
from arena.server.matches.results import LOCKED_ATTEMPTS
from arena.store import Leases, StoreBusy

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


def _unix_ms() -> int:
    return time.time_ns() // 1_000_000


async def _always() -> bool:
    return True


class LeasedWork:
    """A `WorkSource` over the store's leases; each call is on disk when it returns.

    A call is retried while another program has locked the store, as results are.
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

    async def start_anew(self) -> None:
        """End all leases. Only one process plays in a data folder."""
        await run_sync(_patiently, self._leases.start_anew)

    async def lease(self, worker: str, most: int) -> Sequence[DealSetJob]:
        """As `WorkSource.lease`."""
        if not await self._goes_on():
            return ()
        now_unix_ms = self._now_unix_ms()
        call = partial(self._leases.lease, worker, most, now_unix_ms=now_unix_ms)
        return await run_sync(_patiently, call)

    async def heartbeat(self, worker: str) -> frozenset[str]:
        """As `WorkSource.heartbeat`."""
        now_unix_ms = self._now_unix_ms()
        call = partial(self._leases.heartbeat, worker, now_unix_ms=now_unix_ms)
        return await run_sync(_patiently, call)

    async def report(
        self, worker: str, job: DealSetJob, outcomes: Mapping[str, MatchOutcome]
    ) -> None:
        """As `WorkSource.report`."""
        now_unix_ms = self._now_unix_ms()
        call = partial(self._leases.report, worker, job, outcomes, now_unix_ms=now_unix_ms)
        await run_sync(_patiently, call)

    async def give_up(self, worker: str, job: DealSetJob) -> None:
        """As `WorkSource.give_up`."""
        await run_sync(_patiently, partial(self._leases.give_up, worker, job))


def _patiently(call: Callable[[], _T]) -> _T:
    for _ in range(LOCKED_ATTEMPTS - 1):
        try:
            return call()
        except StoreBusy as error:
            _log.warning("a lease waits for the store", extra={"why": str(error)})
    return call()
