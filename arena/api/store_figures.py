"""Figures of the store for metrics: what is paused, what waits, and whether the store answers."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from arena.contests.waiting import waiting_by_class
from arena.results.states import State
from arena.store import Store, StoreError

WAIT_S: Final = 3.0
"""The longest time for reading the figures in seconds, which is less than the time limit of an answer of the port."""


@dataclass(frozen=True, slots=True)
class StoreFigures:
    """The figures of the store at one moment."""

    competitions: Mapping[State, int]
    """The number of competitions in each state."""
    paused_by_arena: int
    """Competitions that the arena paused because of an error."""
    waiting_versions: int
    """Submitted versions that are not qualified yet."""
    open_comparisons: int
    """Comparison requests without a verdict."""
    waiting_deal_sets: Mapping[int | None, int]
    """The number of deal-sets that may begin and that no worker was given, by speed class; None is the arena's own machine."""
    read_s: float
    """The time that it took to read them."""


class StoreReader:
    """Reads the figures on another thread. Lives in the host loop."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reading: asyncio.Future[StoreFigures] | None = None

    async def figures(self) -> StoreFigures | None:
        """Return the figures; None if the store fails, or does not answer in time.

        While the store does not answer, it is not asked again, so that no threads pile up.
        """
        if self._reading is None or self._reading.done():
            loop = asyncio.get_running_loop()
            self._reading = loop.run_in_executor(None, _read, self._store)
            # An error that comes after the time limit is also retrieved, so that it is not reported as lost.
            self._reading.add_done_callback(lambda reading: reading.exception())
        try:
            async with asyncio.timeout(WAIT_S):
                return await asyncio.shield(self._reading)
        except (TimeoutError, StoreError):
            return None


def _read(store: Store) -> StoreFigures:
    begun_s = time.monotonic()
    competitions, paused_by_arena = store.competitions().count_states()
    waiting = len(store.registry().unqualified())
    comparisons = len(store.comparison_requests().open())
    deal_sets = waiting_by_class(store.competitions(), datetime.now(UTC))
    read_s = time.monotonic() - begun_s
    return StoreFigures(competitions, paused_by_arena, waiting, comparisons, deal_sets, read_s)
