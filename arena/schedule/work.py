"""Sources of work: deal-sets that are leased to a worker, and reported by it.

A job is a deal-set, as its secret, the instances of its bots and its replays belong together. A lease ends
after `LEASE_S` without a heartbeat. Each lease of a job has its own epoch, and each begin at a worker under it its
own number, so that a report counts only if it is of the latest of both. A repeated report changes nothing.
"""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from arena.schedule.deal_sets import DealSetPlan, MatchOutcome, digest

LEASE_S: Final = 60.0
"""How long a lease lasts after its last heartbeat."""

HEARTBEAT_S: Final = 10.0
"""Time between two heartbeats of a worker."""


class OutOfDate(Exception):
    """The job was leased or begun again, so this worker's report does not count."""


class Contradicted(Exception):
    """The job has another report: one deal-set was played twice, which is an incident."""


@dataclass(frozen=True, slots=True)
class DealSetJob:
    """A leased deal-set."""

    deal_set: DealSetPlan
    epoch: int
    """The number of the lease among those of the deal-set, from 1."""
    begin: int = 0
    """How often the deal-set was begun at a worker, under all its leases."""

    @property
    def id(self) -> str:
        return self.deal_set.id


class WorkSource(Protocol):
    """Leases deal-sets and takes reports. The effect of a call is durable when it returns."""

    async def lease(self, worker: str, most: int) -> Sequence[DealSetJob]:
        """Lease up to `most` free jobs, in the order of the schedule; none if all are leased."""
        ...

    async def heartbeat(self, worker: str) -> frozenset[str]:
        """Renew the leases of the worker; returns the ids of the jobs that it still has."""
        ...

    async def begin(self, worker: str, job: DealSetJob, player: str) -> DealSetJob:
        """Have a leased job begin at a player, such as a process of the worker; what began before counts no longer.

        Returns the job to report, with the number of the begin.

        Raises:
          OutOfDate: if the job was leased again since.
        """
        ...

    async def report(
        self, worker: str, job: DealSetJob, outcomes: Mapping[str, MatchOutcome]
    ) -> None:
        """Report the outcomes of a job by match id; each match has a result.

        Raises:
          OutOfDate: if the job was leased or begun again since.
          Contradicted: if the job has another report.
        """
        ...

    async def give_up(self, worker: str, job: DealSetJob) -> None:
        """Give up a job that the arena cannot finish: it stays incomplete, and is not leased again.

        Raises:
          OutOfDate: if the job was leased again since.
        """
        ...


def report_sha256(outcomes: Mapping[str, MatchOutcome]) -> str:
    """The SHA-256 of a report, over the results of all matches."""
    return digest(
        [
            (
                match_id,
                outcome.scores,
                outcome.places,
                outcome.ending,
                [sorted(faults.items()) for faults in outcome.faults],
                outcome.forfeited,
                outcome.fallback_share,
                outcome.hands,
                outcome.decisions,
            )
            for match_id, outcome in sorted(outcomes.items())
        ]
    )


class ScheduledWork:
    """A schedule as a source of work for one process: in order, without clocks or a store."""

    def __init__(self, deal_sets: Sequence[DealSetPlan] = ()) -> None:
        self._waiting = deque(deal_sets)
        self._holders: dict[str, str] = {}
        self._begins: Counter[str] = Counter()
        self._reports: dict[str, str] = {}

    def add(self, deal_set: DealSetPlan) -> None:
        """Add a deal-set after the others."""
        self._waiting.append(deal_set)

    async def lease(self, worker: str, most: int) -> Sequence[DealSetJob]:
        """As `WorkSource.lease`."""
        taken = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
        self._holders.update({each.id: worker for each in taken})
        return [DealSetJob(each, 1, self._begins[each.id]) for each in taken]

    async def heartbeat(self, worker: str) -> frozenset[str]:
        """As `WorkSource.heartbeat`."""
        mine = {job for job, holder in self._holders.items() if holder == worker}
        return frozenset(mine - self._reports.keys())

    async def begin(
        self,
        worker: str,
        job: DealSetJob,
        player: str,  # noqa: ARG002 - kept by the store alone
    ) -> DealSetJob:
        """As `WorkSource.begin`."""
        self._require_holder(worker, job)
        self._begins[job.id] += 1
        return replace(job, begin=self._begins[job.id])

    async def report(
        self, worker: str, job: DealSetJob, outcomes: Mapping[str, MatchOutcome]
    ) -> None:
        """As `WorkSource.report`."""
        self._require_holder(worker, job)
        sha256 = report_sha256(outcomes)
        if self._reports.setdefault(job.id, sha256) != sha256:
            raise Contradicted(f"deal-set {job.id} has another report already")

    async def give_up(self, worker: str, job: DealSetJob) -> None:
        """As `WorkSource.give_up`."""
        self._require_holder(worker, job)
        del self._holders[job.id]

    def clear(self) -> None:
        """Remove the deal-sets that are not leased yet."""
        self._waiting.clear()

    def _require_holder(self, worker: str, job: DealSetJob) -> None:
        if self._holders.get(job.id) != worker:
            raise OutOfDate(f"deal-set {job.id} is not leased to {worker}")
        if self._begins[job.id] != job.begin:
            raise OutOfDate(f"deal-set {job.id} was begun again")
