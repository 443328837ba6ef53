"""The time that a bot is charged: the clock of its seat, without the lateness of the arena.

A seat has time per move, a bank, and limits for a hand and the match (`SeatClock`).

The event loop that receives the bots' answers ticks every 10 ms (`LagMeter`). If a tick is late, everything on that
loop was late, for any cause: the process was stopped, another process used the processor, the rules were computing,
or the garbage collector ran. Lateness of more than 20 ms is a pause. The part of a bot's time within a pause is
refunded.

The loop is the transport's, where answers get their time stamps. Trio runs as a guest on the same thread, so
anything that blocks one blocks both; `docs/reliability/clocks.md` has the measurement.

gRPC reads connections on a thread of its own, which may be delayed while the loop is punctual. So the arena also sends
probes to itself on the path of answers. A probe that takes more than 20 ms is also a pause, which begins when it is
sent.

A pause gives free time to bots that think during it. So an owner's own calls and messages are recorded (`worked`), and
their time is not refunded to the owner's bots. Only the processor time of the loop's thread counts: a process that is stopped
while it reads a bot's message is not stopped by the bot.
"""

import contextlib
import math
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from arena.referee.terms import MAX_TIME_MS, TimeControl

GRACE_S: Final = 0.05
"""The lateness of an answer in seconds that is accepted; it is never charged."""
WORK_STEP_S: Final = 100e-9
"""The charge in seconds for each step of work that a move causes: about the time of the expensive ones."""
TICK_S: Final = 0.01
"""Seconds between two ticks."""
PAUSE_S: Final = 0.02
"""The lateness of a tick in seconds from which it is a pause; less is usual for a busy loop."""
PUNCTUAL_S: Final = 0.1
"""Seconds for which the arena must have been punctual before a deadline passes."""
WINDOW_S: Final = 10.0
"""The time in seconds over which `LagMeter.p99_ms` is computed."""
MAX_REFUND_S: Final = 60.0
"""The largest refund in seconds for one decision, one absence or one step of a handshake, so that causing a pause does not pay."""
MAX_MATCH_REFUND_S: Final = 3_600.0
"""The largest refund in seconds to one seat for all its decisions at a match, and as much for all its absences."""
MAX_PAUSES: Final = 8_192
"""At least the latest half of this number of pauses is remembered. Two pauses differ by more than 30 ms, so this
covers at least two minutes, and days in usual operation."""

NOTED_S: Final = 0.001
"""The seconds below which work is not recorded: a pause is twenty times as long."""
MOST_OF_AN_OWNER: Final = 256
"""At least the longest of this number of recorded pieces of work of one owner are remembered."""
MOST_OWNERS: Final = 1_000


class Spent(NamedTuple):
    """The time of a decision."""

    sent_s: float
    """The time when the ask was sent, on the arena's clock."""
    charged_s: float = 0.0
    refunded_s: float = 0.0
    """Lateness of the arena, which is not charged."""


