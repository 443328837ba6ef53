"""The faults of a match: charged at once, and shown after the step, so that they reveal no open decision."""

import hashlib
from collections.abc import Sequence

from arena.referee.ledger import FaultEvidence
from arena.referee.seat import OpenAsk, SeatRecord
from arena.referee.spec import Fault


class MatchFaults:
    """All faults of one match, oldest first."""

    __slots__ = ("_shown", "unshown")

    def __init__(self) -> None:
        self.unshown: list[Fault] = []
        """Faults of the step in play, which are not shown yet."""
        self._shown: list[Fault] = []

    @property
    def all(self) -> tuple[Fault, ...]:
        """Every fault of the match, shown or not."""
        return (*self._shown, *self.unshown)

    def add(self, fault: Fault) -> None:
        """Charge a fault."""
        self.unshown.append(fault)

    def show(self, records: Sequence[SeatRecord]) -> Sequence[Fault]:
        """Send the faults of the step to all seats; returns them."""
        shown, self.unshown = self.unshown, []
        for fault in shown:
            for record in records:
                record.unsent.fault(fault)
        self._shown += shown
        return shown


def evidence_of(
    record: SeatRecord, ask: OpenAsk, refunded_s: float, now_s: float, begin_s: float, raw: bytes
) -> FaultEvidence:
    """The evidence of a fault; `raw` is the message with the answer, if there was one.

    `begin_s` is when the match began, on the clock of `now_s`.
    """
    due_s = (now_s if ask.sent_s < 0 else ask.due_s + refunded_s) - begin_s
    away_s = record.presence.away_s()
    if not raw:
        return FaultEvidence(due_s, away_s=away_s)
    return FaultEvidence(due_s, now_s - begin_s, hashlib.sha256(raw).digest(), len(raw), away_s)
