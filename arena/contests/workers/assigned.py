"""A deal-set that is assigned to workers: its assignment, and the check of its report."""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import trio
from google.protobuf.message import DecodeError

from arena.contests.workers.holding import HeldTime
from arena.contests.workers.messages import BadMessage, Begin, WorkerError, match_of
from arena.contests.workers.reports import PrepareReport, ReportedDealSet, discard, prepared_here
from arena.live.arena import Arena
from arena.live.deals.fair import FixedDeals
from arena.live.deals.handshakes import DealBots
from arena.live.matches.recording import PlayedMatch, ReportedMatch
from arena.live.orders import DealSetOrder, deal_set_message
from arena.live.work import CountBegin
from arena.records.deal_book import Opening
from arena.referee.deal import COMMON
from arena.referee.wire.terms import terms_message
from arena.results.deal_sets import MatchOutcome
from arena.results.spot_checks import CheckedMatch
from cardarena.v1 import journal_pb2, work_pb2

Keep = Callable[[Sequence[CheckedMatch], int], None]
"""Stores checked matches, and returns the time of storing in Unix milliseconds; blocks.

Raises:
  StoreError: if that is not possible.
"""


class Stale(Exception):
    """The deal-set was assigned again, or has a report already, so this report does not count."""


class Unfinished(WorkerError):
    """A worker on another machine aborted a match."""


class AssignedDealSet:
    """A deal-set that workers play."""

    def __init__(
        self,
        arena: Arena,
        begin: CountBegin,
        order: DealSetOrder,
        entrants: Sequence[work_pb2.WorkEntrant],
        prepare: PrepareReport = prepared_here,
        *,
        held_time: HeldTime | None = None,
        pondering: bool = False,
        is_first: bool = False,
    ) -> None:
        """Begin without an assignment.

        Args:
          arena: Has the deals, the results and the key.
          begin: Counts a begin in the store, and returns its number.
          prepare: Prepares reports for their record, and verifies those of workers on other
            machines.
          held_time: How long deal-sets of its game take; by default as if none was reported yet.
          pondering: Whether submitted bots may compute while nothing is asked of them.
          is_first: Whether this is its first begin, so that none of its matches has ended.
        """
        self.order: Final = order
        self.outcomes: Final[dict[str, MatchOutcome]] = {}
        """The results of its matches so far, by id."""
        self.archives: Final = frozenset(entrant.archive_sha256 for entrant in entrants)
        """The archives of its bots, by the hash of their contents."""
        self.failed_at: Final[list[str]] = []
        """The workers at which a begin failed, by name, once for each."""
        self.held_time: Final = held_time or HeldTime()
        self.played_by = ""
        """The worker on another machine that played all its matches; empty for any other."""
        self._arena, self._begin, self._entrants = arena, begin, entrants
        self._prepare_report, self._pondering = prepare, pondering
        self._latest = Begin(order.deal_set, 0)
        self._ordered = deal_set_message(order)
        self._wanted: list[str] | None = None
        """Ids of assigned matches without a report."""
        self._fixed: FixedDeals | None = None
        self._anew, self._is_first = True, is_first

    @property
    def is_complete(self) -> bool:
        return len(self.outcomes) == len(self.order.tables)

    async def prepare(self) -> bool:
        """Read the results of its matches; return whether any are missing.

        Raises `StoreError` if results cannot be read.
        """
        order, matches = self.order, self._arena.matches
        known: Mapping[str, MatchOutcome] = {}
        if not self._is_first:
            known = await trio.to_thread.run_sync(matches.results.outcomes, order.match_ids)
        self._is_first = False
        self._keep(known.values())
        # The death of a worker does not give its bots other packs; an aborted match does.
        aborted = len(self.outcomes) < len(known)
        await matches.take_up(order, known, anew=self._anew and aborted)
        self._anew = False
        return not self.is_complete

    async def hand_out(self, worker: str) -> work_pb2.WorkResponse:
        """Return the assignment for a worker with this name. Reports of earlier assignments no longer count.

        Raises `OutOfDate` if another arena has taken it, and `StoreError` if the begin cannot be stored.
        """
        self._latest = self._latest._replace(begin=await self._begin(worker))
        self._wanted = [
            match_id for match_id in self.order.match_ids if match_id not in self.outcomes
        ]
        assignment = work_pb2.WorkAssignment(
            order=self._ordered,
            matches=self._wanted,
            entrants=self._entrants,
            pondering=self._pondering,
            own_dice=self.order.own_dice,
        )
        return work_pb2.WorkResponse(begin=self._latest.message, assignment=assignment)

    async def fix(self, bots: DealBots) -> FixedDeals:
        """Fix its deals, with the bots at a worker if they are fair, and write them to disk.

        Raises `Unwritten` if the deals cannot be written.
        """
        self._fixed = await self._arena.matches.fix_deals(self.order, bots)
        return self._fixed

    async def record(
        self, message: work_pb2.WorkRequest, worker: int, played_at: journal_pb2.PlayedAt | None
    ) -> None:
        """Record the report of the worker with this number, and publish the deal-set if it is complete.

        A worker on another machine has `played_at`. The moves and times in its report are trusted, and all that follows
        from them is verified.

        Raises:
          Stale: if it was assigned again, or has a report.
          BadMessage: if the report does not fit the assignment, or verification fails.
          Unfinished: if a worker on another machine aborted a match.
          StoreError: if the results cannot be recorded.
        """
        try:
            reported = await self._checked(message, played_at, worker)
        except (ValueError, DecodeError) as error:
            raise BadMessage(f"no report: {error}") from error
        with trio.CancelScope(shield=True):
            await self._arena.recorder.record_report(self.order, reported)
        if played_at is not None and len(reported) == len(self.order.tables):
            self.played_by = played_at.worker
        self._keep(match.outcome for match in reported)
        self._anew = True

    async def _checked(
        self,
        message: work_pb2.WorkRequest,
        played_at: journal_pb2.PlayedAt | None,
        worker: int | None,
    ) -> Sequence[ReportedMatch]:
        """Return the matches of a report that counts; later reports do not count.

        The matches are prepared for the record of the worker with this number; None if they are not recorded.
        """
        self._require_latest(message)
        played = [match_of(match) for match in message.report.matches]
        if sorted(match.outcome.match_id for match in played) != sorted(self._wanted or ()):
            raise BadMessage("a report of other matches")
        fixed = self._fixed
        if fixed is None:
            raise BadMessage("a report before the packs are fixed")
        for match in played:
            self._require_own(match, fixed, is_ordered=played_at is not None)
        recorder, place = self._arena.recorder, b""
        if played_at is not None:
            place = played_at.SerializeToString()
        recording = None if worker is None else recorder.recording(self._ordered, played, worker)
        reported = await self._prepare_report(
            ReportedDealSet(played, fixed.opening, place, recording)
        )
        try:
            self._require_latest(message)  # it may have been assigned again during the wait
        except Stale:
            discard(reported)
            raise
        self._wanted = None
        return reported

    def _require_latest(self, message: work_pb2.WorkRequest) -> None:
        if self._wanted is None or Begin.of(message.begin) != self._latest:
            raise Stale(f"not the latest of {self.order.deal_set}")

    def _require_own(self, played: PlayedMatch, fixed: FixedDeals, *, is_ordered: bool) -> None:
        """Require the records of this match and the arena's packs; if `is_ordered`, also a result and the order."""
        opened, outcome = _opened(played.records), played.outcome
        if opened.match_id != outcome.match_id:
            raise BadMessage(f"records of {outcome.match_id} that are of another match")
        if opened.deal_key_sha256 != _sha256(fixed.key):
            raise BadMessage(f"{outcome.match_id} was played by other packs")
        if is_ordered:
            if not outcome.has_result:
                raise Unfinished(f"{outcome.match_id} was aborted: {outcome.evidence}")
            self._require_ordered(opened, fixed)

    def _require_ordered(self, opened: journal_pb2.Opened, fixed: FixedDeals) -> None:
        order, table = self.order, self.order.table(opened.match_id)
        expected = journal_pb2.Opened(
            match_id=opened.match_id,
            terms=terms_message(order.terms),
            # Only the worker knows what the bots declared.
            entrants=[
                journal_pb2.Entrant(name=bot.name, publishes_notes=seated.publishes_notes)
                for bot, seated in zip(table.bots, opened.entrants, strict=False)
            ],
            start_unix_ms=opened.start_unix_ms,
            deal_set="" if order.alone else order.deal_set,
            deal_key_sha256=opened.deal_key_sha256,
            fair_deal=fixed.fair_deal,
            forfeited_seats=opened.forfeited_seats,
            # Only the worker knows whether its bots were isolated from each other.
            dice_table=COMMON
            if opened.dice_table == COMMON
            else order.match_ids.index(table.match_id) + 1,
        )
        if opened != expected:
            raise BadMessage(f"{opened.match_id} was not played as ordered")
        late = {forfeit.seat for forfeit in fixed.forfeited_seats(table.bots)}
        if not late <= {forfeit.seat for forfeit in opened.forfeited_seats}:
            raise BadMessage(f"{opened.match_id} lacks a seat that forfeited before the deal")

    def _keep(self, outcomes: Iterable[MatchOutcome]) -> None:
        self.outcomes.update(
            {outcome.match_id: outcome for outcome in outcomes if outcome.has_result}
        )


