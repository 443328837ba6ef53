"""One decision that is asked of a seat, and what a table keeps for each seat."""

import math
from typing import TYPE_CHECKING

from arena.games.contract import Moves, Seat
from arena.referee.clock import SeatClock
from arena.referee.ports import Answer, SeatPort
from arena.referee.presence import Presence
from arena.referee.timers import Timer
from arena.referee.untold import Untold

if TYPE_CHECKING:
    from arena.referee.spec import ForfeitedSeat
    from arena.referee.table import Table


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
        "seat",
        "sent_s",
        "settled",
        "table",
    )

    def __init__(
        self,
        table: "Table",
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


class Place:
    """What a table keeps for one seat."""

    __slots__ = (
        "ask",
        "clock",
        "decisions",
        "faults",
        "forfeited",
        "out",
        "port",
        "presence",
        "timer",
        "untold",
    )

    def __init__(
        self,
        port: SeatPort,
        clock: SeatClock,
        untold: Untold,
        timer: Timer,
        presence: Presence,
    ) -> None:
        self.port = port
        self.clock = clock
        self.untold = untold
        self.timer = timer
        """Due when the open ask's time is up."""
        self.presence = presence
        self.ask: OpenAsk | None = None
        self.decisions = 0
        self.faults = 0
        self.forfeited = False
        self.out: ForfeitedSeat | None = None
        """Why the seat is played by fallback without having been blamed yet."""

    def retire_timers(self) -> None:
        """No time of this seat will be up any more: the match is over, or suspended."""
        self.timer.retire()
        self.presence.watch_no_more()
