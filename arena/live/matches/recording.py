"""Records the result of a match, and publishes its deal-set if it was the last match."""

import logging
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from arena.durable_files import StagedFile, Unwritten
from arena.live.deals.deal_sets import DealSets
from arena.live.matches.match_record import MatchRecord
from arena.live.matches.results import ResultWriter, match_outcome
from arena.live.orders import DealSetOrder
from arena.records.journal.attempts import is_played_again
from arena.records.journal.journal import Journal
from arena.records.journal.match_log import SeatedAt
from arena.records.signing import ArenaKey
from arena.referee.spec import Outcome
from arena.results.deal_sets import MatchOutcome
from arena.store import StoredMatch, StoredMatches, StoreError
from cardarena.v1 import journal_pb2

MOST_ENDS: Final = 64
"""The number of latest ends of matches that are sent again after a restart; each such match is replayed for it."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A match that a worker has played."""

    outcome: MatchOutcome
    records: Sequence[bytes]
    """As `MatchLog.bodies`."""
    seated: Sequence[SeatedAt]
    """The processes of bots by seat, and the numbers of the match on their streams."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The data that are needed to prepare the matches of a report for their record."""

    order: bytes
    """The order, as `deal_set_message` returns it."""
    numbers: Sequence[int]
    """Their numbers in the journal."""
    worker: int
    replays: Path | None
    """The folder of replays, if the report completes the deal-set; None while its replays are secret."""
    signer: ArenaKey | None


@dataclass(frozen=True, slots=True)
class ReportedMatch:
    """A match of a report, prepared for its record."""

    outcome: MatchOutcome
    journaled: bytes = b""
    """Its records with their frames, as `match_log.reported` returns them."""
    staged: Sequence[StagedFile] = ()
    """Its replay and notes, written and not published; none if `records` has it."""
    records: Sequence[bytes] = ()
    """The records as in the journal, for its replay."""


class MatchRecorder(Protocol):
    """Records how matches end."""

    @property
    def needed_records(self) -> frozenset[str]:
        """The ended matches of which the journal must keep the records, by id."""
        ...

    async def record(self, match: MatchRecord, outcome: Outcome) -> None:
        """Note the outcome of a match, and set its last state."""
        ...


class ResultRecorder:
    """Records the results of matches, and remembers which records of them the journal must keep."""

    def __init__(self, results: StoredMatches, journal: Journal, deal_sets: DealSets) -> None:
        self._writer = ResultWriter(results)
        self._journal = journal
        self._deal_sets = deal_sets
        self._latest_ends: deque[str] = deque(maxlen=MOST_ENDS)
        """The latest matches that ended and are not ordered again after a restart, by id."""
        self._unrecorded: set[str] = set()
        """Matches whose results could not be recorded, by id."""

    @property
    def needed_records(self) -> frozenset[str]:
        return frozenset(self._latest_ends).union(self._unrecorded, self._deal_sets.unpublished)

    async def record(self, match: MatchRecord, outcome: Outcome) -> None:
        """Record how a match ended, then publish replays, then wake the callers that wait for the result."""
        if not match.policy.ordered_again:
            self._latest_ends.append(match.match_id)
        spec, log = match.seated.spec, match.seated.log
        result = match_outcome(outcome, self._journal.position)
        bots = tuple(entrant.name for entrant in spec.entrants)
        ended_unix_ms = time.time_ns() // 1_000_000
        ended = StoredMatch(result, spec.terms.game.id, bots, spec.deal_set, ended_unix_ms)
        try:
            await self._writer.record(ended)
            if not is_played_again(spec.deal_set, outcome.ending):
                published = await self._deal_sets.over(match.order, match.match_id, log.bodies)
                await self._writer.mark_published(published)
        except Unwritten:
            raise
        except Exception as error:  # other matches are still recorded
            # The journal has the result: it is recorded when the arena is started again.
            fields = {"match": spec.match_id, "why": str(error)}
            exc_info = None if isinstance(error, StoreError) else error
            _log.error("a result could not be recorded", extra=fields, exc_info=exc_info)
            self._unrecorded.add(spec.match_id)
            match.fail_to_record(error)
        else:
            match.recorded(result)

    def recording(
        self, order: journal_pb2.OrderedDealSet, played: Sequence[PlayedMatch], worker: int
    ) -> Recording:
        """Return the data that are needed to prepare matches for `record_report`."""
        completes = len(played) == len(order.matches) and all(
            match.outcome.has_result for match in played
        )
        return Recording(
            order.SerializeToString(),
            [self._journal.next_number() for _ in played],
            worker,
            self._deal_sets.replays if completes else None,
            self._deal_sets.signer,
        )

    async def record_report(self, order: DealSetOrder, reported: Sequence[ReportedMatch]) -> None:
        """Record matches that a worker has played, and publish the deal-set if they were the last.

        The journal gets them first, as if they had been played here, so that a kill loses none of them.

        Raises `StoreError` if the results cannot be recorded; they are then recorded at the next start.
        """
        ended_unix_ms = time.time_ns() // 1_000_000
        ended = []
        for match in reported:
            match_id = match.outcome.match_id
            self._unrecorded.add(match_id)
            self._journal.append_framed(match.journaled)
            result = replace(match.outcome, journal_position=self._journal.position)
            bots = tuple(bot.name for bot in order.table(match_id).bots)
            deal_set = "" if order.alone else order.deal_set
            ended.append(StoredMatch(result, order.terms.game.id, bots, deal_set, ended_unix_ms))
        await self._journal.synced()
        await self._writer.record(*ended)
        for match in reported:
            if match.outcome.has_result:
                self._deal_sets.add_ended(
                    order, match.outcome.match_id, match.records, match.staged
                )
        await self._writer.mark_published(await self._deal_sets.publish(order.deal_set))
        self._unrecorded.difference_update(match.outcome.match_id for match in reported)