class SeatClock:
    """The time of one seat at one match.

    A move first uses its own time, then the bank. An answer in time adds the increment to the bank, up to
    `MAX_TIME_MS`. The limits of hand and match bound the sum of all charges.

    Times are in whole microseconds, as in the journal, so that a clock computed from a replay is exactly equal.
    """

    __slots__ = (
        "_bank_us",
        "_free_within_move",
        "_hand_left_us",
        "_hand_us",
        "_increment_us",
        "_match_left_us",
        "_move_us",
        "_times",
        "allowance_s",
    )

    def __init__(self, control: TimeControl) -> None:
        self._move_us = control.move_ms * 1000
        self._bank_us = control.bank_ms * 1000
        self._increment_us = control.increment_ms * 1000
        self._hand_us = control.hand_ms * 1000 or _UNLIMITED_US
        self._hand_left_us = self._hand_us
        self._match_left_us = control.match_ms * 1000 or _UNLIMITED_US
        # The usual case: without limits and increment such a move does not change the bank.
        self._free_within_move = not (control.increment_ms or control.hand_ms or control.match_ms)
        self._times: tuple[int, int, int] | None = None
        self.allowance_s = 0.0
        """The longest time of the next move; 0 once a limit is used up."""
        self._changed()

    @property
    def bank_ms(self) -> int:
        """The time in the bank, in whole milliseconds."""
        return self._bank_us // 1000

    def times_ms(self, used_s: float = 0.0) -> tuple[int, int, int]:
        """Return the times in an ask: for the move, in the bank, and the increment.

        If a limit leaves less, move and bank together are not more than that. `used_s` has already passed.
        """
        if self._times is not None and used_s <= 0:
            return self._times
        limit_us = min(self._hand_left_us, self._match_left_us)
        move_us = min(self._move_us, limit_us)
        bank_us = min(self._bank_us, limit_us - move_us)
        increment_ms = self._increment_us // 1000
        if used_s > 0:
            used_us = round(used_s * 1e6)
            bank_us = max(0, bank_us - max(0, used_us - move_us))
            move_us = max(0, move_us - used_us)
            return move_us // 1000, bank_us // 1000, increment_ms
        self._times = move_us // 1000, bank_us // 1000, increment_ms
        return self._times

    def new_hand(self) -> None:
        self._hand_left_us = self._hand_us
        self._changed()

    def charge(self, used_s: float, *, in_time: bool) -> None:
        """Charge a move of `used_s`, up to the time that the seat had."""
        used_us = round(used_s * 1e6)
        if used_us <= self._move_us and self._free_within_move:
            return
        used_us = min(max(used_us, 0), self._allowance_us())
        self._hand_left_us -= used_us
        self._match_left_us -= used_us
        if used_us > self._move_us:
            self._bank_us = max(0, self._bank_us - (used_us - self._move_us))
        if in_time:
            self._bank_us = min(self._bank_us + self._increment_us, MAX_TIME_MS * 1000)
        self._changed()

    def _changed(self) -> None:
        self._times = None
        self.allowance_s = self._allowance_us() / 1e6

    def _allowance_us(self) -> int:
        if self._free_within_move:
            return self._move_us + self._bank_us
        return min(self._move_us + self._bank_us, self._hand_left_us, self._match_left_us)


_UNLIMITED_US: Final = 1 << 62


class Lag(Protocol):
    """The lateness of the arena, which bots are not charged for."""

    def refund_s(self, since_s: float, until_s: float, owner: str = "") -> float:
        """Return the time within this span in which the arena was late, without pauses that `owner` caused."""
        ...

    def late(self, now_s: float, due_s: float = -math.inf) -> bool:
        """Return whether the arena is late, or was within the last 0.1 s.

        Also true if messages that arrived by `due_s` may not have been read yet.
        """
        ...

    def measuring(self) -> AbstractContextManager[None]:
        """Measure the lateness within the block. Blocks may overlap."""
        ...


