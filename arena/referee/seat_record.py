"""The record of one seat of a match in play: its open ask, its time, and its faults.

The record has the seat's deadlines. When the time of an ask is up, or the bot was away for too long, it calls
`blame`, and the match runner charges the fault.
"""

from collections.abc import Callable
from typing import Final

from arena.errors import faults
from arena.referee.absence import LATE_CHECK_S, Absence
from arena.referee.ask import OpenAsk, SeatPort
from arena.referee.clock import GRACE_S, SeatClock, Spent
from arena.referee.lag import MAX_MATCH_REFUND_S, MAX_REFUND_S, Lag
from arena.referee.ledger import Settled, UsedTime
from arena.referee.spec import FaultKind, ForfeitedSeat, SeatConduct
from arena.referee.timers import Timers
from arena.referee.unsent_events import UnsentEvents
from arena.terms import MatchTerms
from arena.wire.codec import Codec

MAX_MOVE_BYTES: Final = 4 << 20
"""Most bytes of the decisions of one seat in a match. A seat that has used them is not asked any more, as if it had
no time. So a match of two bots that raise for ever ends, and no match has more records than a replay may have."""
DECISION_BYTES: Final = 64
"""Bytes that a decision counts in addition to its move: about the rest of its record."""
RECORD_STEP_S: Final = 1.0
"""The used time of an open ask is recorded when it has grown by this, and by a 32nd of itself."""
NOTHING_USED: Final = UsedTime(0, 0, 0.0, 0.0)

Blame = Callable[[OpenAsk, FaultKind, str, float], None]
"""Charges a fault: the ask, the kind of fault, the reason, and the time now in seconds."""


