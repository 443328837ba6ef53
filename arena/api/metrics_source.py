"""The parts of an arena from which its metrics and its status are read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.api.admission.connections import ConnectionMonitor
from arena.api.store_figures import StoreReader
from arena.live.arena import Arena
from arena.live.match_admission import Admission
from arena.live.metrics import Counts, PlacementStatus, WorkerStatus
from arena.live.tls import Certificate
from arena.records.journal.deal_log import DealLog
from arena.records.journal.journal import Journal
from arena.referee.clock import LagCounts, LagMeter
from cardarena.v1 import play_pb2

DEAL_STEPS: Final = ("drawn", "fixed", "voided", "opened")


@dataclass(frozen=True, slots=True)
class MetricsSource:
    """The parts of a running arena that count something. Read them on the thread of the arena."""

    arena: Arena
    journal: Journal
    deal_log: DealLog
    data: Path
    admission: Admission | None = None
    """None if new matches are never refused."""
    lag: LagMeter | None = None
    connections: ConnectionMonitor | None = None
    """None where connections cannot be seen."""
    store: StoreReader | None = None
    """None if nothing is read from the store."""
    certificate: Certificate | None = None
    """None without TLS."""

    @property
    def counts(self) -> Counts:
        return self.arena.metrics.counts

    @property
    def takes_matches(self) -> bool:
        return self.admission is None or not self.admission.why_closed()

    @property
    def refused_matches(self) -> int:
        """How many matches were refused because of load or a full disk."""
        return 0 if self.admission is None else self.admission.refused

    @property
    def promised_bytes(self) -> int:
        """Bytes of disk space that are promised to matches in play."""
        return 0 if self.admission is None else self.admission.disk_budget.promised_bytes

    @property
    def placements(self) -> Sequence[PlacementStatus]:
        return () if self.arena.workers is None else self.arena.workers.placements.status()

    @property
    def workers(self) -> Sequence[WorkerStatus]:
        return () if self.arena.workers is None else self.arena.workers.status()

    @property
    def failed_begins(self) -> int:
        """How many begins of deal-sets failed at workers, also at those that have left."""
        return 0 if self.arena.workers is None else self.arena.workers.failed_begins.total()

    @property
    def waiting_again(self) -> Mapping[int | None, int]:
        """Deal-sets that were begun, and that no worker has now, by speed class."""
        return {} if self.arena.workers is None else self.arena.workers.waiting_again

    @property
    def pauses(self) -> LagCounts:
        """The pauses of the event loop; zero where they are not measured."""
        return LagCounts(0, 0, 0.0, 0.0) if self.lag is None else self.lag.counts()

    @property
    def late_p99_ms(self) -> float:
        """Lateness of the event loop at the 99th percentile, in milliseconds."""
        return 0.0 if self.lag is None else self.lag.p99_ms()

    @property
    def connected_bots(self) -> int:
        return sum(session.connected for session in self.arena.sessions)


def refusal_word(reason: int) -> str:
    """Return a `cardarena.v1.RefusalReason` as a label: `unknown_ask`."""
    name = play_pb2.RefusalReason.Name(reason)  # type: ignore[arg-type]
    return name.removeprefix("REFUSAL_REASON_").lower()
