"""The time of an arena: its clock, how late it is, and timers.

Timers are many deadlines that move with every decision, served by one sleeping task.

A timer that is set to a later time is not moved in the queue; when its old entry is due, it is queued again. So
moving a deadline to a later time costs almost nothing.

An entry without a timer would stay until it is due, for up to hours. So the queue is swept whenever it has doubled.
"""

import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from arena.referee.clock import Lag, NeverLate

if TYPE_CHECKING:
    import trio

FEW_PLACES: Final = 1_000
"""A queue with at most this number of entries is not swept."""


class Timer:
    """Calls `action` once at its due time. Made by `Timers.timer`."""

    __slots__ = ("_queued_s", "_timers", "action", "due_s")

    def __init__(self, timers: "Timers", action: Callable[[], None]) -> None:
        self._timers = timers
        self._queued_s = math.inf
        self.action = action
        self.due_s = math.inf

    def set(self, due_s: float) -> None:
        """Set the due time, instead of any earlier one."""
        self.due_s = due_s
        if due_s < self._queued_s:
            self._queued_s = due_s
            self._timers._queue(due_s, self)

    def clear(self) -> None:
        self.due_s = math.inf

    def retire(self) -> None:
        """Unset the due time and the action, which refers to a match.

        The timer stays in the queue for a while, and would keep the match in memory.
        """
        self.due_s = self._queued_s = math.inf
        self.action = _nothing


def _nothing() -> None:
    """Do nothing, as the action of a retired timer."""


class Timers:
    """The timers of a referee. `run` is the task that calls them."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Timer]] = []
        self._swept_at = FEW_PLACES
        """The queue is swept when it has more entries."""
        self._count = itertools.count()
        self._scope: trio.CancelScope | None = None

    def timer(self, action: Callable[[], None]) -> Timer:
        """Return a timer that calls `action`, which must not raise."""
        return Timer(self, action)

    async def run(self) -> None:
        """Call timers as they come due, for ever."""
        import trio  # imported late, because readers of replays do not need trio

        while True:
            self.call_due(trio.current_time())
            until = self._heap[0][0] if self._heap else math.inf
            # An earlier timer moves the deadline instead of cancelling the scope, as it may be set
            # from the host loop.
            with trio.CancelScope(deadline=until) as self._scope:
                await trio.sleep_forever()
            self._scope = None

    def _queue(self, due_s: float, timer: Timer) -> None:
        if len(self._heap) > self._swept_at:
            self._sweep()
        heapq.heappush(self._heap, (due_s, next(self._count), timer))
        if self._scope is not None and due_s < self._scope.deadline:
            self._scope.deadline = due_s

    def _sweep(self) -> None:
        heap = self._heap
        heap[:] = [entry for entry in heap if entry[0] == entry[2]._queued_s]
        heapq.heapify(heap)
        self._swept_at = max(FEW_PLACES, 2 * len(heap))

    def call_due(self, now_s: float) -> None:
        """Call the timers that are due, where `run` does not run."""
        heap = self._heap
        while heap and heap[0][0] <= now_s:
            queued_s, _, timer = heapq.heappop(heap)
            if queued_s != timer._queued_s:
                continue  # retired, or queued again for an earlier time and called then
            timer._queued_s = math.inf
            if timer.due_s <= now_s:
                timer.due_s = math.inf
                timer.action()
            elif timer.due_s < math.inf:
                timer.set(timer.due_s)


@dataclass(frozen=True, slots=True)
class ArenaTime:
    """The time of an arena. Bots are not charged for its lateness, unless their owners caused it."""

    now_s: Callable[[], float]
    timers: Timers = field(default_factory=Timers)
    lag: Lag = field(default_factory=NeverLate)
    """The lateness of the arena."""
    owner_of: Callable[[str], str] = lambda bot: bot
    """Names the owner of a bot, by the bot's name."""
