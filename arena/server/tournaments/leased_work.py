"""A tournament's work on lease from the store, for a runner in trio."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from trio.to_thread import run_sync

from arena.ladder.results import MatchOutcome
from arena.ladder.work import DealSetJob
from arena.server.matches.results import LOCKED_ATTEMPTS
from arena.store import Leases, StoreBusy

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


def _unix_ms() -> int:
    return time.time_ns() // 1_000_000


class LeasedWork:
    """A `WorkSource` over the store's leases; each call is on disk when it returns.

    While another program keeps the store locked, it is asked again, as for results.
    """

    def __init__(self, leases: Leases, now_unix_ms: Callable[[], int] = _unix_ms) -> None:
        self._leases = leases
        self._now_unix_ms = now_unix_ms

    async def start_anew(self) -> None:
        """End the leases of whoever played before. Only one process plays in a data folder."""
        await run_sync(_patiently, self._leases.start_anew)

    async def lease(self, worker: str, most: int) -> Sequence[DealSetJob]:
        now_unix_ms = self._now_unix_ms()
        ask = partial(self._leases.lease, worker, most, now_unix_ms=now_unix_ms)
        return await run_sync(_patiently, ask)

    async def heartbeat(self, worker: str) -> frozenset[str]:
        now_unix_ms = self._now_unix_ms()
        tell = partial(self._leases.heartbeat, worker, now_unix_ms=now_unix_ms)
        return await run_sync(_patiently, tell)

    async def report(
        self, worker: str, job: DealSetJob, outcomes: Mapping[str, MatchOutcome]
    ) -> None:
        now_unix_ms = self._now_unix_ms()
        tell = partial(self._leases.report, worker, job, outcomes, now_unix_ms=now_unix_ms)
        await run_sync(_patiently, tell)

    async def give_up(self, worker: str, job: DealSetJob) -> None:
        await run_sync(_patiently, partial(self._leases.give_up, worker, job))


def _patiently(call: Callable[[], _T]) -> _T:
    for _ in range(LOCKED_ATTEMPTS - 1):
        try:
            return call()
        except StoreBusy as error:
            _log.warning("a lease waits for the store", extra={"why": str(error)})
    return call()
