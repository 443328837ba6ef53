"""Shared transactions: writes to the store that wait at the same time share one, because a transaction costs far more than its rows.

They are used to take and report the deal-sets of competitions (`StoredWork`), and to record results of matches.
"""

import logging
import math
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Generic, TypeVar

import trio

from arena.results.deal_sets import DealSet, MatchOutcome
from arena.store import StoreBusy, StoredDealSets
from arena.store.deal_sets import DealSetReport

LOCKED_ATTEMPTS: Final = 12
"""The number of attempts to write to a locked store, each of which takes some seconds."""
AHEAD: Final = 4
"""The number of deal-sets that are taken in one transaction if they follow each other within `AHEAD_S`."""
AHEAD_S: Final = 0.25
"""Seconds after which a deal-set that was taken ahead is put back, and the store is asked again whether play continues."""

T = TypeVar("T")
R = TypeVar("R")
_log = logging.getLogger(__name__)


def patiently(call: Callable[[], R]) -> R:
    """Call again while another program has locked the store. Blocks. Raises `StoreBusy` if it stays locked."""
    for _ in range(LOCKED_ATTEMPTS - 1):
        try:
            return call()
        except StoreBusy as error:
            _log.warning("a write waits for the store", extra={"why": str(error)})
    return call()


class SharedTransactions(Generic[T, R]):
    """Writes items, those that wait at the same time in one transaction. Used in trio."""

    def __init__(
        self,
        write: Callable[[Sequence[T]], Sequence[R]],
        *,
        at_once: int = 1,
        most: int = sys.maxsize,
    ) -> None:
        """`write` writes items in one transaction and returns the result of each.

        It is called on other threads, `at_once` at a time, with up to `most` items.
        """
        self._write_all, self._most = write, most
        self._waiting: deque[_Waiting[T, R]] = deque()
        self._idle = at_once

    async def write(self, item: T) -> R:
        """Write an item; on return its transaction is over.

        Raises `Exception` as `write` does. An item that cannot be written does not affect the others.
        """
        entry = _Waiting[T, R](item)
        self._waiting.append(entry)
        if self._idle:
            # A separate task writes: the waiting one may be cancelled, and others wait for the same transaction.
            self._idle -= 1
            trio.lowlevel.spawn_system_task(self._write_waiting)
        await entry.written.wait()
        (result,) = entry.outcome
        if isinstance(result, Exception):
            raise result
        return result

    async def _write_waiting(self) -> None:
        try:
            while self._waiting:
                number = min(self._most, len(self._waiting))
                await self._write_together([self._waiting.popleft() for _ in range(number)])
        finally:
            self._idle += 1

    async def _write_together(self, waiting: Sequence["_Waiting[T, R]"]) -> None:
        results = await trio.to_thread.run_sync(self._try, waiting)
        for at, entry in enumerate(waiting):
            if isinstance(results, Exception):
                alone = len(waiting) > 1
                result = await trio.to_thread.run_sync(self._try, [entry]) if alone else results
                entry.outcome = [result if isinstance(result, Exception) else result[0]]
            else:
                entry.outcome = [results[at]]
            entry.written.set()

    def _try(self, waiting: Sequence["_Waiting[T, R]"]) -> Sequence[R] | Exception:
        items = [entry.item for entry in waiting]
        try:
            return patiently(lambda: self._write_all(items))
        except Exception as error:
            return error


@dataclass(slots=True)
class _Waiting(Generic[T, R]):
    item: T
    outcome: "Sequence[R | Exception]" = ()
    """Its result or error, once it was written."""
    written: trio.Event = field(default_factory=trio.Event)


async def _always() -> bool:
    return True


class StoredWork:
    """A `WorkSource` over the deal-sets of a competition's game in the store.

    A call is retried while another program has locked the store. Begins and reports that wait at the same time share a
    transaction.
    """

    def __init__(
        self,
        deal_sets: StoredDealSets,
        *,
        goes_on: Callable[[], Awaitable[bool]] = _always,
        if_running: bool = False,
    ) -> None:
        """Take nothing once `goes_on` is false.

        With `if_running`, none are taken after the competition is paused, and several deal-sets that follow each other
        are taken in one transaction.
        """
        self._deal_sets, self._goes_on, self._if_running = deal_sets, goes_on, if_running
        self._ahead: deque[DealSet] = deque()
        """Deal-sets that were taken, and do not begin yet."""
        self._taken_s = -math.inf
        """When the latest were taken."""
        self._begins = SharedTransactions(deal_sets.begin_many)
        self._reports = SharedTransactions(self._report_many)

    async def start_anew(self) -> None:
        """Call `StoredDealSets.start_anew`. Only one process plays in a data folder."""
        self._ahead.clear()
        await trio.to_thread.run_sync(patiently, self._deal_sets.start_anew)

    async def take(self, most: int) -> Sequence[DealSet]:
        goes_on = await self._goes_on()
        is_recent = trio.current_time() < self._taken_s + AHEAD_S
        if self._ahead and not (goes_on and is_recent):
            back = tuple(self._ahead)
            self._ahead.clear()
            await trio.to_thread.run_sync(patiently, partial(self._deal_sets.put_back, back))
        if not goes_on:
            return ()
        if not self._ahead:
            number = max(most, AHEAD) if is_recent and self._if_running else most
            call = partial(self._deal_sets.take, number, if_running=self._if_running)
            self._ahead.extend(await trio.to_thread.run_sync(patiently, call))
            self._taken_s = trio.current_time()
        return [self._ahead.popleft() for _ in range(min(most, len(self._ahead)))]

    async def begin(self, deal_set: DealSet, worker: str) -> int:
        return await self._begins.write((deal_set, worker))

    async def report(self, deal_set: DealSet, outcomes: Mapping[str, MatchOutcome]) -> None:
        await self._reports.write((deal_set, outcomes))

    def _report_many(self, reports: Sequence[DealSetReport]) -> Sequence[None]:
        self._deal_sets.report_many(reports, now_unix_ms=time.time_ns() // 1_000_000)
        return [None] * len(reports)

    async def give_up(self, deal_set: DealSet) -> None:
        await trio.to_thread.run_sync(patiently, partial(self._deal_sets.give_up, deal_set))
