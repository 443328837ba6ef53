"""Detects whether a store was written since the last poll, without a query.

Several parts of the arena poll the store once a second. In an idle arena these queries took two thirds of its
processor time.
"""

from collections.abc import Callable
from typing import Final

MOST_SKIPPED: Final = 20
"""The number of polls in a row that may be skipped; the next poll is always made."""


class ChangeDetector:
    """The change detector of one caller that polls."""

    def __init__(self, version: Callable[[], int | None]) -> None:
        """`version` gives a number that changes with each commit, or None if the database has none."""
        self._version = version
        self._seen: int | None = None
        self._skipped = 0

    def __call__(self) -> bool:
        """Return whether to poll now. Takes some microseconds and never waits."""
        # Read before the poll, so that a commit during the poll is noticed at the next call.
        version = self._version()
        if version is None or version != self._seen or self._skipped >= MOST_SKIPPED:
            self._seen, self._skipped = version, 0
            return True
        self._skipped += 1
        return False

    def forget(self) -> None:
        """Let the next call return true, because this poll failed."""
        self._seen = None