class SecondPlay(AssignedDealSet):
    """A deal-set that is played again."""

    def __init__(self, first: AssignedDealSet, keep: Keep) -> None:
        """Prepare a second play of `first`, whose matches all have results and were played by one worker."""
        super().__init__(
            first._arena,
            self._count,
            first.order,
            first._entrants,
            first._prepare_report,
            held_time=first.held_time,
            pondering=first._pondering,
        )
        self._first, self._keep_checked = first, keep
        self._begins = first._latest.begin

    async def _count(self, _: str) -> int:
        self._begins += 1
        return self._begins

    async def fix(self, bots: DealBots) -> FixedDeals:  # noqa: ARG002 - they agree on nothing
        """Return the packs of the first play."""
        fixed = self._fixed = self._first._fixed
        assert fixed is not None
        if not self.order.seed:
            fixed = self._fixed = FixedDeals(Opening(fixed.key), culprits=fixed.culprits)
        return fixed

    async def record(
        self,
        message: work_pb2.WorkRequest,
        worker: int,  # noqa: ARG002 - that of the first play counts
        played_at: journal_pb2.PlayedAt | None,
    ) -> None:
        """Keep the scores beside those of the first play; raises the errors of `AssignedDealSet.record`."""
        try:
            played = await self._checked(message, played_at, None)
        except (ValueError, DecodeError) as error:
            raise BadMessage(f"no report: {error}") from error
        assert played_at is not None
        rows = [
            CheckedMatch(
                match.outcome.match_id,
                self.order.deal_set,
                self._first.played_by,
                played_at.worker,
                tuple(bot.name for bot in self.order.table(match.outcome.match_id).bots),
                self._first.outcomes[match.outcome.match_id].scores,
                match.outcome.scores,
            )
            for match in played
        ]
        await trio.to_thread.run_sync(self._keep_checked, rows, time.time_ns() // 1_000_000)
        self._keep(match.outcome for match in played)


def _opened(records: Sequence[bytes]) -> journal_pb2.Opened:
    return journal_pb2.Record.FromString(b"".join(records[:1])).opened


def _sha256(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
