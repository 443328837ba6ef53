"""What a table needs of the world: somebody at each seat, a ledger, and honest time."""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from google.protobuf.message import Message

from arena.referee.spec import FaultKind, MatchSpec, Outcome

if TYPE_CHECKING:
    from arena.referee.open_ask import OpenAsk
    from arena.referee.presence import Presence


@dataclass(frozen=True, slots=True)
class Answer:
    """What a bot said to an ask. Neither index nor move means that it made no sense."""

    index: int | None = None
    """Place in the offered moves."""
    move: Message | None = None
    """A `cardarena.v1.GameMove`, not yet read."""
    note: str = ""


class Evidence(NamedTuple):
    """What a fault is judged by. Times count from the start of the match."""

    due_s: float
    """The end of the time, grace and refunds included."""
    received_s: float = 0.0
    """The answer's arrival; 0 if none came."""
    answer_sha256: bytes = b""
    """Of the message that held the answer, as it came."""
    answer_bytes: int = 0
    away_s: float = 0.0
    """How long the bot had been away in this match, in all."""

    @classmethod
    def of(cls, due_s: float, now_s: float, raw: bytes, away_s: float) -> "Evidence":
        """The evidence of a fault; `raw` is the message that held the answer, if any did."""
        if not raw:
            return cls(due_s, away_s=away_s)
        return cls(due_s, now_s, hashlib.sha256(raw).digest(), len(raw), away_s)


class Settled(NamedTuple):
    """One seat's decision, as it is written down."""

    seat: int
    decision: int
    """The seat's decision in the match, counted from 1."""
    game_move: bytes
    """An encoded `cardarena.v1.GameMove`."""
    sent_s: float
    """From the start of the match to the sending of the ask."""
    charged_s: float
    bank_ms: int
    fault: FaultKind | None
    reason: str
    note: str
    unasked: bool
    forfeited: bool
    """From here on the seat is played by fallback to the end."""
    refunded_s: float = 0.0
    """What the arena was late itself, which is not charged."""
    evidence: Evidence | None = None


class SeatPort(Protocol):
    """One seat's bot, as far as a table can tell.

    Calls do not block and do not raise. When the bot can be asked at once,
    `ask` ends in `OpenAsk.sent`; a port may hold an ask back until the bot has
    a free slot, which is nobody's time.
    """

    @property
    def gone(self) -> bool:
        """Whether the bot has left for good: it need not be asked any more."""
        ...

    @property
    def connected(self) -> bool:
        """Whether the bot could be reached just now."""
        ...

    def sit(self, presence: "Presence") -> None:
        """The match begins. The port tells `presence` when the bot leaves and comes back."""
        ...

    def ask(self, ask: "OpenAsk") -> None:
        """Ask the bot. The port calls `ask.answered` later, never from within."""
        ...

    def asked_before(self, decision: int, choices: tuple[object, ...]) -> None:
        """The match goes on after a crash: what the bot's last decision was, and its answer.

        `choices` are the answers that say the same: an index, an encoded move.
        """
        ...

    def close(self, ask: "OpenAsk", fault: FaultKind | None, reason: str) -> None:
        """Withdraw an ask; an answer to it is no longer wanted."""
        ...

    def end(self, outcome: Outcome, trailing_events: tuple[bytes, ...]) -> None:
        """Tell the bot how the match ended.

        `trailing_events` are `cardarena.v1.GameEvent`s since the seat's last ask.
        """
        ...


class Ledger(Protocol):
    """Where a match is written down before anybody is told."""

    def opened(self, spec: MatchSpec) -> None:
        """The match begins, or goes on: then it is written down already."""
        ...

    def decided(self, settled: Settled) -> None:
        """A seat's decision is settled."""
        ...

    def closed(self, outcome: Outcome, end_s: float) -> None:
        """The match is over, `end_s` after it began."""
        ...


class Lag(Protocol):
    """How late the arena itself was, which no bot is charged for."""

    def refund_s(self, since_s: float, until_s: float) -> float:
        """How much of this span the arena was late."""
        ...

    def late(self, now_s: float) -> bool:
        """Whether it is late now, or was within the last tenth of a second."""
        ...


class Punctual:
    """An arena that is never late: `Lag` where time is played back or mocked."""

    def refund_s(self, since_s: float, until_s: float) -> float:  # noqa: ARG002
        return 0.0

    def late(self, now_s: float) -> bool:  # noqa: ARG002
        return False


class Unwritten(Exception):
    """The ledger could not be written, as on a full disk. Play must stop."""
