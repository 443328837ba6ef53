"""Many deadlines that move at every decision, kept by one sleeping task.

A timer that is set again to a later time is not moved in the queue: when its
old place comes up, it is queued anew. So a decision costs no work here as
long as deadlines only recede, and the task sleeps through.

A place that no timer waits for any more would stay until it comes up, which may be
hours, as long as a bot's bank. So the queue is swept whenever it has doubled.
"""

import heapq
import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import trio

FEW_PLACES: Final = 1_000
"""A queue of no more places is not swept."""


class Timer:
    """Calls `action` once when its due time has come. Make it with `Timers.timer`."""

    __slots__ = ("_queued_s", "_timers", "action", "due_s")

    def __init__(self, timers: "Timers", action: Callable[[], None]) -> None:
        self._timers = timers
        self._queued_s = math.inf
        self.action = action
        self.due_s = math.inf

    def set(self, due_s: float) -> None:
        """Make the timer due at `due_s`, in place of any time set before."""
        self.due_s = due_s
        if due_s < self._queued_s:
            self._queued_s = due_s
            self._timers._queue(due_s, self)

    def clear(self) -> None:
        """Make the timer due never."""
        self.due_s = math.inf

    def retire(self) -> None:
        """Make the timer due never again.

        Its place in the queue stays for a while. Until then it would keep in
        memory what its action refers to: a whole match.
        """
        self.due_s = self._queued_s = math.inf
        self.action = _nothing


def _nothing() -> None:
    """What a retired timer does."""


class Timers:
    """All timers of a referee. `run` is the task that calls them."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Timer]] = []
        self._swept_at = FEW_PLACES
        """The queue is swept when it has more places."""
        self._count = itertools.count()
        self._scope: trio.CancelScope | None = None

    def timer(self, action: Callable[[], None]) -> Timer:
        """A timer that calls `action`, which must not raise."""
        return Timer(self, action)

    async def run(self) -> None:
        """Call timers as they come due, for ever."""
        import trio  # a terms' reader, who never runs any, is without it

        while True:
            self._call_due(trio.current_time())
            until = self._heap[0][0] if self._heap else math.inf
            # The deadline is moved, not the scope cancelled, when an earlier
            # timer is set: the host loop may do that as well as trio.
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
        """Drop the places that no timer waits for."""
        heap = self._heap
        heap[:] = [place for place in heap if place[0] == place[2]._queued_s]
        heapq.heapify(heap)
        self._swept_at = max(FEW_PLACES, 2 * len(heap))

    def _call_due(self, now_s: float) -> None:
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
