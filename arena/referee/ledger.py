"""The ledger of a match: it records each decision before anything that follows from it is sent."""

from typing import NamedTuple, Protocol

from arena.referee.spec import FaultKind, MatchSpec, Outcome


class FaultEvidence(NamedTuple):
    """The evidence of a fault. Times count from the start of the match."""

    due_s: float
    """The end of the time, with grace and refunds."""
    received_s: float = 0.0
    """The answer's arrival; 0 without an answer."""
    answer_sha256: bytes = b""
    """The SHA-256 of the message with the answer, as received."""
    answer_bytes: int = 0
    away_s: float = 0.0
    """The total absence of the bot in this match."""


class Settled(NamedTuple):
    """One settled decision of a seat, to be recorded."""

    seat: int
    decision: int
    """The seat's decision in the match, counted from 1."""
    game_move: bytes
    """An encoded `cardarena.v1.GameMove`."""
    sent_s: float
    """Seconds from the start of the match to the sending of the ask."""
    charged_s: float
    bank_ms: int
    fault: FaultKind | None
    reason: str
    note: str
    unasked: bool
    forfeited: bool
    """Whether the fallback plays the seat from here to the end."""
    refunded_s: float = 0.0
    """Lateness of the arena, which is not charged."""
    evidence: FaultEvidence | None = None


class UsedTime(NamedTuple):
    """The time that a seat has used before its decision is settled, to be recorded."""

    seat: int
    decision: int
    """The seat's decision that is asked, counted from 1; 0 if none is."""
    used_s: float
    """The charge so far."""
    away_s: float
    """The total absence of the bot in this match."""


class Ledger(Protocol):
    """Records one match before anything that follows is sent."""

    def opened(self, spec: MatchSpec) -> None:
        """Record that the match begins, or continues with its earlier records. May be called twice."""
        ...

    def decided(self, settled: Settled) -> None:
        """Record a settled decision of a seat."""
        ...

    def used(self, used: UsedTime) -> None:
        """Record the time that a seat has used for a decision that is not settled."""
        ...

    def closed(self, outcome: Outcome, end_s: float) -> None:
        """Record the end of the match, `end_s` after it began."""
        ...


class NoRoom(Exception):
    """The disk has no room for this match, which must end; other matches continue."""
