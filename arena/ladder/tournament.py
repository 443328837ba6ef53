"""Has every match of a schedule played once, whatever happens to bots and to us.

The runner knows neither the network nor the database: it reaches the tables
through one function, `lease`, which also records the outcome.
"""

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import trio

from arena.ladder.results import MatchOutcome
from arena.ladder.schedule import DealSetPlan, MatchPlan

DEFAULT_ATTEMPTS: Final = 3
"""Times a match is started, at most, when the arena keeps failing to finish it."""

Lease: TypeAlias = Callable[[MatchPlan], Awaitable[MatchOutcome]]
"""Has one match played and returns how it ended, once that is kept for good.

It may be called again for the same match, also by another process: a match that
has a result is not played again, but its result returned. What bots do wrong
ends in a result; what the arena cannot finish returns `results.aborted(...)`.
An exception means that no match can be played any more.
"""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a tournament has come."""

    played: int
    """Matches that have a result, those of earlier runs included."""
    matches: int
    """Matches in the schedule."""
    complete: int
    """Deal-sets whose matches all have results."""
    deal_sets: int
    """Deal-sets in the schedule."""
    latest: tuple[MatchPlan, MatchOutcome] | None
    """The match that ended just now, perhaps aborted; None at the start."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a tournament has come to."""

    outcomes: Mapping[str, MatchOutcome]
    """The results, by match id."""
    incomplete: tuple[DealSetPlan, ...]
    """Deal-sets that do not count, as the arena failed to finish some match of theirs."""


async def run_tournament(
    deal_sets: Sequence[DealSetPlan],
    *,
    lease: Lease,
    known: Mapping[str, MatchOutcome],
    max_matches: int,
    attempts: int = DEFAULT_ATTEMPTS,
    on_progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Play what has no result yet, in the order of the schedule, `max_matches` at a time.

    `known` are the outcomes so far, by match id. A match that the arena aborts is
    played again at once, `attempts` times in all; then its deal-set stays
    incomplete, until the tournament is run again.

    Raises:
      Exception: the first that `lease` or `on_progress` raised, itself and not in a
        group. No further match begins then.
    """
    if max_matches < 1:
        raise ValueError(f"at least 1 match is played at a time, not {max_matches}")
    if attempts < 1:
        raise ValueError(f"a match is started at least once, not {attempts} times")
    run = _Run(deal_sets, known, lease, attempts, on_progress)
    waiting = iter(run.unplayed())
    run.tell(None)
    async with trio.open_nursery() as nursery:
        for _ in range(max_matches):
            nursery.start_soon(run.work, waiting, nursery.cancel_scope)
    if run.failure is not None:
        raise run.failure
    return run.report()


class _Run:
    """One run of a tournament, shared by its workers."""

    def __init__(
        self,
        deal_sets: Sequence[DealSetPlan],
        known: Mapping[str, MatchOutcome],
        lease: Lease,
        attempts: int,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self._deal_sets = deal_sets
        self._lease = lease
        self._attempts = attempts
        self._on_progress = on_progress
        self._outcomes = {
            match.id: known[match.id]
            for each in deal_sets
            for match in each.matches
            if match.id in known and known[match.id].has_result
        }
        self._matches = sum(len(each.matches) for each in deal_sets)
        self._missing = {
            each.id: sum(match.id not in self._outcomes for match in each.matches)
            for each in deal_sets
        }
        self.failure: Exception | None = None

    def unplayed(self) -> tuple[MatchPlan, ...]:
        """The matches without a result, in the order of the schedule."""
        return tuple(
            match
            for each in self._deal_sets
            for match in each.matches
            if match.id not in self._outcomes
        )

    async def work(self, waiting: Iterator[MatchPlan], everybody: trio.CancelScope) -> None:
        """Play one waiting match after the other."""
        try:
            for match in waiting:
                await self._play(match)
        except Exception as error:
            # The first failure is the cause; others come from stopping the rest.
            if self.failure is None:
                self.failure = error
            everybody.cancel()

    async def _play(self, match: MatchPlan) -> None:
        for _ in range(self._attempts):
            outcome = await self._lease(match)
            _require_fit(outcome, match)
            if outcome.has_result:
                self._outcomes[match.id] = outcome
                self._missing[match.deal_set_id] -= 1
            self.tell((match, outcome))
            if outcome.has_result:
                return

    def tell(self, latest: tuple[MatchPlan, MatchOutcome] | None) -> None:
        if self._on_progress is None:
            return
        self._on_progress(
            Progress(
                played=len(self._outcomes),
                matches=self._matches,
                complete=sum(missing == 0 for missing in self._missing.values()),
                deal_sets=len(self._deal_sets),
                latest=latest,
            )
        )

    def report(self) -> Report:
        return Report(
            outcomes=dict(self._outcomes),
            incomplete=tuple(each for each in self._deal_sets if self._missing[each.id]),
        )


def _require_fit(outcome: MatchOutcome, match: MatchPlan) -> None:
    """A lease that mixes up matches is a bug that must not reach the results."""
    if outcome.match_id != match.id:
        raise ValueError(f"the lease of match {match.id} returned match {outcome.match_id}")
    if not outcome.has_result:
        return
    if len(outcome.scores) != len(match.bots):
        raise ValueError(
            f"match {match.id} has {len(match.bots)} seats and {len(outcome.scores)} scores"
        )
    if not all(map(math.isfinite, outcome.scores)):
        raise ValueError(f"match {match.id} has a score that is no finite number")
