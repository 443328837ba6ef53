"""Accepts or refuses new matches: none are accepted while the arena is late or its disk is nearly full.

Matches in play have priority: a new match that would delay them is refused, with a time after which to ask again.
Matches of competitions are not refused but wait: fewer of them are in play at a time, but always at least one.
"""

import contextlib
import logging
import math
from collections.abc import AsyncIterator, Callable
from typing import Final

import trio

from arena.errors.refused import Refused
from arena.records.journal.disk_budget import (
    MIN_FREE_BYTES,
    MIN_FREE_SHARE,
    Disk,
    DiskBudget,
    Grant,
)

MAX_LATE_MS: Final = 20.0
"""Lateness at the 99th percentile, in milliseconds, up to which matches are accepted."""
LATE_RETRY_S: Final = 5.0
DISK_RETRY_S: Final = 60.0
CHECK_LATE_S: Final = 0.1
"""Seconds for which a measurement of the lateness is reused: its computation sorts many values."""
CHECK_DISK_S: Final = 1.0
HALVE_S: Final = 10.0
"""The span in seconds over which the lateness is measured: a lower limit has an effect only after it."""
WAIT_S: Final = 0.25
"""The time in seconds between two checks of a match that waits."""

_log = logging.getLogger(__name__)


class Admission:
    """Accepts or refuses new matches. Used on one thread."""

    def __init__(
        self,
        *,
        p99_ms: Callable[[], float],
        disk: Disk,
        now_s: Callable[[], float],
        min_free_bytes: int = MIN_FREE_BYTES,
        min_free_share: float = MIN_FREE_SHARE,
    ) -> None:
        """Accept matches while there is time and disk space for them.

        Args:
          p99_ms: Returns the lateness of the arena at the 99th percentile, in milliseconds.
          min_free_bytes: The disk space that stays free.
          min_free_share: The same as a share of the disk; the larger of the two counts.
        """
        self._p99_ms = p99_ms
        self.disk_budget = DiskBudget(
            disk, min_free_bytes=min_free_bytes, min_free_share=min_free_share
        )
        self._now_s = now_s
        self._late = _CachedCheck(CHECK_LATE_S, self._why_late)
        self._full = _CachedCheck(CHECK_DISK_S, self.disk_budget.why_full)
        self._why = ""
        self._queue = trio.Lock()
        self._turns = 0
        self._limit = math.inf
        self._halve_at_s = -math.inf
        self.refused = 0

    def why_full(self) -> str:
        """Return why the disk is too full for a match, as part of a sentence; empty while it is not."""
        return self._full.at(self._now_s())

    def why_closed(self) -> str:
        """Return why no match is accepted now, as part of a sentence; empty while matches are accepted."""
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
        """Accept a match that a client orders now.

        Raises `Refused` with reason BUSY and a time after which to ask again.
        """
        why = self.why_closed()
        if why:
            self.refused += 1
            retry_s = DISK_RETRY_S if self.why_full() else LATE_RETRY_S
            raise Refused("BUSY", why, retry_s=retry_s)

    def grant(self) -> Grant:
        """Return the disk space that an accepted match may use."""
        self._full.forget()  # the next check counts this grant
        return self.disk_budget.grant()

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until a match of a competition may be played; play it within the block.

        Matches are accepted in the order in which they ask. When the arena becomes late, half as many may be in play at
        a time as before, and half of that if it is still late after `HALVE_S`. While its disk is full, one match may be
        in play.
        """
        async with self._queue:
            # There is no event for the recovery of the machine, so this polls.
            while self._turns >= self._most_turns():  # noqa: ASYNC110
                await trio.sleep(WAIT_S)
            self._turns += 1
        try:
            yield
        finally:
            self._turns -= 1

    def _most_turns(self) -> float:
        if not self.why_closed():
            self._limit, self._halve_at_s = math.inf, -math.inf
            return math.inf
        now_s = self._now_s()
        if self._full.at(now_s):
            return 1
        if now_s >= self._halve_at_s:
            # Before the first halving, the limit is the number of matches in play, with the one that asks.
            before = self._turns + 1 if self._limit == math.inf else self._limit
            self._limit = max(1, before // 2)
            self._halve_at_s = now_s + HALVE_S
        return self._limit

    def _why_late(self) -> str:
        late_ms = self._p99_ms()
        if late_ms <= MAX_LATE_MS:
            return ""
        return f"the arena is {late_ms:.0f} ms late"


class _CachedCheck:
    """A check whose result is used for some time."""

    def __init__(self, fresh_s: float, check: Callable[[], str]) -> None:
        self._fresh_s = fresh_s
        self._check = check
        self._until_s = -math.inf
        self._found = ""

    def forget(self) -> None:
        """Check again at the next `at`."""
        self._until_s = -math.inf

    def at(self, now_s: float) -> str:
        if now_s >= self._until_s:
            self._found = self._check()
            self._until_s = now_s + self._fresh_s
        return self._found
