"""A token bucket, which limits a rate and allows a burst."""

from collections.abc import Callable


class TokenBucket:
    """Has up to `most` tokens and gains `per_s` of them a second."""

    __slots__ = ("_at_s", "_most", "_now_s", "_per_s", "_tokens")

    def __init__(self, most: int, per_s: float, now_s: Callable[[], float]) -> None:
        """Begin with a full bucket. `now_s` reads a clock, in seconds; a clock that is set back adds no tokens."""
        self._most = float(most)
        self._per_s = per_s
        self._now_s = now_s
        self._tokens = self._most
        self._at_s = now_s()

    def take(self, leave: float = 0.0) -> bool:
        """Take a token; return False if there is none, or fewer than `leave` would be left."""
        if not self.has(leave):
            return False
        self._tokens -= 1.0
        return True

    def has(self, leave: float = 0.0) -> bool:
        """Return whether `take` would take a token now."""
        now_s = self._now_s()
        passed_s = max(0.0, now_s - self._at_s)
        self._tokens = min(self._most, self._tokens + passed_s * self._per_s)
        self._at_s = now_s
        return self._tokens >= 1.0 + leave
