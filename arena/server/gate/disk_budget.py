"""Room on the disk for the matches that were let in: what each may still write is promised to it.

A match is let in with a grant, and gets another whenever it has written all of it. What is granted
to the matches in play is never more than there is room for, with a reserve beside it: new matches
are taken while nothing of the reserve is promised; those in play may use most of it. The last part
is for what ends them. A match that gets no more is aborted by the arena, and costs nobody a fault.
"""

from collections.abc import Callable
from typing import Final

from arena.referee import NoRoom

GRANT_BYTES: Final = 256 << 10
"""Records that a match may write before it asks again; few write more in all."""
COPIES: Final = 3
"""Of each record: in the journal, in that of the next process, and in the replay or a notebook."""
MIN_FREE_BYTES: Final = 500_000_000
MIN_FREE_SHARE: Final = 0.05
"""The reserve."""
LAST_SHARE: Final = 0.2
"""Of the reserve, what no match may write into."""

Disk = Callable[[], tuple[int, int, int]]
"""Bytes on a disk: in all, in use and free, as `shutil.disk_usage` tells them."""


class DiskBudget:
    """What is promised of a disk. Lives on one thread, as the arena does."""

    def __init__(
        self,
        disk: Disk,
        *,
        min_free_bytes: int = MIN_FREE_BYTES,
        min_free_share: float = MIN_FREE_SHARE,
    ) -> None:
        """`disk` tells the room where the arena's data are; the reserve is the larger of two."""
        self._disk = disk
        self._min_free_bytes = min_free_bytes
        self._min_free_share = min_free_share
        self.promised_bytes = 0
        """To the matches in play, all copies of their records included."""

    def why_full(self) -> str:
        """Why no match can be let in, as part of a sentence; empty while there is room."""
        found = self._room()
        if found is None:
            return ""
        free, reserve = found
        if free - self.promised_bytes >= reserve:
            return ""
        promised = ""
        if self.promised_bytes:
            promised = f", {self.promised_bytes / 1e6:,.0f} MB of them for matches in play"
        return f"{free / 1e6:,.0f} MB of its disk are free{promised}, and {reserve / 1e6:,.0f} MB are needed"

    def grant(self) -> "Grant":
        """Let a match in. Whether there is room has been asked before."""
        return Grant(self)

    def allows(self, more_bytes: int) -> bool:
        """Whether so many more can be promised to matches in play."""
        found = self._room()
        if found is None:
            return True
        free, reserve = found
        return free - self.promised_bytes - more_bytes >= reserve * LAST_SHARE

    def _room(self) -> tuple[int, float] | None:
        """What is free and what is to stay so; None if nobody knows."""
        try:
            total, _, free = self._disk()
        except OSError:
            return None  # the journal will find out, and say it better
        return free, max(self._min_free_bytes, self._min_free_share * total)


class Grant:
    """What one match may write: `arena.replay.journal.match_log.Room`. Close it when it is over."""

    def __init__(self, budget: DiskBudget) -> None:
        self._budget = budget
        self._bytes = 0
        self._take()

    def cover(self, size: int) -> int:
        """The match goes on, and has written so much before; returns what it may write in all."""
        while self._bytes < size:
            self._take()
        return self._bytes

    def grow(self, size: int) -> int:
        """The match wants to have written so much; returns what it may write in all.

        Raises:
          NoRoom: if the disk has no room for it.
        """
        while self._bytes < size:
            if not self._budget.allows(COPIES * GRANT_BYTES):
                raise NoRoom("there is no more room on the disk for this match")
            self._take()
        return self._bytes

    def close(self) -> None:
        """The match writes nothing any more."""
        self._budget.promised_bytes -= COPIES * self._bytes
        self._bytes = 0

    def _take(self) -> None:
        self._bytes += GRANT_BYTES
        self._budget.promised_bytes += COPIES * GRANT_BYTES
