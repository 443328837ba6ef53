"""One decision that is asked of a seat, and the port through which its bot is asked."""

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from google.protobuf.message import Message

from arena.games.contract import Move, Moves, Seat
from arena.referee.clock import SeatClock
from arena.referee.presence import Presence
from arena.referee.spec import FaultKind, Outcome


@dataclass(frozen=True, slots=True)
class Answer:
    """What a bot answered to an ask. An answer without index and move made no sense."""

    index: int | None = None
    """Place in the offered moves."""
    move: Message | None = None
    """A `cardarena.v1.GameMove`, not yet read."""
    note: str = ""


class Said(NamedTuple):
    """The legal move that a bot answered with."""

    move: Move
    place: int | None
    """Where it stands among the offered moves; None if it is not one of them."""

    @classmethod
    def among(cls, moves: Moves, move: Move) -> "Said":
        """A move, with its place if it has one."""
        offered = moves.offered
        return cls(move, offered.index(move) if move in offered else None)


class Asker(Protocol):
    """Who asks: `arena.referee.table.Table`, as far as an ask needs it."""

    def start_clock(self, ask: "OpenAsk") -> None:
        """The ask was sent: its time runs."""
        ...

    def answered(self, ask: "OpenAsk", answer: Answer, received_s: float, raw: bytes) -> None:
        """The bot answered."""
        ...

    def abandoned(self, ask: "OpenAsk") -> None:
        """The bot has left for good."""
        ...

    def clock_of(self, seat: Seat) -> SeatClock:
        """The time of a seat."""
        ...

    def texts(self, ask: "OpenAsk") -> bytes:
        """Moves and events of an ask in notation, as encoded fields."""
        ...


class OpenAsk:
    """One decision that is asked of a seat, until it is settled.

    The port keeps what it needs beside it in `number`.
    """

    __slots__ = (
        "body",
        "decision",
        "due_s",
        "events",
        "moves",
        "number",
        "said",
        "seat",
        "sent_s",
        "settled",
        "table",
    )

    def __init__(
        self,
        table: "Asker",
        seat: Seat,
        decision: int,
        moves: Moves,
        body: bytes,
        events: list[object],
    ) -> None:
        self.table = table
        self.seat = seat
        self.decision = decision
        self.moves = moves
        self.body = body
        """The ask as encoded fields, but for its id, match, clock and texts."""
        self.events = events
        """What it tells of, for notation."""
        self.said: Said | None = None
        """What the bot answered, once it has, and in time."""
        self.number = 0
        self.sent_s = -1.0
        self.due_s = math.inf
        """When its time is up, grace included."""
        self.settled = False

    def sent(self, now_s: float) -> None:
        """The ask was handed to the transport: its clock starts.

        Called again, it moves the start: the transport was slow to take it.
        """
        if not self.settled:
            self.sent_s = now_s
            self.table.start_clock(self)

    def answered(self, answer: Answer, received_s: float, raw: bytes = b"") -> None:
        """The bot answered; `received_s` was stamped when the bytes arrived.

        `raw` are the bytes themselves, for the evidence of a fault.
        """
        if not self.settled:
            self.table.answered(self, answer, received_s, raw)

    def abandoned(self) -> None:
        """The bot has left for good and will not answer."""
        if not self.settled:
            self.table.abandoned(self)

    def clock_ms(self, used_s: float = 0.0) -> tuple[int, int, int]:
        """Time for the move, in the bank, and per answer in time, in milliseconds.

        `used_s` is what the bot has had already, when an ask is told again.
        """
        return self.table.clock_of(self.seat).told_ms(used_s)

    def texts(self) -> bytes:
        """Moves and events in notation, as encoded fields, for bots that want them."""
        return self.table.texts(self)


class CarriedAsk(OpenAsk):
    """One that was open before the arena was restarted: its bot has had some of its time already."""

    __slots__ = ("_carried_s",)

    def __init__(
        self,
        table: "Asker",
        seat: Seat,
        decision: int,
        moves: Moves,
        body: bytes,
        events: list[object],
        carried_s: float,
    ) -> None:
        super().__init__(table, seat, decision, moves, body, events)
        self._carried_s = carried_s

    def sent(self, now_s: float) -> None:
        super().sent(now_s - self._carried_s)

    def clock_ms(self, used_s: float = 0.0) -> tuple[int, int, int]:
        # Told again, it is counted from `sent_s`, and so with what was carried.
        return super().clock_ms(max(used_s, self._carried_s))


class SeatPort(Protocol):
    """One seat's bot, as far as a table can tell.

    Calls do not block and do not raise. When the bot can be asked at once,
    `ask` ends in `OpenAsk.sent`. A port may hold an ask back until the bot has a
    free slot; no clock runs meanwhile.
    """

    @property
    def gone(self) -> bool:
        """Whether the bot has left for good: it need not be asked any more."""
        ...

    @property
    def connected(self) -> bool:
        """Whether the bot could be reached just now."""
        ...

    def sit(self, presence: Presence) -> None:
        """The match begins. The port tells `presence` when the bot leaves and comes back."""
        ...

    def ask(self, ask: OpenAsk) -> None:
        """Ask the bot. The port calls `ask.answered` later, never from within."""
        ...

    def asked_before(self, decision: int, said: Said | None) -> None:
        """The match goes on after a crash: what the bot's last decision was, and its answer.

        `said` is None if it was a fault.
        """
        ...

    def close(self, ask: OpenAsk, fault: FaultKind | None, reason: str) -> None:
        """Withdraw an ask; an answer to it is no longer wanted."""
        ...

    def end(self, outcome: Outcome, trailing_events: tuple[bytes, ...]) -> None:
        """Tell the bot how the match ended.

        `trailing_events` are `cardarena.v1.GameEvent`s since the seat's last ask.
        """
        ...
