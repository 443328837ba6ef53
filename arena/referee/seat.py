"""One seat of a match in play: the asks of its bot, the judgement of answers, and the time and faults of the seat.

    SeatRecord -> OpenAsk -> SeatPort (the bot) -> Answer -> chosen_move: a legal move, or a fault

The record has the seat's deadlines. When the time of an ask is up, or the bot was away for too long, it calls
`Asker.blame`, and the match runner charges the fault. Events and faults wait for the seat's next ask as `UnsentEvents`.
"""

import math
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, NamedTuple, Protocol

from google.protobuf.message import Message

from arena.errors import faults
from arena.games.contract import Move, Moves, Seat
from arena.games.notation import Notation
from arena.referee.absence import LATE_CHECK_S, Absence
from arena.referee.clock import GRACE_S, MAX_MATCH_REFUND_S, MAX_REFUND_S, SeatClock, Spent
from arena.referee.events import UnsentEvents
from arena.referee.ledger import FaultEvidence, Settled, UsedTime
from arena.referee.spec import FaultKind, ForfeitedSeat, Outcome, SeatConduct
from arena.referee.terms import MatchTerms
from arena.referee.timers import ArenaTime
from arena.referee.wire.codec import Codec, Malformed

MAX_MOVE_BYTES: Final = 4 << 20
"""The maximal number of bytes of the decisions of one seat in a match.

A seat that has used them is not asked any more, like a seat without time. So a match of two bots that raise for ever
ends, and no match has more records than a replay may have.
"""
DECISION_BYTES: Final = 64
"""The number of bytes that a decision counts in addition to its move: about the rest of its record."""
RECORD_STEP_S: Final = 1.0
"""The used time of an open ask is recorded when it has grown by this, and by a 32nd of itself."""
MAX_QUOTED_CHARS: Final = 160
NOTHING_USED: Final = UsedTime(0, 0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Answer:
    """A bot's answer to an ask. One without index and move was malformed, unless the bot failed."""

    index: int | None = None
    """The number of the move among the offered ones."""
    move: Message | None = None
    """An unread `cardarena.v1.GameMove`."""
    note: str = ""
    failed: bool = False
    """Whether the client reports that the bot has no move because its own code failed."""


class Said(NamedTuple):
    """The legal move that a bot answered with."""

    move: Move
    place: int | None
    """Its number among the offered moves; None if it is not one of them."""

    @classmethod
    def among(cls, moves: Moves, move: Move) -> "Said":
        """Return the move, with its place if it has one."""
        offered = moves.offered
        return cls(move, offered.index(move) if move in offered else None)


class Asker(Protocol):
    """The part of `arena.referee.match_runner.MatchRunner` that a seat and its asks use."""

    def answered(
        self, ask: "OpenAsk", answer: Answer, received_s: float, raw: bytes
    ) -> Said | None:
        """Take the bot's answer; return the chosen move, or None for a fault."""
        ...

    def abandoned(self, ask: "OpenAsk") -> None:
        """Note that the bot has left for ever."""
        ...

    def blame(self, ask: "OpenAsk", kind: FaultKind, reason: str, now_s: float) -> None:
        """Charge a fault at this time."""
        ...

    def texts(self, ask: "OpenAsk") -> bytes:
        """Return the moves and events of an ask in notation, as encoded fields."""
        ...


class OpenAsk:
    """One decision that a seat is asked for, until it is settled."""

    __slots__ = (
        "_carried_s",
        "body",
        "decision",
        "due_s",
        "events",
        "moves",
        "record",
        "said",
        "seat",
        "sent_s",
        "settled",
    )

    def __init__(
        self,
        record: "SeatRecord",
        moves: Moves,
        body: bytes,
        events: list[object],
        carried_s: float = 0.0,
    ) -> None:
        """Make an ask for the next decision of a seat.

        `carried_s` is the time of this ask that the bot used before a restart of the arena.
        """
        self._carried_s = carried_s
        self.record = record
        self.seat = record.seat
        self.decision = record.decisions + 1
        self.moves = moves
        self.body = body
        """The ask as encoded fields, without its id, match, clock and texts."""
        self.events = events
        """The events in the ask, for notation."""
        self.said: Said | None = None
        """The move that the bot answered with; None before an answer, and for a fault."""
        self.sent_s = -1.0
        """When the ask was sent; negative before that."""
        self.due_s = math.inf
        """The end of its time, with grace."""
        self.settled = False

    def sent(self, now_s: float) -> None:
        """Start the clock of the ask, because the transport has it.

        A second call moves the start, for a transport that was slow.
        """
        if not self.settled:
            self.sent_s = now_s - self._carried_s
            self.due_s = self.record.start_clock(self)

    def answered(self, answer: Answer, received_s: float, raw: bytes = b"") -> None:
        """Take the answer of the bot; `received_s` was stamped when the bytes arrived.

        `raw` are the bytes themselves, for the evidence of a fault.
        """
        if not self.settled:
            self.said = self.record.asker.answered(self, answer, received_s, raw)

    def abandoned(self) -> None:
        """Note that the bot has left for ever and will not answer."""
        if not self.settled:
            self.record.asker.abandoned(self)

    def settle(self) -> None:
        self.settled = True
        self.body = b""

    def clock_ms(self, used_s: float = 0.0) -> tuple[int, int, int]:
        """Time for the move, in the bank, and per answer in time, in milliseconds.

        `used_s` is the time since the ask was sent, when it is sent again.
        """
        if self._carried_s:
            used_s = max(used_s, self._carried_s)
        return self.record.clock.times_ms(used_s)

    def texts(self) -> bytes:
        """Moves and events in notation, as encoded fields, for bots that want them."""
        return self.record.asker.texts(self)


class SeatPort(Protocol):
    """The bot of one seat, for a match runner.

    Calls neither block nor raise. If the bot can be asked at once, `ask` ends in `OpenAsk.sent`. A port may delay an
    ask until the bot has a free slot; during the delay no clock runs.
    """

    @property
    def gone(self) -> bool:
        """Whether the bot has left for ever and need not be asked."""
        ...

    @property
    def connected(self) -> bool: ...

    def sit(self, presence: Absence) -> None:
        """Begin the match. The port calls `presence` when the bot leaves and comes back."""
        ...

    def ask(self, ask: OpenAsk) -> None:
        """Ask the bot. The port calls `ask.answered` after this call."""
        ...

    def asked_before(self, decision: int, said: Said | None) -> None:
        """Receive the bot's last decision and its answer, before a match continues after a restart.

        `said` is None for a fault.
        """
        ...

    def close(self, ask: OpenAsk, fault: FaultKind | None, reason: str) -> None:
        """Withdraw an ask; its answer is not needed any more."""
        ...

    def end(self, outcome: Outcome, trailing_events: tuple[bytes, ...]) -> None:
        """Send the bot the outcome of the match.

        `trailing_events` are `cardarena.v1.GameEvent`s since the seat's last ask.
        """
        ...


class RejectedAnswer(NamedTuple):
    """The reason why an answer is rejected."""

    kind: FaultKind
    reason: str


def chosen_move(
    moves: Moves, answer: Answer, codec: Codec, notation: Notation
) -> Move | RejectedAnswer:
    """Return the legal move that an answer chooses, or why the answer is rejected.

    Raises:
      Exception: any error of the rules, which is not a fault of the bot.
    """
    index = answer.index
    if index is not None:
        offered = moves.offered
        if index < len(offered):
            return offered[index]
        reason = faults.BAD_INDEX.text(index=index, offered=len(offered))
        return RejectedAnswer(FaultKind.ILLEGAL, reason)
    if answer.failed:
        return RejectedAnswer(FaultKind.ERROR, faults.FAILED.text())
    if answer.move is None:
        return RejectedAnswer(FaultKind.MALFORMED, faults.NO_CHOICE.text())
    try:
        move = codec.read_move(answer.move)
        if move in moves:
            return move
    except Malformed as error:
        return RejectedAnswer(FaultKind.MALFORMED, faults.UNREADABLE.text(why=error))
    reason = faults.BAD_MOVE.text(move=notation.write(move)[:MAX_QUOTED_CHARS])
    return RejectedAnswer(FaultKind.ILLEGAL, reason)


class SeatRecord:
    """One seat of a match in play."""

    __slots__ = (
        "_lag",
        "_limit_ms",
        "_now_s",
        "_owner",
        "_refunded_s",
        "_timer",
        "ask",
        "asker",
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
        "seat",
        "unsent",
    )

    def __init__(
        self,
        asker: Asker,
        seat: Seat,
        port: SeatPort,
        terms: MatchTerms,
        codec: Codec,
        *,
        time: ArenaTime,
        bot: str,
        owner: str,
    ) -> None:
        """Make the seat of a bot that was not asked yet.

        `owner` is the name of the bot's owner: pauses that the owner caused are not refunded.
        """
        self.asker = asker
        self.seat = seat
        self.port = port
        self.clock = SeatClock(terms.control_of(bot))
        self.unsent = UnsentEvents(codec)
        """Events and faults that were not sent to the bot yet."""
        self.presence = Absence(
            terms.away_limit_ms, time=time, used_up=self._away_too_long, owner=owner
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
        self._limit_ms = terms.away_limit_ms
        self._now_s = time.now_s
        self._lag = time.lag
        self._owner = owner
        self._timer = time.timers.timer(self._expired)

    @property
    def conduct(self) -> SeatConduct:
        """The numbers of decisions by the bot and by the fallback."""
        return SeatConduct(self.decisions, self.fallbacks, self.forfeited)

    # Decisions.

    def open(self, ask: OpenAsk) -> None:
        self.ask = ask
        self.decisions = ask.decision

    def close_ask(self, ask: OpenAsk) -> None:
        ask.settle()
        self.ask = None

    def settled(self, game_move: bytes, refunded_s: float, *, by_fallback: bool) -> None:
        self.move_bytes += DECISION_BYTES + len(game_move)
        if by_fallback:
            self.fallbacks += 1
        self._refunded_s += refunded_s

    def settle_unasked(self) -> ForfeitedSeat | None:
        """Count a decision of the fallback; return the fault to be charged with it."""
        self.decisions += 1
        out, self.out = self.out, None
        if out is None and not self.forfeited and self.port.gone:
            out = ForfeitedSeat(self.seat, FaultKind.GONE, faults.LEFT.text())
        if out is not None:
            self.forfeited = True
        return out

    def blamed(self, limit: int) -> None:
        """Count a fault; with fault number `limit` the seat is forfeited."""
        self.faults += 1
        if self.faults == limit:
            self.forfeited = True

    def evidence(
        self, ask: OpenAsk, refunded_s: float, now_s: float, begin_s: float, raw: bytes
    ) -> FaultEvidence:
        """Return the evidence of a fault; `raw` is the message with the answer, if there was one.

        `begin_s` is when the match began, on the clock of `now_s`.
        """
        due_s = (now_s if ask.sent_s < 0 else ask.due_s + refunded_s) - begin_s
        away_s = self.presence.away_s()
        if not raw:
            return FaultEvidence(due_s, away_s=away_s)
        return FaultEvidence(due_s, now_s - begin_s, sha256(raw).digest(), len(raw), away_s)

    def forfeit(self, out: ForfeitedSeat | None = None) -> None:
        """Let the fallback play the seat from now on; `out` is charged with its next decision."""
        self.forfeited = True
        if out is not None:
            self.out = out

    def resume(self, settled: Settled) -> None:
        """Add a decision from before a restart of the arena.

        Raises `ValueError` if it is not the seat's next decision.
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
        """Start the time of an ask that was sent; return its end, with grace."""
        due_s = ask.sent_s + self.clock.allowance_s + GRACE_S
        # An earlier deadline stays in place; when it is due, the timer is set again.
        if due_s < self._timer.due_s:
            self._timer.set(due_s)
        return due_s

    def spent(self, ask: OpenAsk, now_s: float) -> Spent:
        """Return the time of an ask, without the lateness of the arena."""
        if ask.sent_s < 0:
            return Spent(now_s)
        refunded_s = self._refund_s(ask, now_s)
        return Spent(ask.sent_s, max(0.0, now_s - ask.sent_s - refunded_s), refunded_s)

    def _refund_s(self, ask: OpenAsk, now_s: float) -> float:
        """Return the lateness of the arena, within the limits for a decision and for a match."""
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
            self.asker.blame(ask, FaultKind.TIMEOUT, faults.LATE.text(), now_s)
        else:
            self.asker.blame(ask, FaultKind.GONE, faults.HUNG_UP.text(), now_s)

    def _away_too_long(self) -> None:
        if self.forfeited:
            return
        reason = faults.AWAY.text(seconds=f"{self._limit_ms / 1000:g}")
        if self.ask is None:
            self.out = ForfeitedSeat(self.seat, FaultKind.GONE, reason)
        else:
            self.forfeited = True
            self.asker.blame(self.ask, FaultKind.GONE, reason, self._now_s())

    def keep_time(self, now_s: float) -> bool:
        """Update `recorded`; return false if it has changed too little to be recorded again."""
        before, ask, away_s = self.recorded, self.ask, self.presence.away_s()
        decision, charged_s = 0, 0.0
        if ask is not None:
            decision, charged_s = ask.decision, self.spent(ask, now_s).charged_s
        used_s = before.used_s if before.decision == decision else 0.0
        if not (_has_grown(charged_s, used_s) or _has_grown(away_s, before.away_s)):
            return False
        self.recorded = UsedTime(self.seat, decision, charged_s, away_s)
        return True

    def resume_time(self, used: UsedTime) -> None:
        """Set the time that was used before a restart of the arena."""
        self.recorded = used
        self.presence.was_away(used.away_s)

    def retire_timers(self) -> None:
        """End the deadlines of this seat, because the match is over or suspended."""
        self._timer.retire()
        self.presence.retire()


def _has_grown(seconds: float, recorded_s: float) -> bool:
    """Return whether a time is to be recorded again; longer times are recorded less often."""
    return seconds - recorded_s >= max(RECORD_STEP_S, recorded_s / 32)
