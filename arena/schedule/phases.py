"""Plays deal-sets in blocks, one table of each at a time, so that no launched process knows the boards of its table.

All tables of a deal-set have the same boards. If processes at two of its tables could exchange a few bits, each would
know the cards of its opponents. So in phase k of a block each deal-set plays its k-th table, and between two phases all
launched processes are ended. Two bots of one owner are kept apart as two processes of one bot are.

As it takes time to start processes, the first phase of a block takes deal-sets until it has lasted many times as
long. The deal-sets of a block become complete in its last phase, so the first blocks are short, and later ones grow.
"""

import contextlib
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

import trio

BLOCK_STARTS: Final = 20.0
"""The first phase of a block takes deal-sets for this many times what it takes to start their bots."""
BLOCK_TABLES: Final = 5.0
"""It does so for this many times the duration of its longest table, too: slots are idle at the end of a phase."""
FIRST_BLOCK_S: Final = 10.0
"""But no longer than this many seconds in the first block, so that results come soon."""
LATER_BLOCKS: Final = 0.25
"""And in later blocks no longer than this share of the time since the first one began."""
LINGER_S: Final = 0.5
"""Longest time in seconds that a phase waits for the next deal-set while none is in play."""


class Phases:
    """The blocks of deal-sets whose bots one process launches. Used in trio."""

    def __init__(self, end_processes: Callable[[], Awaitable[None]]) -> None:
        """Begin without a block. `end_processes` returns once no launched process is alive."""
        self._end_processes = end_processes
        self._block: set[PhasedDealSet] = set()
        self.phase = 0
        """The phase of the block, from 0."""
        self._is_ending = False
        """Whether processes are being ended: nothing begins."""
        self._began_s = self._longest_s = 0.0
        self._busy_since_s = self._ended_s = -math.inf
        """When the first block began, and when the last one ended. A pause of `FIRST_BLOCK_S` begins anew."""
        self._start_s = 0.0
        """The longest start of bots since processes were ended."""
        self._known: set[str] = set()
        """The deal-sets whose boards processes know that may be alive."""
        self._changed = trio.Event()

    @contextlib.asynccontextmanager
    async def deal_set(self, name: str) -> AsyncIterator["PhasedDealSet"]:
        """Wait until the deal-set can begin, and play its tables within the block."""
        await self.open(name)
        if not self._block:
            self.phase, self._began_s, self._longest_s = 0, trio.current_time(), 0.0
            if self._began_s - self._ended_s > FIRST_BLOCK_S:
                self._busy_since_s = self._began_s
        own = PhasedDealSet(self, name)
        self._block.add(own)
        try:
            yield own
        finally:
            self._block.remove(own)
            self._ended_s = trio.current_time()
            self._wake()

    async def open(self, name: str = "") -> None:
        """Wait until a deal-set can begin: the one of this name, or any that was not played before."""
        while not self._is_open(name):
            if self._block or self._is_ending:
                await self._changed.wait()
            else:
                await self._renew()

    def _is_open(self, name: str) -> bool:
        if self._is_ending or name in self._known:
            return False
        return not self._block or self._gathers

    @property
    def _gathers(self) -> bool:
        worth_s = max(BLOCK_STARTS * self._start_s, BLOCK_TABLES * self._longest_s)
        most_s = max(FIRST_BLOCK_S, LATER_BLOCKS * (self._began_s - self._busy_since_s))
        return self.phase == 0 and trio.current_time() < self._began_s + min(worth_s, most_s)

    async def begin(self, own: "PhasedDealSet") -> None:
        """Wait for a phase in which a deal-set of the block has played no table."""
        lingered = False
        while self._is_ending or own.phase == self.phase:
            if self._is_ending or not all(each.is_done(self.phase) for each in self._block):
                await self._changed.wait()
                lingered = False
            elif self._gathers and not lingered:
                with trio.move_on_after(LINGER_S):
                    await self._changed.wait()
                    continue
                lingered = True
            else:
                await self._renew()
                self.phase += 1
        self._known.add(own.name)

    def started(self, lasted_s: float) -> None:
        """The bots of a table have been started."""
        self._start_s = max(self._start_s, lasted_s)

    def ended(self, lasted_s: float) -> None:
        """A table has been played."""
        self._longest_s = max(self._longest_s, lasted_s)
        self._wake()

    async def _renew(self) -> None:
        """End all processes: those that are started from now on know no boards."""
        self._is_ending = True
        try:
            await self._end_processes()
            self._known.clear()
            self._start_s = 0.0
        finally:
            self._is_ending = False
            self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()


class PhasedDealSet:
    """A deal-set of a block. Used by one task."""

    def __init__(self, phases: Phases, name: str) -> None:
        self.name: Final = name
        self.phase = -1
        """The phase in which it plays, or has played last."""
        self._phases = phases
        self._in_play = False

    def is_done(self, phase: int) -> bool:
        """Whether its table of a phase is over."""
        return self.phase == phase and not self._in_play

    @contextlib.asynccontextmanager
    async def table(self) -> AsyncIterator[None]:
        """Wait until its next table may be played, and play it within the block."""
        await self._phases.begin(self)
        self.phase, self._in_play = self._phases.phase, True
        began_s = trio.current_time()
        try:
            yield
        finally:
            self._in_play = False
            self._phases.ended(trio.current_time() - began_s)
