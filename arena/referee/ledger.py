"""Where a match is written down before anybody is told: what a table asks of a ledger."""

import hashlib
from typing import NamedTuple, Protocol

from arena.referee.spec import FaultKind, MatchSpec, Outcome


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


class UsedTime(NamedTuple):
    """The time that a seat has used and no decision tells yet, as it is written down."""

    seat: int
    decision: int
    """The seat's decision that is asked, counted from 1; 0 if none is."""
    used_s: float
    """What it has cost so far."""
    away_s: float
    """How long the bot was away in this match, in all."""


class Ledger(Protocol):
    """Where a match is written down before anybody is told."""

    def opened(self, spec: MatchSpec) -> None:
        """The match begins, or goes on: then it is written down already. May be said twice."""
        ...

    def decided(self, settled: Settled) -> None:
        """A seat's decision is settled."""
        ...

    def used(self, used: UsedTime) -> None:
        """A seat has used time, and its decision is not settled."""
        ...

    def closed(self, outcome: Outcome, end_s: float) -> None:
        """The match is over, `end_s` after it began."""
        ...


class NoRoom(Exception):
    """The match may write no more, as there is no room on the disk: it alone has to end."""


class Unwritten(Exception):
    """The ledger could not be written, as on a full disk. Play must stop."""
