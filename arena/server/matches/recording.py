"""Records the result of a match, and publishes its deal-set if it was the last of it."""

import logging
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from arena.referee import Outcome
from arena.replay.journal.attempts import is_played_again
from arena.replay.journal.journal import Journal
from arena.replay.journal.match_log import SeatedAt
from arena.schedule.deal_sets import MatchOutcome
from arena.server.deals.deal_sets import DealSets
from arena.server.matches.match_record import MatchRecord
from arena.server.matches.results import Results, ResultWriter, match_outcome
from arena.server.orders import SCHEDULED, DealSetOrder, ordered_message
from arena.store import EndedMatch, StoreError
from cardarena.v1 import journal_pb2

MOST_ENDS: Final = 64
"""The latest ends of matches are sent again after a restart; each such match is played back for that."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A match that a worker has played."""

    outcome: MatchOutcome
    records: Sequence[bytes]
    """As `MatchLog.bodies`."""
    seated: Sequence[SeatedAt]
    """Which process of which bot sat where, and how its streams knew the match."""


class MatchRecorder(Protocol):
    """Records how matches end."""

    @property
    def needed_records(self) -> frozenset[str]:
        """The ended matches of which the journal must keep the records, by id."""
        ...

    async def record(self, match: MatchRecord, outcome: Outcome) -> None:
        """Take note of how a match ended, and lead it into its last state."""
        ...


class ResultRecorder:
    """Records the results of matches, and remembers which records of them the journal must keep."""

    def __init__(self, results: Results, journal: Journal, deal_sets: DealSets) -> None:
        self._writer = ResultWriter(results)
        self._journal = journal
        self._deal_sets = deal_sets
        self._latest_ends: deque[str] = deque(maxlen=MOST_ENDS)
        """The latest matches that ended and are not ordered again after a restart, by id."""
        self._unrecorded: set[str] = set()
        """Matches whose results could not be recorded, by id."""

    @property
    def needed_records(self) -> frozenset[str]:
        """The ended matches of which the journal must keep the records, by id."""
        return frozenset(self._latest_ends).union(self._unrecorded, self._deal_sets.unpublished)

    async def record(self, match: MatchRecord, outcome: Outcome) -> None:
        """Record how a match ended, then publish replays, then wake the callers that wait for the result."""
        if not match.policy.ordered_again:
            self._latest_ends.append(match.match_id)
        spec, log = match.seated.spec, match.seated.log
        found = match_outcome(outcome, self._journal.position)
        bots = tuple(entrant.name for entrant in spec.entrants)
        ended_unix_ms = time.time_ns() // 1_000_000
        ended = EndedMatch(found, spec.terms.game.id, bots, spec.deal_set, ended_unix_ms)
        try:
            await self._writer.record(ended)
            if not is_played_again(spec.deal_set, outcome.ending):
                published = await self._deal_sets.over(match.order, match.match_id, log.bodies)
                await self._writer.mark_published(published)
        except StoreError as error:
            # The journal has the result: it is recorded when the arena is started again.
            fields = {"match": spec.match_id, "why": str(error)}
            _log.error("a result could not be recorded", extra=fields)
            self._unrecorded.add(spec.match_id)
            match.fail_to_record(error)
        else:
            match.recorded(found)

    async def record_report(
        self, order: DealSetOrder, played: Sequence[PlayedMatch], worker: int
    ) -> None:
        """Record matches that a worker has played, and publish the deal-set if they were the last.

        The journal has them first, as if they had been played here: a kill loses none of them.

        Raises:
          StoreError: if the results cannot be recorded; they are at the next start.
          ValueError: if the records of a match are not whole.
        """
        numbered = [self._journal.numbered(each.records) for each in played]
        ended_unix_ms = time.time_ns() // 1_000_000
        ended, records = [], {}
        for each, bodies in zip(played, numbered, strict=True):
            match_id = each.outcome.match_id
            ordered = ordered_message(order, match_id, SCHEDULED)
            self._journal.append(journal_pb2.Record(ordered=ordered).SerializeToString())
            self._journal.reported(bodies, each.seated, worker)
            self._unrecorded.add(match_id)
            if each.outcome.has_result:
                records[match_id] = bodies
            found = replace(each.outcome, journal_position=self._journal.position)
            bots = tuple(bot.name for bot in order.table(match_id).bots)
            deal_set = "" if order.alone else order.deal_set
            ended.append(EndedMatch(found, order.terms.game.id, bots, deal_set, ended_unix_ms))
        await self._journal.synced()
        await self._writer.record(*ended)
        for match_id, bodies in records.items():
            self._deal_sets.found(order, match_id, bodies)
        self._unrecorded.difference_update(each.outcome.match_id for each in played)
        await self._writer.mark_published(await self._deal_sets.publish(order.deal_set))