class NeverLate:
    """An arena that is never late: the `Lag` of tests and of replayed matches."""

    def refund_s(self, since_s: float, until_s: float, owner: str = "") -> float:  # noqa: ARG002
        return 0.0

    def late(self, now_s: float, due_s: float = -math.inf) -> bool:  # noqa: ARG002
        return False

    def measuring(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()


class Scheduled(Protocol):
    """A scheduled call, such as `asyncio.TimerHandle`."""

    def cancel(self) -> None: ...


CallLater = Callable[[float, Callable[[], None]], Scheduled]
"""Calls a function after a time in seconds, on the measured loop."""


@dataclass(frozen=True, slots=True)
class LagCounts:
    """The counters of a meter since it was made."""

    ticks: int
    pauses: int
    paused_s: float
    """Sum of all pauses."""
    longest_pause_s: float


class PauseCauses:
    """The work of each owner on the loop, in order of time."""

    def __init__(self) -> None:
        self._works: dict[str, list[tuple[float, float]]] = {}

    def note(self, owner: str, since_s: float, until_s: float) -> None:
        """Note that an owner's call or message used the loop from `since_s` to `until_s`, which is now."""
        if not owner or until_s - since_s < NOTED_S:
            return
        works = self._works.setdefault(owner, [])
        works.append((since_s, until_s))
        # Many are removed at once, because a search for the shortest takes 20 µs.
        if len(works) > 2 * MOST_OF_AN_OWNER:
            works.sort(key=lambda work: work[1] - work[0])
            works[:] = sorted(works[-MOST_OF_AN_OWNER:])
        if len(self._works) > MOST_OWNERS:
            del self._works[next(iter(self._works))]

    def of(self, owner: str, since_s: float, until_s: float) -> Iterator[tuple[float, float]]:
        """Yield the parts of a span in which this owner's work used the loop."""
        for began_s, ended_s in reversed(self._works.get(owner, ())):
            if ended_s <= since_s:
                return
            if began_s < until_s:
                yield max(began_s, since_s), min(ended_s, until_s)


class LagMeter:
    """Measures how late one loop is: `Lag`.

    It ticks only within `measuring` blocks, so that an idle arena sleeps. All calls are made on the thread of that
    loop. Times are those of `now_s`.
    """

    def __init__(
        self,
        call_later: CallLater,
        now_s: Callable[[], float],
        processor_s: Callable[[], float],
    ) -> None:
        """Measure a loop that ticks by `call_later`.

        Args:
          call_later: Belongs to the loop.
          now_s: The clock that stamps asks and answers.
          processor_s: The processor time of the loop's thread.
        """
        self._call_later = call_later
        self._now_s = now_s
        self._processor_s = processor_s
        self._ticked_processor_s = 0.0
        """The processor time at the last tick."""
        self._on_start: Callable[[], None] = _nothing
        self._probed = False
        """Whether probes are sent at all."""
        self._probe_s = math.inf
        """When the present probe was sent; infinite without one."""
        self._read_s = -math.inf
        """Messages that arrived by then have been read: when the last returned probe was sent."""
        self._causes = PauseCauses()
        self._users = 0
        self._next: Scheduled | None = None
        self._due_s = 0.0
        """When the next tick is due."""
        self._starts_s: list[float] = []
        self._ends_s: list[float] = []
        self._paused_s: list[float] = [0.0]
        """Total time of the pauses before each pause, and of all pauses at the end."""
        self._lateness: deque[_Tick] = deque()
        self._measured_s = 0.0
        """Sum of `_Tick.after_s` in `_lateness`."""
        self._ticks = 0
        self._pauses = 0
        self._longest_s = 0.0

    def call_on_start(self, call: Callable[[], None]) -> None:
        """Set the function that is called whenever measuring begins."""
        self._on_start = call

    @contextlib.contextmanager
    def measuring(self) -> Iterator[None]:
        """Tick within the block, for example while a match is in play. Blocks may overlap."""
        self.start()
        try:
            yield
        finally:
            self.stop()

    def start(self) -> None:
        """Tick until `stop` has been called as often as `start`."""
        self._users += 1
        if self._users == 1:
            self._schedule(self._now_s())
            self._on_start()

    @property
    def is_measuring(self) -> bool:
        return self._users > 0

    def stop(self) -> None:
        """Undo one `start`."""
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
        """Return the time from `since_s` to `until_s` in which the arena was late.

        A pause that has not ended counts up to now, because an answer may get its time stamp before the late tick.
        Times in which calls and messages of `owner` used the loop do not count, see `worked`.
        """
        now_s = self._now_s()
        open_s = self._open_pause_s(now_s)
        ends_s = self._ends_s
        if open_s >= until_s and (not ends_s or since_s >= ends_s[-1]):
            return 0.0  # the usual case
        refund_s = 0.0
        if ends_s and since_s < ends_s[-1]:
            recorded_s = min(until_s, open_s)
            if since_s < recorded_s:
                refund_s = self._paused_until(recorded_s) - self._paused_until(since_s)
        if open_s < until_s:
            refund_s += max(0.0, min(until_s, now_s) - max(since_s, open_s))
        # Rounding must not make a refund longer than the span, or negative.
        refund_s = max(0.0, min(refund_s, until_s - since_s))
        if owner and refund_s > 0.0:
            caused = self._causes.of(owner, since_s, until_s)
            refund_s = max(0.0, refund_s - sum([self.refund_s(*span) for span in caused]))
        return refund_s

    def caused(self, owner: str, since_s: float, until_s: float) -> None:
        """Note that this owner delayed the arena from `since_s` to `until_s`, which is now."""
        self._causes.note(owner, since_s, until_s)

    def worked(self, owner: str, since_s: float, until_s: float) -> None:
        """Note that a call or message of this owner was handled on the loop from `since_s` to `until_s`, which is now.

        It caused no more of this span than the loop's thread has computed since the last tick: the rest is a stopped process or
        the work of other processes.
        """
        if until_s - since_s < NOTED_S:
            return
        if self._next is not None:
            computed_s = self._processor_s() - self._ticked_processor_s
            since_s = max(since_s, until_s - computed_s)
        self._causes.note(owner, since_s, until_s)

    def late(self, now_s: float, due_s: float = -math.inf) -> bool:
        """Return whether the arena is late, or was within the last 0.1 s.

        Then an answer in time may not have been read yet, so there is no time-out. With probes, the same holds
        until a probe has returned that was sent after `due_s`.
        """
        if self._open_pause_s(now_s) < now_s:
            return True
        if self._probed and self._read_s < due_s:
            return True
        return bool(self._ends_s) and now_s - self._ends_s[-1] < PUNCTUAL_S

    def _open_pause_s(self, now_s: float) -> float:
        """Return the start of the present pause; infinite without one."""
        open_s = math.inf
        if self._next is not None and now_s - self._due_s > PAUSE_S:
            open_s = self._due_s
        if now_s - self._probe_s > PAUSE_S:
            open_s = min(open_s, self._probe_s)
        return open_s

    # Probes.

    def probe_left(self, at_s: float) -> None:
        """Note that a probe was sent on the path of answers."""
        self._probed = True
        self._probe_s = at_s

    def probe_returned(self, at_s: float) -> None:
        left_s, self._probe_s = self._probe_s, math.inf
        self._read_s = left_s
        if at_s - left_s > PAUSE_S:
            self._add_pause(left_s, at_s)

    def probes_end(self, at_s: float) -> None:
        """Note that no further probes are sent. A probe that has not returned is lost: the time since it was sent is a pause."""
        self._probed = False
        if at_s - self._probe_s > PAUSE_S:
            self._add_pause(self._probe_s, at_s)
        self._probe_s = math.inf

    def p99_ms(self) -> float:
        """Return the 99th percentile of the lateness of ticks in the last 10 s, in milliseconds.

        Time without ticks counts as punctual ticks. A pause counts as one late tick, however long it was, because
        the percentile measures overload: repeated lateness, not one long sleep of the machine.
        """
        self._forget(self._now_s())
        unmeasured = max(0.0, WINDOW_S - self._measured_s) / TICK_S
        above = int((len(self._lateness) + unmeasured) / 100)
        if above >= len(self._lateness):
            return 0.0
        return sorted(tick.late_s for tick in self._lateness)[-1 - above] * 1000

    def counts(self) -> LagCounts:
        return LagCounts(self._ticks, self._pauses, self._paused_s[-1], self._longest_s)

    # Ticks.

    def _schedule(self, now_s: float) -> None:
        self._due_s = now_s + TICK_S
        self._ticked_processor_s = self._processor_s()
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
            for times in (self._starts_s, self._ends_s, self._paused_s):
                del times[: MAX_PAUSES // 2]

    def _forget(self, now_s: float) -> None:
        ticks = self._lateness
        while ticks and ticks[0].at_s <= now_s - WINDOW_S:
            self._measured_s -= ticks.popleft().after_s

    def _paused_until(self, at_s: float) -> float:
        """Return the total time of remembered pauses up to a moment."""
        begun = bisect_right(self._starts_s, at_s)
        if begun and at_s < self._ends_s[begun - 1]:
            return self._paused_s[begun - 1] + at_s - self._starts_s[begun - 1]
        return self._paused_s[begun]


def _nothing() -> None:
    """Do nothing, as the default of `call_on_start`."""


@dataclass(frozen=True, slots=True)
class _Tick:
    at_s: float
    after_s: float
    """Seconds since the previous tick."""
    late_s: float
