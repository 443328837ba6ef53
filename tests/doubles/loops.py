"""Loops on mock clocks that can be blocked, as when the process is stopped."""

import heapq

import trio


class Loop:
    """A loop on a clock of its own, which stands still while the loop is blocked."""

    def __init__(self):
        self.now_s = 1000.0
        self._calls = []
        self._order = 0
        self.called = 0

    def call_later(self, delay_s, call):
        self._order += 1
        entry = [self.now_s + delay_s, self._order, call]
        heapq.heappush(self._calls, entry)
        return Entry(entry)

    def run_until(self, at_s):
        """Everything is called when it is due."""
        while self._calls and self._calls[0][0] <= at_s:
            due_s, _, call = heapq.heappop(self._calls)
            self.now_s = max(self.now_s, due_s)
            if call is not None:
                self.called += 1
                call()
        self.now_s = max(self.now_s, at_s)

    def block_until(self, at_s):
        """Nothing is called, as when the process is stopped; then all that was due."""
        self.now_s = at_s

    def resume(self):
        self.run_until(self.now_s)


class Entry:
    def __init__(self, entry):
        self.entry = entry

    def cancel(self):
        self.entry[2] = None


class TrioLoop:
    """Trio as a loop that calls functions later. Its clock is blocked by `MockClock.jump`."""

    def __init__(self, nursery):
        self._nursery = nursery

    def call_later(self, delay_s, call):
        scope = trio.CancelScope()

        async def wait():
            with scope:
                await trio.sleep(delay_s)
                call()

        self._nursery.start_soon(wait)
        return scope
