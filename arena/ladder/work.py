"""Where a runner gets its work from, and says what became of it: whole deal-sets, on lease.

A job is a deal-set, never a match of it: its secret, its bots' instances and its replays belong
together. A lease ends by itself after `LEASE_S` unless the worker says that it lives, and each lease of
a job has an epoch of its own. So a worker that was taken for dead, and comes back, is refused: its
job may be with another. The same report told again changes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from arena.ladder.draws import digest
from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan

LEASE_S: Final = 60.0
"""How long a job is its worker's without a sign of life."""

HEARTBEAT_S: Final = 10.0
"""How often a worker gives one."""


class OutOfDate(Exception):
    """The job was leased again since: what this worker played of it does not count."""


class Contradicted(Exception):
    """The job has another report already: two plays of one deal-set, which is an incident."""


@dataclass(frozen=True, slots=True)
class DealSetJob:
    """A deal-set to play, and the lease under which it is played."""

    deal_set: DealSetPlan
    epoch: int
    """Counts the leases of the deal-set, from 1."""

    @property
    def id(self) -> str:
        return self.deal_set.id


class WorkSource(Protocol):
    """The work of one tournament. What a call has returned is kept for good."""

    async def lease(self, worker: str, most: int) -> Sequence[DealSetJob]:
        """Up to `most` jobs that are nobody's, in the order of the schedule; none if all are taken."""
        ...

    async def heartbeat(self, worker: str) -> frozenset[str]:
        """Prolong all leases of the worker; the ids of the jobs that still are its own."""
        ...

    async def report(
        self, worker: str, job: DealSetJob, outcomes: Mapping[str, MatchOutcome]
    ) -> None:
        """Say how all matches of a job ended, by match id; every one has a result.

        Raises:
          OutOfDate: if the job was leased again since.
          Contradicted: if another report was made of it.
        """
        ...

    async def give_up(self, worker: str, job: DealSetJob) -> None:
        """Say that the arena cannot finish a job: it stays incomplete, and is not leased again.

        Raises:
          OutOfDate: if the job was leased again since.
        """
        ...


def report_sha256(outcomes: Mapping[str, MatchOutcome]) -> str:
    """Tells two reports of a deal-set apart: by what counts of each match."""
    return digest(
        [
            (
                match_id,
                outcome.scores,
                outcome.places,
                outcome.ending,
                [sorted(faults.items()) for faults in outcome.faults],
                outcome.left,
                outcome.fallback_share,
                outcome.hands,
                outcome.decisions,
            )
            for match_id, outcome in sorted(outcomes.items())
        ]
    )


class ScheduledWork:
    """The work of one process that alone plays a schedule: in order, without clocks or a store."""

    def __init__(self, deal_sets: Sequence[DealSetPlan]) -> None:
        self._waiting = list(reversed(deal_sets))
        self._held: dict[str, str] = {}
        self._reports: dict[str, str] = {}

    async def lease(self, worker: str, most: int) -> Sequence[DealSetJob]:
        taken = [self._waiting.pop() for _ in range(min(most, len(self._waiting)))]
        self._held.update({each.id: worker for each in taken})
        return [DealSetJob(each, 1) for each in taken]

    async def heartbeat(self, worker: str) -> frozenset[str]:
        mine = {job for job, holder in self._held.items() if holder == worker}
        return frozenset(mine - self._reports.keys())

    async def report(
        self, worker: str, job: DealSetJob, outcomes: Mapping[str, MatchOutcome]
    ) -> None:
        self._require_held(worker, job)
        told = report_sha256(outcomes)
        if self._reports.setdefault(job.id, told) != told:
            raise Contradicted(f"deal-set {job.id} has another report already")

    async def give_up(self, worker: str, job: DealSetJob) -> None:
        self._require_held(worker, job)
        del self._held[job.id]

    def _require_held(self, worker: str, job: DealSetJob) -> None:
        if self._held.get(job.id) != worker:
            raise OutOfDate(f"deal-set {job.id} is not leased to {worker}")
