"""How late the arena itself is, so that no bot pays for it.

The loop that takes the bots' answers ticks every 10 ms. When a tick is late, so was
everything else on that loop, whatever the cause: the process was stopped, another
had the processor, the rules were at work, the collector ran. Lateness of more than
20 ms is a pause, and the part of a bot's time that falls in a pause is refunded.

Which loop: the transport's. An answer is stamped there, and a trio guest runs
on the same thread, so what blocks either blocks both; `docs/reliability/clocks.md`
has the measurement.

What comes before that loop does not tick: gRPC reads the connections on a thread of its
own, and may be kept from it while the loop is punctual. So the arena also sends itself
probes on the way that answers take. One that takes more than 20 ms is a pause as well,
from its leaving on.

A pause gives whoever thinks meanwhile time for nothing, but not whose own calls or
messages made it: of these the meter is told, and what they took is not refunded to
bots of the same owner.
"""

import contextlib
import math
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from arena.referee.causes import Causes

TICK_S: Final = 0.01
"""From one tick to the next."""
PAUSE_S: Final = 0.02
"""Lateness of a tick that makes a pause; anything less is what a busy loop does."""
PUNCTUAL_S: Final = 0.1
"""How long the arena must have been punctual before anything is judged by its clock."""
WINDOW_S: Final = 10.0
"""The time that `LagMeter.p99_ms` looks back on."""
MAX_REFUND_S: Final = 60.0
"""Most that is refunded of one decision, one absence or one step of a handshake: a pause gives time to
think, so it must not be worth making."""
MAX_MATCH_REFUND_S: Final = 3_600.0
"""And to one seat of all its decisions at a match, and as much of all its absences."""
MAX_PAUSES: Final = 8_192
"""Pauses that are remembered at least half of, the latest ones. They are more than 30 ms
apart, so that is two minutes at the very worst, and days of ordinary life."""


class Lag(Protocol):
    """How late the arena itself was, which no bot is charged for."""

    def refund_s(self, since_s: float, until_s: float, owner: str = "") -> float:
        """How much of this span the arena was late, and not by the doing of this owner of bots."""
        ...

    def late(self, now_s: float, due_s: float = -math.inf) -> bool:
        """Whether it is late now, or was within the last tenth of a second.

        Also if it is not known yet that what had come by `due_s` has been read.
        """
        ...


class NeverLate:
    """An arena that is never late: `Lag` where time is played back or mocked."""

    def refund_s(self, since_s: float, until_s: float, owner: str = "") -> float:  # noqa: ARG002
        return 0.0

    def late(self, now_s: float, due_s: float = -math.inf) -> bool:  # noqa: ARG002
        return False


class Scheduled(Protocol):
    """A call that is to come, as `asyncio.TimerHandle`."""

    def cancel(self) -> None:
        """Make it not come."""
        ...


CallLater = Callable[[float, Callable[[], None]], Scheduled]
"""Calls a function after so many seconds, on the loop that is to be measured."""


@dataclass(frozen=True, slots=True)
class LagCounts:
    """What a meter has seen since it was made."""

    ticks: int
    pauses: int
    paused_s: float
    """Sum of all pauses."""
    longest_pause_s: float


