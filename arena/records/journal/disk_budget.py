"""Disk space for matches in play: each has a grant of the space that it may still write.

A match begins with a grant, and gets another whenever it has used all of it. Grants never exceed the free space less a
reserve: new matches are accepted while the reserve is untouched; matches in play may use most of it. The last part is
for the records that end them. A match that gets no further grant is aborted by the arena, without a fault.
"""

from collections.abc import Callable
from typing import Final

from arena.referee.ledger import NoRoom

GRANT_BYTES: Final = 256 << 10
"""The number of bytes of records in one grant; few matches need a second one."""
COPIES: Final = 3
"""The number of copies of each record: in the journal, in that of the next process, and in the replay or a notes file."""
MIN_FREE_BYTES: Final = 500_000_000
MIN_FREE_SHARE: Final = 0.05
LAST_SHARE: Final = 0.2
"""The share of the reserve that no match may use."""

Disk = Callable[[], tuple[int, int, int]]
"""The total, used and free bytes of a disk, as `shutil.disk_usage` returns them."""


class DiskBudget:
    """Counts the granted disk space. Used on one thread."""

    def __init__(
        self,
        disk: Disk,
        *,
        min_free_bytes: int = MIN_FREE_BYTES,
        min_free_share: float = MIN_FREE_SHARE,
    ) -> None:
        """`disk` measures the disk of the data folder; the reserve is the larger of the two minimums."""
        self._disk = disk
        self._min_free_bytes = min_free_bytes
        self._min_free_share = min_free_share
        self.promised_bytes = 0
        """Bytes granted to matches in play, including all copies of their records."""

    def why_full(self) -> str:
        """Return why no match can be accepted, as part of a sentence; empty while there is space."""
        room = self._room()
        if room is None:
            return ""
        free, reserve = room
        if free - self.promised_bytes >= reserve:
            return ""
        promised = ""
        if self.promised_bytes:
            promised = f", {self.promised_bytes / 1e6:,.0f} MB of them for matches in play"
        return f"{free / 1e6:,.0f} MB of its disk are free{promised}, and {reserve / 1e6:,.0f} MB are needed"

    def grant(self) -> "Grant":
        """Return the first grant of a match; `why_full` has to be checked before."""
        return Grant(self)

    def allows(self, more_bytes: int) -> bool:
        """Return whether matches in play may be granted `more_bytes`."""
        room = self._room()
        if room is None:
            return True
        free, reserve = room
        return free - self.promised_bytes - more_bytes >= reserve * LAST_SHARE

    def _room(self) -> tuple[int, float] | None:
        """Free bytes and bytes that have to stay free; None if the disk cannot be measured."""
        try:
            total, _, free = self._disk()
        except OSError:
            return None  # the journal will report the error
        return free, max(self._min_free_bytes, self._min_free_share * total)


class Grant:
    """The disk space of one match. Close it when the match is over."""

    def __init__(self, budget: DiskBudget) -> None:
        self._budget = budget
        self._bytes = 0
        self._take()

    def cover(self, size: int) -> int:
        """Cover the bytes that a resumed match wrote before; return how many it may write in total."""
        while self._bytes < size:
            self._take()
        return self._bytes

    def grow(self, size: int) -> int:
        """Extend the grant so that the match may write `size` bytes in total; return how many it may write.

        Raises `NoRoom` if the disk has no space for it.
        """
        while self._bytes < size:
            if not self._budget.allows(COPIES * GRANT_BYTES):
                raise NoRoom("there is no more room on the disk for this match")
            self._take()
        return self._bytes

    def close(self) -> None:
        """Give the grant back, because the match is over."""
        self._budget.promised_bytes -= COPIES * self._bytes
        self._bytes = 0

    def _take(self) -> None:
        self._bytes += GRANT_BYTES
        self._budget.promised_bytes += COPIES * GRANT_BYTES
