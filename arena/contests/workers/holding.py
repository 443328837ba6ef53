"""How many deal-sets the workers of a key may hold, and for how long.

A worker that says that it plays, and does not, would otherwise keep a competition waiting for ever.
"""

import statistics
from collections import Counter, deque
from typing import Final

AT_FIRST: Final = 16
"""Deal-sets that the workers of a key may hold together before they have reported any."""
MORE: Final = 4
"""So many more with each deal-set that they report."""
LESS: Final = 8
"""So many fewer with each failed begin; one at least."""
AT_MOST: Final = 4_096
LEAST_S: Final = 120.0
"""The shortest limit of time for a deal-set."""
FIRST_S: Final = 600.0
"""The limit while no deal-set of a game has been reported."""
TIMES: Final = 20.0
"""The limit after that: so many times what the median deal-set took."""
LONGER: Final = 4.0
"""Each further begin of a deal-set has so many times the limit, as its bots may be slow."""
REMEMBERED: Final = 64
"""The deal-sets reported last, of which the median is taken."""


class Account:
    """The deal-sets of all workers of a key: how many they hold, and how many of their begins failed."""

    def __init__(self, *, is_limited: bool = True) -> None:
        """Begin without deal-sets. Workers of the arena's own are not limited."""
        self._is_limited = is_limited
        self._most = AT_FIRST
        self.held = 0
        """Deal-sets that they play, or still play although the arena does not wait for them."""
        self.failed_begins: Final[Counter[str]] = Counter()
        """By the worker's name, since the arena started."""

    @property
    def room(self) -> int:
        """How many more deal-sets they may hold."""
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
    """How long a worker may hold a deal-set of one game, by how long those took that were reported."""

    def __init__(self) -> None:
        self._took_s: deque[float] = deque(maxlen=REMEMBERED)

    def reported(self, seconds: float) -> None:
        """Count the time in seconds from the assignment of a deal-set to its report."""
        self._took_s.append(seconds)

    def limit_s(self, failed_begins: int) -> float:
        """The limit of a deal-set in seconds, of which so many begins have failed."""
        usual_s = TIMES * statistics.median(self._took_s) if self._took_s else FIRST_S
        return max(LEAST_S, usual_s) * LONGER**failed_begins
