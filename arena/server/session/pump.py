"""Wakes the writers of all streams together, once the host loop has nothing more to read.

gRPC hands over what has arrived in every second turn of the loop. A writer that sent as soon
as it had something would send small frames, and small frames beget small ones: few asks make
as few answers. So writers wait for one another while messages keep coming, and what they send
shares one write of the journal.
"""

import asyncio
from typing import Final

from arena.server.counts import Counts

QUIET_TURNS: Final = 3
"""Turns of the loop in a row that bring no message, after which there is nothing more to wait for."""
MOST_TURNS: Final = 24
"""Turns that anybody waits, however much comes."""


class Pump:
    """One for all streams of an arena. Lives on the thread of the host loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, counts: Counts) -> None:
        """`counts.messages` is counted up at each message that comes."""
        self._loop = loop
        self._counts = counts
        self._waiters: list[asyncio.Future[None]] = []
        self._seen = 0
        """Messages that had come at the last turn."""
        self._quiet = 0
        self._turns = 0

    def wake(self, waiter: asyncio.Future[None]) -> None:
        """Set the future of a writer that has something to send, together with the others."""
        self._waiters.append(waiter)
        if len(self._waiters) == 1:
            self._seen, self._quiet, self._turns = self._counts.messages, 0, 0
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        self._turns += 1
        messages = self._counts.messages
        if messages == self._seen:
            self._quiet += 1
        else:
            self._seen, self._quiet = messages, 0
        if self._quiet < QUIET_TURNS and self._turns < MOST_TURNS:
            self._loop.call_soon(self._turn)
            return
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
