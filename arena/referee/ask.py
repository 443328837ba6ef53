"""One decision that is asked of a seat, and the port through which its bot is asked."""

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from google.protobuf.message import Message

from arena.games.contract import Move, Moves, Seat
from arena.referee.absence import Absence
from arena.referee.clock import SeatClock
from arena.referee.spec import FaultKind, Outcome


@dataclass(frozen=True, slots=True)
class Answer:
    """A bot's answer to an ask. One without index and move was malformed, unless the bot failed."""

    index: int | None = None
    """The number of the move among the offered ones."""
    move: Message | None = None
    """A `cardarena.v1.GameMove`, not yet read."""
    note: str = ""
    failed: bool = False
    """The client reports that the bot has no move, because its own code failed."""


class Said(NamedTuple):
    """The legal move that a bot answered with."""

    move: Move
    place: int | None
    """Its number among the offered moves; None if it is not one of them."""

    @classmethod
    def among(cls, moves: Moves, move: Move) -> "Said":
        """A move, with its place if it has one."""
        offered = moves.offered
        return cls(move, offered.index(move) if move in offered else None)


class Asker(Protocol):
    """The part of `arena.referee.match_runner.MatchRunner` that an ask uses."""

    def answered(
        self, ask: "OpenAsk", answer: Answer, received_s: float, raw: bytes
    ) -> Said | None:
        """Take the bot's answer; returns the chosen move, None for a fault."""
        ...

    def abandoned(self, ask: "OpenAsk") -> None:
        """The bot has left for ever."""
        ...

    def texts(self, ask: "OpenAsk") -> bytes:
        """The moves and events of an ask in notation, as encoded fields."""
        ...


class SeatTime(Protocol):
    """The part of `arena.referee.seat_record.SeatRecord` that an ask uses."""

    @property
    def clock(self) -> SeatClock:
        """The clock of the seat."""
        ...

    def start_clock(self, ask: "OpenAsk") -> float:
        """Start the time of an ask that was sent; returns its end, with grace."""
        ...


class OpenAsk:
    """One decision that a seat is asked for, until it is settled."""

    __slots__ = (
        "_carried_s",
        "asker",
        "body",
        "decision",
        "due_s",
        "events",
        "moves",
        "said",
        "seat",
        "sent_s",
        "settled",
        "time",
    )

    def __init__(
        self,
        asker: Asker,
        time: SeatTime,
        seat: Seat,
        decision: int,
        moves: Moves,
        body: bytes,
        events: list[object],
        carried_s: float = 0.0,
    ) -> None:
        """`carried_s` is the time of this ask that the bot used before a restart of the arena."""
        self._carried_s = carried_s
        self.asker = asker
        self.time = time
        self.seat = seat
        self.decision = decision
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
        """The ask was given to the transport: its clock starts.

        A second call moves the start, for a transport that was slow to take the ask.
        """
        if not self.settled:
            self.sent_s = now_s - self._carried_s
            self.due_s = self.time.start_clock(self)

    def answered(self, answer: Answer, received_s: float, raw: bytes = b"") -> None:
        """The bot answered; `received_s` was stamped when the bytes arrived.

        `raw` are the bytes themselves, for the evidence of a fault.
        """
        if not self.settled:
            self.said = self.asker.answered(self, answer, received_s, raw)

    def abandoned(self) -> None:
        """The bot has left for ever and will not answer."""
        if not self.settled:
            self.asker.abandoned(self)

    def settle(self) -> None:
        """The decision is settled, by an answer or without one."""
        self.settled = True
        self.body = b""

    def clock_ms(self, used_s: float = 0.0) -> tuple[int, int, int]:
        """Time for the move, in the bank, and per answer in time, in milliseconds.

        `used_s` is the time since the ask was sent, when it is sent again.
        """
        if self._carried_s:
            used_s = max(used_s, self._carried_s)
        return self.time.clock.times_ms(used_s)

    def texts(self) -> bytes:
        """Moves and events in notation, as encoded fields, for bots that want them."""
        return self.asker.texts(self)


class SeatPort(Protocol):
    """The bot of one seat, for a match runner.

    Calls neither block nor raise. If the bot can be asked at once, `ask` ends in `OpenAsk.sent`. A port may delay an
    ask until the bot has a free slot; no clock runs meanwhile.
    """

    @property
    def gone(self) -> bool:
        """Whether the bot has left for ever and need not be asked."""
        ...

    @property
    def connected(self) -> bool:
        """Whether the bot can be reached now."""
        ...

    def sit(self, presence: Absence) -> None:
        """The match begins. The port calls `presence` when the bot leaves and comes back."""
        ...

    def ask(self, ask: OpenAsk) -> None:
        """Ask the bot. The port calls `ask.answered` later, never from within."""
        ...

    def asked_before(self, decision: int, said: Said | None) -> None:
        """The match continues after a restart: the bot's last decision, and its answer.

        `said` is None for a fault.
        """
        ...

    def close(self, ask: OpenAsk, fault: FaultKind | None, reason: str) -> None:
        """Withdraw an ask; an answer to it is no longer wanted."""
        ...

    def end(self, outcome: Outcome, trailing_events: tuple[bytes, ...]) -> None:
        """Send the bot the outcome of the match.

        `trailing_events` are `cardarena.v1.GameEvent`s since the seat's last ask.
        """
        ...
