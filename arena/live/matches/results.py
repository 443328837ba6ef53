"""The records that an arena keeps of its matches; converts outcomes of the referee into results of competitions and records them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.live.shared_transactions import SharedTransactions
from arena.records.journal.deal_log import DealLog
from arena.records.journal.journal import Journal
from arena.records.journal.recovery import Recovery
from arena.records.signing import ArenaKey
from arena.referee.spec import Ending, Outcome
from arena.results.deal_sets import MatchOutcome, aborted
from arena.store import StoredMatch, StoredMatches


@dataclass(frozen=True, slots=True)
class ArenaRecords:
    """The records that an arena keeps of its matches: files and a store that it writes, and journals of earlier processes."""

    journal: Journal
    deal_log: DealLog
    replays: Path
    results: StoredMatches
    """How matches ended, in the store."""
    recovery: Recovery
    """The contents of the journals of earlier processes."""
    server_id: str
    """The id of the arena in its commitments."""
    signer: ArenaKey | None = None
    """Signs transcripts and replays; None leaves them unsigned."""

    async def synced(self) -> None:
        """Wait until everything that was recorded so far is on the disk."""
        await self.deal_log.synced()
        await self.journal.synced()


class ResultWriter:
    """Records results and publications, in shared transactions.

    If the store is locked, the writer tries again while matches continue.
    """

    def __init__(self, results: StoredMatches) -> None:
        self._results = results
        self._writes = SharedTransactions(self._record)

    async def record(self, *ended: StoredMatch) -> None:
        """Record how matches ended, in one transaction; on return it is on disk.

        Raises `StoreError` if that is not possible.
        """
        await self._writes.write(_Rows(ended=ended))

    async def mark_published(self, match_ids: Sequence[str]) -> None:
        """Record that there are replays of these matches; on return the record survives this process.

        Raises `StoreError` if that is not possible.
        """
        if match_ids:
            await self._writes.write(_Rows(published=tuple(match_ids)))

    def _record(self, waiting: Sequence["_Rows"]) -> Sequence[None]:
        ended = [match for rows in waiting for match in rows.ended]
        published = [match_id for rows in waiting for match_id in rows.published]
        self._results.record(ended, published)
        return [None] * len(waiting)


@dataclass(frozen=True, slots=True)
class _Rows:
    ended: tuple[StoredMatch, ...] = ()
    published: tuple[str, ...] = ()


def match_outcome(outcome: Outcome, journal_position: str = "") -> MatchOutcome:
    """Return an outcome of the referee as a result of a competition."""
    if outcome.ending is Ending.ABORTED:
        cause = outcome.cause.name.lower() if outcome.cause else ""
        return aborted(outcome.match_id, f"{cause} {outcome.incident}".strip())
    faults: list[Counter[str]] = [Counter() for _ in outcome.scores]
    for fault in outcome.faults:
        faults[fault.seat][fault.kind.name.lower()] += 1
    costs = [max(scores) - min(scores) for scores in outcome.hand_scores]
    return MatchOutcome(
        match_id=outcome.match_id,
        scores=outcome.scores,
        places=outcome.places,
        ending=outcome.ending.name.lower(),
        faults=tuple(dict(counts) for counts in faults),
        forfeited=tuple(conduct.forfeited for conduct in outcome.conduct),
        fallback_share=tuple(
            conduct.fallbacks / conduct.decisions if conduct.decisions else 0.0
            for conduct in outcome.conduct
        ),
        hands=len(outcome.hand_scores),
        cost=max(costs, default=0),
        costliest_hand=costs.index(max(costs)) + 1 if costs else 0,
        decisions=outcome.decisions,
        journal_position=journal_position,
    )