class SeatRecord:
    """One seat of a match in play."""

    __slots__ = (
        "_blame",
        "_lag",
        "_limit_ms",
        "_now_s",
        "_owner",
        "_refunded_s",
        "_seat",
        "_timer",
        "ask",
        "clock",
        "decisions",
        "fallbacks",
        "faults",
        "forfeited",
        "move_bytes",
        "out",
        "port",
        "presence",
        "recorded",
        "unsent",
    )

    def __init__(
        self,
        seat: int,
        port: SeatPort,
        terms: MatchTerms,
        codec: Codec,
        *,
        timers: Timers,
        now_s: Callable[[], float],
        lag: Lag,
        owner: str,
        blame: Blame,
    ) -> None:
        """A seat that was not asked yet.

        `owner` is the name of the bot's owner: pauses that the owner caused are not refunded.
        """
        self.port = port
        self.clock = SeatClock(terms.time_control)
        self.unsent = UnsentEvents(codec)
        """Events and faults that were not sent to the bot yet."""
        self.presence = Absence(
            terms.away_limit_ms,
            timers=timers,
            now_s=now_s,
            lag=lag,
            used_up=self._away_too_long,
            owner=owner,
        )
        self.ask: OpenAsk | None = None
        self.recorded = NOTHING_USED
        """The last recorded time before the next decision."""
        self.decisions = 0
        self.fallbacks = 0
        self.faults = 0
        self.move_bytes = 0
        """Bytes of the seat's decisions so far, as `MAX_MOVE_BYTES` counts them."""
        self.forfeited = False
        """Whether the fallback plays the seat to the end."""
        self.out: ForfeitedSeat | None = None
        """The fault to be charged with the next decision of a forfeited seat; None after that."""
        self._refunded_s = 0.0
        self._seat = seat
        self._limit_ms = terms.away_limit_ms
        self._now_s = now_s
        self._lag = lag
        self._owner = owner
        self._blame = blame
        self._timer = timers.timer(self._expired)

    @property
    def conduct(self) -> SeatConduct:
        """The numbers of decisions by the bot and by the fallback."""
        return SeatConduct(self.decisions, self.fallbacks, self.forfeited)

    # Decisions.

    def open(self, ask: OpenAsk) -> None:
        """The seat is asked."""
        self.ask = ask
        self.decisions = ask.decision

    def close_ask(self, ask: OpenAsk) -> None:
        """The open ask is settled."""
        ask.settle()
        self.ask = None

    def settled(self, game_move: bytes, refunded_s: float, *, by_fallback: bool) -> None:
        """A decision is settled with this encoded move."""
        self.move_bytes += DECISION_BYTES + len(game_move)
        if by_fallback:
            self.fallbacks += 1
        self._refunded_s += refunded_s

    def settle_unasked(self) -> ForfeitedSeat | None:
        """Count a decision of the fallback; returns the fault to be charged with it."""
        self.decisions += 1
        out, self.out = self.out, None
        if out is None and not self.forfeited and self.port.gone:
            out = ForfeitedSeat(self._seat, FaultKind.GONE, faults.LEFT.text())
        if out is not None:
            self.forfeited = True
        return out

    def blamed(self, limit: int) -> None:
        """A fault was charged; with fault number `limit` the seat is forfeited."""
        self.faults += 1
        if self.faults == limit:
            self.forfeited = True

    def forfeit(self, out: ForfeitedSeat | None = None) -> None:
        """Let the fallback play the seat from now on; `out` is charged with its next decision."""
        self.forfeited = True
        if out is not None:
            self.out = out

    def resume(self, settled: Settled) -> None:
        """Add a decision from before a restart of the arena.

        Raises:
          ValueError: if it is not the seat's next decision.
        """
        if settled.decision != self.decisions + 1:
            raise ValueError(
                f"decision {settled.decision} of seat {settled.seat} was not to be made"
            )
        self.decisions += 1
        by_fallback = settled.unasked or settled.fault is not None
        self.settled(settled.game_move, settled.refunded_s, by_fallback=by_fallback)
        if not settled.unasked:
            self.unsent.forget()
            in_time = settled.fault is None or settled.fault.in_time
            self.clock.charge(settled.charged_s, in_time=in_time)
            self.faults += settled.fault is not None
        if settled.fault is not None:
            self.out = None
        self.forfeited = settled.forfeited

    # Time.

    def start_clock(self, ask: OpenAsk) -> float:
        """Start the time of an ask that was sent; returns its end, with grace."""
        due_s = ask.sent_s + self.clock.allowance_s + GRACE_S
        # An earlier deadline stays in place; when it is due, the timer is set again.
        if due_s < self._timer.due_s:
            self._timer.set(due_s)
        return due_s

    def spent(self, ask: OpenAsk, now_s: float) -> Spent:
        """The time of an ask, without the lateness of the arena."""
        if ask.sent_s < 0:
            return Spent(now_s)
        refunded_s = self._refund_s(ask, now_s)
        return Spent(ask.sent_s, max(0.0, now_s - ask.sent_s - refunded_s), refunded_s)

    def _refund_s(self, ask: OpenAsk, now_s: float) -> float:
        """The lateness of the arena, within the limits for a decision and for a match."""
        refund_s = self._lag.refund_s(ask.sent_s, now_s, self._owner)
        if refund_s <= 0.0:
            return 0.0
        return min(refund_s, MAX_REFUND_S, max(0.0, MAX_MATCH_REFUND_S - self._refunded_s))

    def _expired(self) -> None:
        ask, now_s = self.ask, self._now_s()
        if ask is None:
            return
        if now_s < ask.due_s:
            if ask.sent_s >= 0:
                self._timer.set(ask.due_s)
            return
        if self._lag.late(now_s, ask.due_s):
            # While the arena is late, an answer may have arrived that was not read yet.
            self._timer.set(now_s + LATE_CHECK_S)
            return
        due_s = ask.due_s + self._refund_s(ask, now_s)
        if now_s < due_s:
            self._timer.set(due_s)
        elif self.port.connected:
            self._blame(ask, FaultKind.TIMEOUT, faults.LATE.text(), now_s)
        else:
            self._blame(ask, FaultKind.GONE, faults.HUNG_UP.text(), now_s)

    def _away_too_long(self) -> None:
        if self.forfeited:
            return
        reason = faults.AWAY.text(seconds=f"{self._limit_ms / 1000:g}")
        if self.ask is None:
            self.out = ForfeitedSeat(self._seat, FaultKind.GONE, reason)
        else:
            self.forfeited = True
            self._blame(self.ask, FaultKind.GONE, reason, self._now_s())

    def keep_time(self, now_s: float) -> bool:
        """Update `recorded`; False if it has changed too little to be recorded again."""
        before, ask, away_s = self.recorded, self.ask, self.presence.away_s()
        decision, charged_s = 0, 0.0
        if ask is not None:
            decision, charged_s = ask.decision, self.spent(ask, now_s).charged_s
        used_s = before.used_s if before.decision == decision else 0.0
        if not (_has_grown(charged_s, used_s) or _has_grown(away_s, before.away_s)):
            return False
        self.recorded = UsedTime(self._seat, decision, charged_s, away_s)
        return True

    def resume_time(self, used: UsedTime) -> None:
        """Set the time that was used before a restart of the arena."""
        self.recorded = used
        self.presence.was_away(used.away_s)

    def retire_timers(self) -> None:
        """End the deadlines of this seat, as the match is over or suspended."""
        self._timer.retire()
        self.presence.retire()


def _has_grown(seconds: float, recorded_s: float) -> bool:
    """Whether a time is to be recorded again: the longer it is, the less often."""
    return seconds - recorded_s >= max(RECORD_STEP_S, recorded_s / 32)
