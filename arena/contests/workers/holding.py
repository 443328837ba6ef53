"""Limits of the number of deal-sets that the workers of a key may hold, and of the time.

Without them, a worker that only pretends to play could delay a competition for ever.
"""

import statistics
from collections import Counter, deque
from typing import Final

AT_FIRST: Final = 16
"""The number of deal-sets that the workers of a key may hold together before they have reported any."""
MORE: Final = 4
"""The increase with each deal-set that they report."""
LESS: Final = 8
"""The decrease with each failed begin; the limit stays at least one."""
AT_MOST: Final = 4_096
LEAST_S: Final = 120.0
"""The shortest time limit of a deal-set, in seconds."""
FIRST_S: Final = 600.0
"""The time limit in seconds before a deal-set of the game has been reported."""
TIMES: Final = 20.0
"""The time limit after that, as a multiple of the median time of a deal-set."""
LONGER: Final = 4.0
"""The factor of the time limit for each further begin of a deal-set, as its bots may be slow."""
REMEMBERED: Final = 64
"""The number of latest deal-sets of which the median is taken."""


class Account:
    """The deal-sets of all workers of a key: how many they hold, and how many of their begins failed."""

    def __init__(self, *, is_limited: bool = True) -> None:
        """Begin without deal-sets. The arena's own workers are not limited."""
        self._is_limited = is_limited
        self._most = AT_FIRST
        self.held = 0
        """Deal-sets that they play, or still play although the arena does not wait for them."""
        self.failed_begins: Final[Counter[str]] = Counter()
        """By the worker's name, since the arena started."""

    @property
    def room(self) -> int:
        """The number of further deal-sets that they may hold."""
        return max(0, self._most - self.held) if self._is_limited else AT_MOST

    def hold(self) -> None:
        self.held += 1

    def release(self, number: int = 1) -> None:
        self.held -= number

    def reported(self) -> None:
        self._most = min(AT_MOST, self._most + MORE)

    def failed(self, worker: str) -> None:
        self.failed_begins[worker] += 1
        self._most = max(1, self._most - LESS)


class HeldTime:
    """The time limit for a worker with a deal-set of one game, from the times of reported deal-sets."""

    def __init__(self) -> None:
        self._took_s: deque[float] = deque(maxlen=REMEMBERED)

    def reported(self, seconds: float) -> None:
        """Count the time in seconds from the assignment of a deal-set to its report."""
        self._took_s.append(seconds)

    def limit_s(self, failed_begins: int) -> float:
        """Return the time limit, in seconds, of a deal-set with this number of failed begins."""
        usual_s = TIMES * statistics.median(self._took_s) if self._took_s else FIRST_S
        return max(LEAST_S, usual_s) * LONGER**failed_begins
