"""A leased deal-set that is assigned to workers: its assignment, and the check of its report."""

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

import trio
from google.protobuf.message import DecodeError

from arena.competition.spot_checks import CheckedMatch
from arena.deal import COMMON
from arena.replay.deal_book import Opening
from arena.schedule.deal_sets import MatchOutcome
from arena.schedule.runner import CountBegin
from arena.server.arena import Arena
from arena.server.deals.fair import FixedDeals
from arena.server.deals.handshakes import DealBots
from arena.server.matches.recording import PlayedMatch
from arena.server.orders import DealSetOrder, deal_set_message
from arena.server.workers.messages import BadMessage, Begin, match_of
from arena.server.workers.verification import Verify, verified_here
from arena.wire.terms import terms_message
from cardarena.v1 import journal_pb2, work_pb2

Keep = Callable[[Sequence[CheckedMatch], int], None]
"""Stores checked matches, and when that was, in Unix milliseconds; blocks.

Raises:
  StoreError: if that is not possible.
"""


class Stale(Exception):
    """The deal-set was assigned again, or has a report already, so this report does not count."""


class Unfinished(Exception):
    """A worker on another machine aborted a match. The text says why."""


class LeasedDealSet:
    """A leased deal-set that workers play."""

    def __init__(
        self,
        arena: Arena,
        epoch: int,
        begin: CountBegin,
        order: DealSetOrder,
        entrants: Sequence[work_pb2.WorkEntrant],
        verify: Verify = verified_here,
        *,
        pondering: bool = False,
    ) -> None:
        """Begin without an assignment.

        Args:
          arena: Has the deals, the results and the key.
          epoch: Counts the leases of the deal-set.
          begin: Raises the count of its begins in the store, and returns it.
          order: The deal-set.
          entrants: How its bots are launched.
          verify: Verifies reports of workers on other machines.
          pondering: Whether submitted bots may compute while nothing is asked of them.
        """
        self.order: Final = order
        self.outcomes: Final[dict[str, MatchOutcome]] = {}
        """The results of its matches so far, by id."""
        self.archives: Final = frozenset(each.archive_sha256 for each in entrants)
        """The archives of its bots, by the hash of their contents."""
        self.played_by = ""
        """The worker on another machine that played all its matches; empty for any other."""
        self._arena, self._begin, self._entrants = arena, begin, entrants
        self._verify, self._pondering = verify, pondering
        self._latest = Begin(order.deal_set, epoch, 0)
        self._wanted: list[str] | None = None
        """Ids of assigned matches without a report."""
        self._fixed: FixedDeals | None = None
        self._anew = True

    @property
    def is_complete(self) -> bool:
        """Whether all its matches have results."""
        return len(self.outcomes) == len(self.order.tables)

    async def prepare(self) -> bool:
        """Read the results of its matches; returns whether any are missing.

        Raises:
          StoreError: if results cannot be read.
        """
        order, matches = self.order, self._arena.matches
        known = await trio.to_thread.run_sync(matches.results.outcomes, order.match_ids)
        self._keep(known.values())
        # A worker that dies does not get its bots other packs; a match that was aborted does.
        aborted = len(self.outcomes) < len(known)
        await matches.take_up(order, known, anew=self._anew and aborted)
        self._anew = False
        return not self.is_complete

    async def hand_out(self, worker: str) -> work_pb2.ToWorker:
        """Return the assignment for a worker with this name. Reports of earlier assignments no longer count.

        Raises:
          OutOfDate: if it was leased again.
          StoreError: if the begin cannot be stored.
        """
        self._latest = self._latest._replace(begin=await self._begin(worker))
        self._wanted = [each for each in self.order.match_ids if each not in self.outcomes]
        assignment = work_pb2.WorkAssignment(
            order=deal_set_message(self.order),
            matches=self._wanted,
            entrants=self._entrants,
            pondering=self._pondering,
        )
        return work_pb2.ToWorker(begin=self._latest.message, assignment=assignment)

    async def fix(self, bots: DealBots) -> FixedDeals:
        """Fix its deals, with the bots at a worker if they are fair, and write them to disk.

        Raises:
          Unwritten: if the deals cannot be written.
        """
        self._fixed = await self._arena.matches.fix_deals(self.order, bots)
        return self._fixed

    async def record(
        self, said: work_pb2.FromWorker, worker: int, played_at: journal_pb2.PlayedAt | None
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
            played = await self._checked(said, played_at)
            with trio.CancelScope(shield=True):
                await self._arena.recorder.record_report(self.order, played, worker)
        except (ValueError, DecodeError) as error:
            raise BadMessage(f"no report: {error}") from error
        if played_at is not None and len(played) == len(self.order.tables):
            self.played_by = played_at.worker
        self._keep(each.outcome for each in played)
        self._anew = True

    async def _checked(
        self, said: work_pb2.FromWorker, played_at: journal_pb2.PlayedAt | None
    ) -> list[PlayedMatch]:
        """The matches of a report that counts; no other report does from now on."""
        self._require_latest(said)
        played = [match_of(each) for each in said.report.matches]
        if sorted(each.outcome.match_id for each in played) != sorted(self._wanted or ()):
            raise BadMessage("a report of other matches")
        for each in played:
            self._require_own(each)
        if played_at is not None:
            played = [await self._verified(each, played_at) for each in played]
            self._require_latest(said)  # it may have been assigned again meanwhile
        self._wanted = None
        return played

    def _require_latest(self, said: work_pb2.FromWorker) -> None:
        if self._wanted is None or Begin.of(said.begin) != self._latest:
            raise Stale(f"not the latest of {self.order.deal_set}")

    def _require_own(self, played: PlayedMatch) -> None:
        """Require the match's own records, and the arena's packs."""
        opened, match_id = _opened(played.records), played.outcome.match_id
        if opened.match_id != match_id:
            raise BadMessage(f"records of {match_id} that are of another match")
        if self._fixed is None or opened.deal_key_sha256 != _sha256(self._fixed.key):
            raise BadMessage(f"{match_id} was played by other packs")

    async def _verified(self, played: PlayedMatch, played_at: journal_pb2.PlayedAt) -> PlayedMatch:
        """Verify a match, and name the machine in its records."""
        fixed, outcome = self._fixed, played.outcome
        assert fixed is not None
        if not outcome.has_result:
            raise Unfinished(f"{outcome.match_id} was aborted: {outcome.evidence}")
        self._require_ordered(_opened(played.records), fixed)
        if await self._verify(played.records, fixed.opening) != outcome:
            raise BadMessage(f"{outcome.match_id} has another result by its records")
        first = journal_pb2.Record.FromString(played.records[0])
        first.opened.played_at.CopyFrom(played_at)
        # The journal computes the hash chain anew.
        return replace(played, records=(first.SerializeToString(), *played.records[1:]))

    def _require_ordered(self, opened: journal_pb2.Opened, fixed: FixedDeals) -> None:
        """Require the first record of a match to be the one of the order."""
        order, table = self.order, self.order.table(opened.match_id)
        expected = journal_pb2.Opened(
            match_id=opened.match_id,
            terms=terms_message(order.terms),
            entrants=[journal_pb2.Entrant(name=bot.name) for bot in table.bots],
            start_unix_ms=opened.start_unix_ms,
            deal_set="" if order.alone else order.deal_set,
            deal_key_sha256=opened.deal_key_sha256,
            fair_deal=fixed.fair_deal,
            forfeited_seats=opened.forfeited_seats,
            # Whether its bots were kept apart, the worker knows.
            dice_table=COMMON
            if opened.dice_table == COMMON
            else order.match_ids.index(table.match_id) + 1,
        )
        if opened != expected:
            raise BadMessage(f"{opened.match_id} was not played as ordered")
        late = {each.seat for each in fixed.forfeited_seats(table.bots)}
        if not late <= {each.seat for each in opened.forfeited_seats}:
            raise BadMessage(f"{opened.match_id} lacks a seat that forfeited before the deal")

    def _keep(self, outcomes: Iterable[MatchOutcome]) -> None:
        self.outcomes.update({each.match_id: each for each in outcomes if each.has_result})


class SecondPlay(LeasedDealSet):
    """A deal-set that is played again."""

    def __init__(self, first: LeasedDealSet, keep: Keep) -> None:
        """Of one whose matches all have results and were played by one worker."""
        super().__init__(
            first._arena,
            0,  # no lease has this number
            self._count,
            first.order,
            first._entrants,
            first._verify,
            pondering=first._pondering,
        )
        self._first, self._keep_checked, self._begins = first, keep, 0

    async def _count(self, _: str) -> int:
        self._begins += 1
        return self._begins

    async def fix(self, bots: DealBots) -> FixedDeals:  # noqa: ARG002 - they agree on nothing
        """The packs of the first play."""
        fixed = self._fixed = self._first._fixed
        assert fixed is not None
        if not self.order.seed:
            fixed = self._fixed = FixedDeals(Opening(fixed.key), culprits=fixed.culprits)
        return fixed

    async def record(
        self,
        said: work_pb2.FromWorker,
        worker: int,  # noqa: ARG002 - that of the first play counts
        played_at: journal_pb2.PlayedAt | None,
    ) -> None:
        """Keep the scores beside those of the first play; raises the errors of `LeasedDealSet.record`."""
        try:
            played = await self._checked(said, played_at)
        except (ValueError, DecodeError) as error:
            raise BadMessage(f"no report: {error}") from error
        assert played_at is not None
        rows = [
            CheckedMatch(
                each.outcome.match_id,
                self.order.deal_set,
                self._first.played_by,
                played_at.worker,
                tuple(bot.name for bot in self.order.table(each.outcome.match_id).bots),
                self._first.outcomes[each.outcome.match_id].scores,
                each.outcome.scores,
            )
            for each in played
        ]
        await trio.to_thread.run_sync(self._keep_checked, rows, time.time_ns() // 1_000_000)
        self._keep(each.outcome for each in played)


def _opened(records: Sequence[bytes]) -> journal_pb2.Opened:
    return journal_pb2.Record.FromString(b"".join(records[:1])).opened


def _sha256(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
