"""Converts outcomes of the referee into results of competitions, and records them."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from arena.referee import Ending, Outcome
from arena.schedule.deal_sets import MatchOutcome, aborted
from arena.server.shared_transactions import SharedTransactions
from arena.store import EndedMatch, MatchFilter, StoredMatch


class Results(Protocol):
    """The store of results, as `arena.store.Matches`. Calls block; any thread may call.

    Raises:
      StoreError: from all of them, if that is not possible.
    """

    def outcomes(self, match_ids: Collection[str]) -> Mapping[str, MatchOutcome]:
        """The outcomes of those of these matches that have ended, by id, including aborted ones."""
        ...

    def record(self, ended: Sequence[EndedMatch], published: Collection[str] = ()) -> None:
        """Record how matches ended, and that there are replays of the `published` ones.

        Recording the same again changes nothing.
        """
        ...

    def mark_published(self, match_ids: Collection[str]) -> None:
        """Record that there are replays of these matches."""
        ...

    def get(self, match_id: str) -> StoredMatch | None:
        """One match that has ended; None if there is none of this id."""
        ...

    def find(
        self, wanted: MatchFilter = ..., *, limit: int = ..., after: tuple[int, str] | None = ...
    ) -> Sequence[StoredMatch]:
        """Matches that have ended, newest first."""
        ...


class ResultWriter:
    """Records results and publications, in shared transactions.

    If the store is locked the writer tries again; matches go on meanwhile.
    """

    def __init__(self, results: Results) -> None:
        self._results = results
        self._writes = SharedTransactions(self._record)

    async def record(self, *ended: EndedMatch) -> None:
        """Record how matches ended, in one transaction; on return it is on disk.

        Raises:
          StoreError: if that is not possible.
        """
        await self._writes.write(_Rows(ended=ended))

    async def mark_published(self, match_ids: Sequence[str]) -> None:
        """Record that there are replays of these matches; on return that is on disk.

        Raises:
          StoreError: if that is not possible.
        """
        if match_ids:
            await self._writes.write(_Rows(published=tuple(match_ids)))

    def _record(self, waiting: Sequence["_Rows"]) -> Sequence[None]:
        ended = [match for each in waiting for match in each.ended]
        published = [match_id for each in waiting for match_id in each.published]
        self._results.record(ended, published)
        return [None] * len(waiting)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of one match or deal-set."""

    ended: tuple[EndedMatch, ...] = ()
    published: tuple[str, ...] = ()


def match_outcome(outcome: Outcome, journal_position: str = "") -> MatchOutcome:
    """An outcome of the referee as a result of a competition."""
    if outcome.ending is Ending.ABORTED:
        cause = outcome.cause.name.lower() if outcome.cause else ""
        return aborted(outcome.match_id, f"{cause} {outcome.incident}".strip())
    faults: list[Counter[str]] = [Counter() for _ in outcome.scores]
    for fault in outcome.faults:
        faults[fault.seat][fault.kind.name.lower()] += 1
    return MatchOutcome(
        match_id=outcome.match_id,
        scores=outcome.scores,
        places=outcome.places,
        ending=outcome.ending.name.lower(),
        faults=tuple(dict(each) for each in faults),
        forfeited=tuple(seat.forfeited for seat in outcome.conduct),
        fallback_share=tuple(
            seat.fallbacks / seat.decisions if seat.decisions else 0.0 for seat in outcome.conduct
        ),
        hands=len(outcome.hand_scores),
        decisions=outcome.decisions,
        journal_position=journal_position,
    )
