"""The total time for which a bot has been away from a match, and its limit."""

import math
from collections.abc import Callable
from typing import Final

from arena.referee.clock import MAX_MATCH_REFUND_S, MAX_REFUND_S
from arena.referee.timers import ArenaTime

LATE_CHECK_S: Final = 0.1
"""Seconds until an expired limit is checked again, if the arena itself was late."""

CLOSE_S: Final = 1e-6
"""The seconds below which a time counts as 0, because sums of times are rounded."""


class Absence:
    """The absences of one bot from one match."""

    __slots__ = (
        "_lag",
        "_limit_s",
        "_now_s",
        "_owner",
        "_refunded_s",
        "_since_s",
        "_timer",
        "_total_s",
        "_used_up",
    )

    def __init__(
        self, limit_ms: int, *, time: ArenaTime, used_up: Callable[[], None], owner: str = ""
    ) -> None:
        """`used_up` is called once when `limit_ms` are used up; 0 is no limit.

        `owner` is the bot's owner: pauses that the owner caused are not refunded.
        """
        self._limit_s = limit_ms / 1000 or math.inf
        self._now_s = time.now_s
        self._lag = time.lag
        self._used_up = used_up
        self._owner = owner
        self._timer = time.timers.timer(self._due)
        self._since_s = math.inf
        self._total_s = 0.0
        self._refunded_s = 0.0
        """Lateness of the arena during absences that are over."""

    def left(self) -> None:
        """Note that the bot cannot be reached from now on."""
        now_s = self._now_s()
        if self._since_s > now_s:
            self._since_s = now_s
            self._timer.set(now_s + self._limit_s - self._total_s)

    def came_back(self) -> None:
        """Note that the bot can be reached again."""
        self._total_s, self._refunded_s = self.away_s(), self._refunded_s + self._refund_s()
        self._since_s = math.inf
        self._timer.clear()

    def was_away(self, seconds: float) -> None:
        """Add an absence from before a restart of the arena."""
        self._total_s += seconds

    def retire(self) -> None:
        """End the limit: from now on the bot may be away."""
        self._limit_s = math.inf
        self._timer.retire()

    def away_s(self) -> float:
        """Seconds for which the bot was away so far, without the lateness of the arena."""
        since_s, now_s = self._since_s, self._now_s()
        if since_s >= now_s:
            return self._total_s
        return self._total_s + now_s - since_s - self._refund_s()

    def _refund_s(self) -> float:
        """Lateness of the arena during the present absence, within the limits of a refund."""
        since_s, now_s = self._since_s, self._now_s()
        if since_s >= now_s:
            return 0.0
        left_s = max(0.0, MAX_MATCH_REFUND_S - self._refunded_s)
        return min(self._lag.refund_s(since_s, now_s, self._owner), MAX_REFUND_S, left_s)

    def _due(self) -> None:
        now_s = self._now_s()
        left_s = self._limit_s - self.away_s()
        if self._lag.late(now_s):
            self._timer.set(
                now_s + LATE_CHECK_S
            )  # the bot may be back, and the arena has not read it yet
        elif left_s > CLOSE_S:
            self._timer.set(now_s + left_s)  # the time in which the arena was late does not count
        else:
            self._used_up()
