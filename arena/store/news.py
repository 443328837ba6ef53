"""Whether anything was written to a store since one looked: told without looking into it.

Much in the arena looks into the store once a second. On an arena where nothing happens that was two thirds
of what it took of the processor.
"""

from collections.abc import Callable
from typing import Final

MOST_SKIPPED: Final = 20
"""Looks in a row that are left out; the next one is made whatever is told."""


class News:
    """Of one who looks again and again."""

    def __init__(self, version: Callable[[], int | None]) -> None:
        """`version` is another number after each commit, and None where only looking tells."""
        self._version = version
        self._seen: int | None = None
        self._skipped = 0

    def __call__(self) -> bool:
        """Whether to look now. It costs some microseconds, and waits for nothing."""
        # Taken before the look: what is committed while one looks counts at the next time.
        version = self._version()
        if version is None or version != self._seen or self._skipped >= MOST_SKIPPED:
            self._seen, self._skipped = version, 0
            return True
        self._skipped += 1
        return False

    def forget(self) -> None:
        """Look the next time, as this look came to nothing."""
        self._seen = None
