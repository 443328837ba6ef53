"""What the metrics and the status of an arena are read from."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.referee.lag import LagMeter
from arena.replay.journal.deal_log import DealLog
from arena.replay.journal.journal import Journal
from arena.server.arena import Arena
from arena.server.counts import Counts
from arena.server.gate.admission import Admission
from arena.server.gate.connections import ConnectionWatch
from cardarena.v1 import play_pb2

DEAL_STEPS: Final = ("drawn", "fixed", "voided", "opened")
"""What may become of a deal-set."""


@dataclass(frozen=True, slots=True)
class Watched:
    """The parts of a running arena that count something. Read it on the thread of the arena."""

    arena: Arena
    journal: Journal
    deal_log: DealLog
    data: Path
    admission: Admission | None = None
    """None if new matches are always taken."""
    lag: LagMeter | None = None
    connections: ConnectionWatch | None = None
    """None where connections cannot be watched."""

    @property
    def counts(self) -> Counts:
        """What was counted since the start."""
        return self.arena.watch.counts

    @property
    def takes_matches(self) -> bool:
        """Whether new matches are taken now."""
        return self.admission is None or not self.admission.why_closed()

    @property
    def refused_matches(self) -> int:
        """How many matches were refused as too much."""
        return 0 if self.admission is None else self.admission.refused

    @property
    def promised_bytes(self) -> int:
        """What is promised of the disk to matches in play."""
        return 0 if self.admission is None else self.admission.disk_budget.promised_bytes

    @property
    def connected_bots(self) -> int:
        """How many bots have a stream."""
        return sum(session.connected for session in self.arena.sessions)


def refusal_word(reason: int) -> str:
    """A `cardarena.v1.RefusalReason` as a label: `unknown_ask`."""
    name = play_pb2.RefusalReason.Name(reason)  # type: ignore[arg-type]
    return name.removeprefix("REFUSAL_REASON_").lower()