class LagMeter:
    """Measures how late one loop is: `Lag`.

    Ticks while at least one `measuring` block is open, so an idle arena sleeps.
    All calls are made on the thread of that loop. Times are those of `now_s`.
    """

    def __init__(self, call_later: CallLater, now_s: Callable[[], float]) -> None:
        """`call_later` belongs to the loop; `now_s` is the clock that stamps asks and answers."""
        self._call_later = call_later
        self._now_s = now_s
        self.on_start: Callable[[], None] = _nothing
        """Called when measuring begins."""
        self._probed = False
        """Whether probes are sent at all."""
        self._probe_s = math.inf
        """When the probe left that has not returned; infinite if none is under way."""
        self._read_s = -math.inf
        """What had come by then has been read, as the last probe that returned has shown."""
        self._causes = Causes()
        self._users = 0
        self._next: Scheduled | None = None
        self._due_s = 0.0
        """When the next tick is due; what is later than that is late."""
        self._starts_s: list[float] = []
        self._ends_s: list[float] = []
        self._paused_s: list[float] = [0.0]
        """Before each pause, all pauses up to then together; one more than there are pauses."""
        self._lateness: deque[_Tick] = deque()
        self._measured_s = 0.0
        """Sum of `_Tick.after_s` in `_lateness`."""
        self._ticks = 0
        self._pauses = 0
        self._longest_s = 0.0

    @contextlib.contextmanager
    def measuring(self) -> Iterator[None]:
        """Tick within the block, as while a match is in play. Blocks may overlap."""
        self.start()
        try:
            yield
        finally:
            self.stop()

    def start(self) -> None:
        """Tick until `stop` has been called as often as this."""
        self._users += 1
        if self._users == 1:
            self._schedule(self._now_s())
            self.on_start()

    @property
    def is_measuring(self) -> bool:
        """Whether at least one block is open."""
        return self._users > 0

    def stop(self) -> None:
        """Take one `start` back."""
        if self._users < 1:
            raise RuntimeError("the meter was stopped more often than started")
        self._users -= 1
        if self._users == 0 and self._next is not None:
            self._next.cancel()
            self._next = None
            now_s = self._now_s()
            if now_s - self._due_s > PAUSE_S:
                self._record(now_s)

    def refund_s(self, since_s: float, until_s: float, owner: str = "") -> float:
        """How much of the time from `since_s` to `until_s` the arena was late.

        A pause that has not ended counts up to now, as an answer may be stamped
        before the late tick arrives. What calls and messages of `owner` kept the loop
        for, as `caused` was told, does not count.
        """
        now_s = self._now_s()
        open_s = self._open_pause_s(now_s)
        ends_s = self._ends_s
        if open_s >= until_s and (not ends_s or since_s >= ends_s[-1]):
            return 0.0  # as almost always
        refund_s = 0.0
        if ends_s and since_s < ends_s[-1]:
            recorded_s = min(until_s, open_s)
            if since_s < recorded_s:
                refund_s = self._paused_until(recorded_s) - self._paused_until(since_s)
        if open_s < until_s:
            refund_s += max(0.0, min(until_s, now_s) - max(since_s, open_s))
        # Sums of other sums: a rounding must not make a refund more than the span, or less than 0.
        refund_s = max(0.0, min(refund_s, until_s - since_s))
        if owner and refund_s > 0.0:
            own = self._causes.of(owner, since_s, until_s)
            refund_s = max(0.0, refund_s - sum([self.refund_s(*span) for span in own]))
        return refund_s

    def caused(self, owner: str, since_s: float, until_s: float) -> None:
        """A call or message of this owner of bots had the loop, from then to now."""
        self._causes.note(owner, since_s, until_s)

    def late(self, now_s: float, due_s: float = -math.inf) -> bool:
        """Whether the arena is late, or was within the last 0.1 s.

        What came in time may not have been seen yet, so no time-out is declared: nor before
        a probe has returned that left after `due_s`, if probes are sent.
        """
        if self._open_pause_s(now_s) < now_s:
            return True
        if self._probed and self._read_s < due_s:
            return True
        return bool(self._ends_s) and now_s - self._ends_s[-1] < PUNCTUAL_S

    def _open_pause_s(self, now_s: float) -> float:
        """When the pause began that has not ended yet; infinite if there is none."""
        open_s = math.inf
        if self._next is not None and now_s - self._due_s > PAUSE_S:
            open_s = self._due_s
        if now_s - self._probe_s > PAUSE_S:
            open_s = min(open_s, self._probe_s)
        return open_s

    # Probes.

    def probe_left(self, at_s: float) -> None:
        """A probe was sent, where bots send their answers."""
        self._probed = True
        self._probe_s = at_s

    def probe_returned(self, at_s: float) -> None:
        """It was read, where answers are read."""
        left_s, self._probe_s = self._probe_s, math.inf
        self._read_s = left_s
        if at_s - left_s > PAUSE_S:
            self._add_pause(left_s, at_s)

    def probes_end(self) -> None:
        """There are no probes any more: nothing is to wait for them."""
        self._probed = False
        self._probe_s = math.inf

    def p99_ms(self) -> float:
        """Lateness of the ticks of the last 10 s, the 99th percentile, in milliseconds.

        Time without ticks, when nothing was in play, counts as punctual ticks. A
        pause counts as one late tick, however long it was: a machine that slept
        once is not overloaded, one that is late again and again is.
        """
        self._forget(self._now_s())
        unmeasured = max(0.0, WINDOW_S - self._measured_s) / TICK_S
        above = int((len(self._lateness) + unmeasured) / 100)
        if above >= len(self._lateness):
            return 0.0
        return sorted(tick.late_s for tick in self._lateness)[-1 - above] * 1000

    def counts(self) -> LagCounts:
        """What was seen so far, for metrics."""
        return LagCounts(self._ticks, self._pauses, self._paused_s[-1], self._longest_s)

    # Ticks.

    def _schedule(self, now_s: float) -> None:
        self._due_s = now_s + TICK_S
        self._next = self._call_later(TICK_S, self._tick)

    def _tick(self) -> None:
        now_s = self._now_s()
        self._record(now_s)
        self._schedule(now_s)

    def _record(self, now_s: float) -> None:
        late_s = max(0.0, now_s - self._due_s)
        self._ticks += 1
        tick = _Tick(now_s, late_s + TICK_S, late_s)
        self._lateness.append(tick)
        self._measured_s += tick.after_s
        self._forget(now_s)
        if late_s > PAUSE_S:
            self._add_pause(self._due_s, now_s)

    def _add_pause(self, start_s: float, end_s: float) -> None:
        """Remember a pause that has just ended. It takes in those that it overlaps."""
        is_new = True
        while self._ends_s and self._ends_s[-1] > start_s:
            start_s = min(start_s, self._starts_s.pop())
            self._ends_s.pop()
            self._paused_s.pop()
            is_new = False
        self._starts_s.append(start_s)
        self._ends_s.append(end_s)
        self._paused_s.append(self._paused_s[-1] + end_s - start_s)
        self._pauses += is_new
        self._longest_s = max(self._longest_s, end_s - start_s)
        if len(self._ends_s) > MAX_PAUSES:
            for kept in (self._starts_s, self._ends_s, self._paused_s):
                del kept[: MAX_PAUSES // 2]

    def _forget(self, now_s: float) -> None:
        """Drop ticks that are past the window."""
        ticks = self._lateness
        while ticks and ticks[0].at_s <= now_s - WINDOW_S:
            self._measured_s -= ticks.popleft().after_s

    def _paused_until(self, at_s: float) -> float:
        """All remembered pauses up to a moment, together."""
        begun = bisect_right(self._starts_s, at_s)
        if begun and at_s < self._ends_s[begun - 1]:
            return self._paused_s[begun - 1] + at_s - self._starts_s[begun - 1]
        return self._paused_s[begun]


def _nothing() -> None:
    """What is called when nobody wants to know that measuring begins."""


@dataclass(frozen=True, slots=True)
class _Tick:
    at_s: float
    after_s: float
    """Since the tick before."""
    late_s: float
