"""Places of requests that wait for a page, so that no visitor delays all others.

A visitor is an address, as `arena.live.limits.address_of` returns it.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from typing import Final

AT_A_TIME: Final = 4
"""The number of pages of one visitor that are made at the same time; its further requests wait."""
MOST_OF_VISITOR: Final = 32
"""The most requests of one visitor that wait for a page; further ones are refused with 503."""
MOST_WAITING: Final = 4 * MOST_OF_VISITOR
"""The same for all visitors together."""


class Full(Exception):
    """Too many requests wait for a page."""


class PagePlaces:
    """Counts requests that wait for a page. Used on one event loop."""

    def __init__(self) -> None:
        self._waiting: Counter[str] = Counter()
        self._slots: dict[str, asyncio.Semaphore] = {}

    @contextlib.asynccontextmanager
    async def place(self, visitor: str) -> AsyncIterator[None]:
        """Wait for the visitor's turn, and make a page within the block.

        Raises `Full` if too many requests of the visitor, or of all, wait.
        """
        if self._waiting[visitor] >= MOST_OF_VISITOR or self._waiting.total() >= MOST_WAITING:
            raise Full
        self._waiting[visitor] += 1
        slot = self._slots.setdefault(visitor, asyncio.Semaphore(AT_A_TIME))
        try:
            async with slot:
                yield
        finally:
            self._waiting[visitor] -= 1
            if not self._waiting[visitor]:
                del self._waiting[visitor], self._slots[visitor]
