"""Whether the arena takes another match just now: not while it is late or its disk is nearly full.

Matches in play come first: a new match that would make them late is refused, with a
time after which to ask again. Matches of tournaments are not refused but wait for
their turn: fewer are in play at a time, but always at least one.
"""

import contextlib
import logging
import math
from collections.abc import AsyncIterator, Callable
from typing import Final

import trio

from arena.server.gate.disk_budget import (
    MIN_FREE_BYTES,
    MIN_FREE_SHARE,
    Disk,
    DiskBudget,
    Grant,
)
from arena.server.refusals import busy

MAX_LATE_MS: Final = 20.0
"""Lateness at the 99th percentile up to which matches are taken."""
LATE_RETRY_S: Final = 5.0
DISK_RETRY_S: Final = 60.0
CHECK_LATE_S: Final = 0.1
"""How long one look at the lateness holds, as the figure takes some sorting."""
CHECK_DISK_S: Final = 1.0
HALVE_S: Final = 10.0
"""The span that the lateness is measured over. Only after it does a lower limit show in it."""
WAIT_S: Final = 0.25
"""Between two looks of a match that waits for its turn."""

_log = logging.getLogger(__name__)


class Admission:
    """The door for new matches. Lives on one thread, as the arena does."""

    def __init__(
        self,
        *,
        p99_ms: Callable[[], float],
        disk: Disk,
        now_s: Callable[[], float],
        min_free_bytes: int = MIN_FREE_BYTES,
        min_free_share: float = MIN_FREE_SHARE,
    ) -> None:
        """`p99_ms` tells how late the arena is, `disk` the room where its data are."""
        self._p99_ms = p99_ms
        self.disk_budget = DiskBudget(
            disk, min_free_bytes=min_free_bytes, min_free_share=min_free_share
        )
        self._now_s = now_s
        self._late = _Look(CHECK_LATE_S, self._look_at_lateness)
        self._full = _Look(CHECK_DISK_S, self.disk_budget.why_full)
        self._why = ""
        self._queue = trio.Lock()
        self._turns = 0
        self._limit = math.inf
        self._halve_at_s = -math.inf
        self.refused = 0
        """Matches that were refused so far, for metrics."""

    def why_closed(self) -> str:
        """Why no match is taken now, as part of a sentence; empty while the door is open."""
        now_s = self._now_s()
        why = self._full.at(now_s) or self._late.at(now_s)
        if why != self._why:
            if why and not self._why:
                _log.warning("no new matches are taken", extra={"why": why})
            elif not why:
                _log.info("new matches are taken again")
            self._why = why
        return why

    def require_open(self) -> None:
        """Let a match in that somebody asks for now.

        Raises:
          Refused: with reason BUSY and a time after which to ask again.
        """
        why = self.why_closed()
        if why:
            self.refused += 1
            retry_s = DISK_RETRY_S if self._full.at(self._now_s()) else LATE_RETRY_S
            raise busy(f"no new matches are taken just now: {why}", retry_s)

    def grant(self) -> Grant:
        """What a match that was let in may write."""
        self._full.forget()  # the next one asks with this one's grant promised
        return self.disk_budget.grant()

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until a match of a tournament may be played, and play it within the block.

        Matches come in by the order in which they asked. While the arena is
        late, half as many are in play at a time as were, and half of that when
        it is still late after `HALVE_S`; while its disk is full, one.
        """
        async with self._queue:
            # Nothing tells when the machine has recovered, so it is looked at.
            while self._turns >= self._room():  # noqa: ASYNC110
                await trio.sleep(WAIT_S)
            self._turns += 1
        try:
            yield
        finally:
            self._turns -= 1

    def _room(self) -> float:
        """Matches of tournaments that may be in play at a time."""
        if not self.why_closed():
            self._limit, self._halve_at_s = math.inf, -math.inf
            return math.inf
        now_s = self._now_s()
        if self._full.at(now_s):
            return 1
        if now_s >= self._halve_at_s:
            # Before the first halving: the matches in play and the one that asks.
            were = self._turns + 1 if self._limit == math.inf else self._limit
            self._limit = max(1, were // 2)
            self._halve_at_s = now_s + HALVE_S
        return self._limit

    def _look_at_lateness(self) -> str:
        late_ms = self._p99_ms()
        if late_ms <= MAX_LATE_MS:
            return ""
        return f"the arena is {late_ms:.0f} ms late"


class _Look:
    """A look at something that holds for a while."""

    def __init__(self, holds_s: float, look: Callable[[], str]) -> None:
        self._holds_s = holds_s
        self._look = look
        self._until_s = -math.inf
        self._seen = ""

    def forget(self) -> None:
        """It holds no longer."""
        self._until_s = -math.inf

    def at(self, now_s: float) -> str:
        if now_s >= self._until_s:
            self._seen = self._look()
            self._until_s = now_s + self._holds_s
        return self._seen
