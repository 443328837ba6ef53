"""Work of the runner: the sources of deal-sets, their players, and the report of a run."""

from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import trio

from arena.results.deal_sets import DealSet, MatchOutcome, MatchPlan

CountBegin: TypeAlias = Callable[[str], Awaitable[int]]
"""Counts that a deal-set begins at a worker of this name, like `WorkSource.begin`; returns the number of the begin."""

OnEnded: TypeAlias = Callable[[MatchPlan, MatchOutcome], None]
"""Called with each match that has ended, also after an aborted attempt."""


class WorkSource(Protocol):
    """A source of deal-sets, which takes their reports. When a call returns, its effect survives this process.

    The unit is a deal-set, because its secret, the instances of its bots and its replays belong together.
    """

    async def take(self, most: int) -> Sequence[DealSet]:
        """Take up to `most` waiting deal-sets into play, in the order of the schedule, and return them."""
        ...

    async def begin(self, deal_set: DealSet, worker: str) -> int:
        """Count that a deal-set in play begins at a worker; return the number of this begin.

        Raises `OutOfDate` if another process has taken the deal-set since.
        """
        ...

    async def report(self, deal_set: DealSet, outcomes: Mapping[str, MatchOutcome]) -> None:
        """Report the outcomes of a deal-set by match id; each match has a result.

        Raises `OutOfDate` as `begin` does, and `Contradicted` if a match has another result.
        """
        ...

    async def give_up(self, deal_set: DealSet) -> None:
        """Give up a deal-set that the arena cannot finish. Raises `OutOfDate` as `begin` does."""
        ...


class ScheduledWork:
    """A `WorkSource` in memory: a schedule in order."""

    def __init__(self, deal_sets: Sequence[DealSet] = ()) -> None:
        self._waiting = deque(deal_sets)
        self._begins: Counter[str] = Counter()

    def add(self, deal_set: DealSet) -> None:
        """Add a deal-set after the others."""
        self._waiting.append(deal_set)

    def clear(self) -> None:
        self._waiting.clear()

    async def take(self, most: int) -> Sequence[DealSet]:
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]

    async def begin(self, deal_set: DealSet, worker: str) -> int:  # noqa: ARG002 - kept by the store alone
        self._begins[deal_set.id] += 1
        return self._begins[deal_set.id]

    async def report(self, deal_set: DealSet, outcomes: Mapping[str, MatchOutcome]) -> None:
        """Do as `WorkSource.report` says; the caller of the runner has the outcomes."""

    async def give_up(self, deal_set: DealSet) -> None:
        """Do as `WorkSource.give_up` says."""


class CannotPlay(Exception):
    """No deal-set can be played at present. The text says why."""


class DealSetPlayer(Protocol):
    """A player of deal-sets, several at a time: the arena's process, or its workers."""

    async def ready(self) -> int:
        """Wait until another deal-set can begin; return the number of deal-sets that can."""
        ...

    def why_waits(self) -> str:
        """Return why fewer deal-sets or none begin now, in words; empty if there is no such reason."""
        ...

    async def play(
        self,
        deal_set: DealSet,
        known: Mapping[str, MatchOutcome],
        ended: OnEnded,
        begin: CountBegin,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> Mapping[str, MatchOutcome]:
        """Play a deal-set; return the outcomes of its matches that have a result, by id.

        `task_status` is started when the next deal-set may be taken. `known` are earlier outcomes; a match with a
        result is not played again. `begin` is called each time before a worker gets the deal-set. If there are fewer
        outcomes than matches, the deal-set was not finished.

        Raises:
          CannotPlay: if no deal-set can be played.
          OutOfDate: if another process has taken the deal-set since.
        """
        ...


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of a run."""

    played: int
    """The number of matches that have a result, including earlier runs."""
    matches: int
    """The number of matches in the schedule."""
    complete: int
    """The number of deal-sets whose matches all have results."""
    deal_sets: int
    """The number of deal-sets in the schedule."""
    latest: tuple[MatchPlan, MatchOutcome] | None
    """The match that has just ended, perhaps aborted; None at the start."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """The outcomes of a run."""

    outcomes: Mapping[str, MatchOutcome]
    """The results, by match id."""
    incomplete: tuple[DealSet, ...]
    """The deal-sets that do not count, because the arena could not finish all their matches."""
