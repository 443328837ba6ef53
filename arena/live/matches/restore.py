"""Restores the state of earlier processes from their journals, before any bot may connect.

Results that the store lacks are recorded. Deal-sets whose last match had ended are published. Each interrupted match is
resumed, waits or is aborted, by its recovery action. Promised matches, which were ordered by hand and had not begun,
begin. An old journal is kept as long as a match needs it. An error of the arena in one match ends only the restoration
of that match.
"""

import contextlib
import logging
import time
from collections.abc import Iterator, Sequence
from typing import Final

import trio

from arena.bots.bot_ids import BotId
from arena.errors.refused import DRAINING, Refused
from arena.live.deals.deal_sets import DealSets
from arena.live.matches.interrupted import (
    RecoveryAction,
    action_for,
    after_power_cut,
    end_again,
    kept_order,
    last_events,
    spec_of_opened,
)
from arena.live.matches.match_record import MatchRecord
from arena.live.matches.matches import Matches
from arena.live.matches.recording import MOST_ENDS
from arena.live.matches.results import ArenaRecords, match_outcome
from arena.live.orders import BY_HAND, DealSetOrder
from arena.live.session.register import SessionRegister
from arena.records.journal.attempts import is_played_again
from arena.records.journal.journal import Journal
from arena.records.journal.kept_sessions import session_records
from arena.records.journal.match_log import SeatedAt
from arena.records.journal.recovery import RecoveredEnd, ToldEnd, UnfinishedMatch
from arena.records.playback import Discrepancy
from arena.records.read import Unplayable, replay_path
from arena.records.records import Damaged
from arena.records.write import write_replay
from arena.referee.spec import AbortCause, Ending, Outcome
from arena.store import StoredMatch
from arena.store.failures import first_error, is_of_arena
from cardarena.v1 import journal_pb2

RECONNECT_S: Final = 30.0
"""The time in seconds after a restart in which bots may reconnect before their clocks run."""
POWER_CUT: Final = "the machine stopped, and what bots had seen of it may not be known"
"""The reason why deals are void after a power cut."""

_log = logging.getLogger(__name__)


class Restoration:
    """Restores the state of earlier processes. `run` it once, before any bot connects."""

    def __init__(
        self,
        records: ArenaRecords,
        matches: Matches,
        sessions: SessionRegister,
        deal_sets: DealSets,
    ) -> None:
        self._recovery = records.recovery
        self._matches = matches
        self._sessions = sessions
        self._journal = records.journal
        self._deal_sets = deal_sets
        self._results = records.results
        self._replays = records.replays
        self._signer = records.signer

    async def run(self, nursery: trio.Nursery) -> None:
        """Restore everything; tasks that wait for bots run in `nursery`.

        Raises `StoreError` if results cannot be recorded, and `Unwritten` if the journal cannot be written.
        """
        recovery = self._recovery
        promised = await self._open_promises()
        for promise in promised:
            self._append(journal_pb2.Record(ordered=promise))
        for record in session_records(recovery.sessions):
            self._append(record)
        self._sessions.continue_from(recovery.sessions)
        await self._record_results()
        if after_power_cut(recovery.boot_id):
            await self._draw_anew()
        for doubtful in recovery.doubtful.values():
            with _one_match(doubtful.match_id):
                await self._abort_doubtful(doubtful)
        await self._send_ends_again()
        resumed = sum([await self._recovered(unfinished) for unfinished in recovery.unfinished])
        for promise in promised:
            with _one_match(promise.match_id):
                order = kept_order(promise, promise.match_id)
                if order is None:
                    await self._break_promise(promise)
                else:
                    match = self._matches.promised(order, promise.match_id)
                    nursery.start_soon(self._keep_promise, match, promise)
        if resumed:
            _log.info("matches are resumed", extra={"matches": resumed})
            nursery.start_soon(self._matches.play_resumed)
            nursery.start_soon(self._release_sessions)
        self._journal.flush()
        nursery.start_soon(self._deal_sets.close_left_over, self._may_be_played)

    # Matches that had ended.

    async def _record_results(self) -> None:
        if self._recovery.published:
            await trio.to_thread.run_sync(self._results.mark_published, self._recovery.published)
        ended = self._recovery.ended
        if not ended:
            return
        await trio.to_thread.run_sync(
            self._results.record, [_ended(end.opened, end.outcome, "") for end in ended]
        )
        touched: dict[str, DealSetOrder] = {}
        for end in ended:
            if is_played_again(end.opened.deal_set, end.outcome.ending) or end.path is not None:
                continue
            with _one_match(end.opened.match_id):
                order = kept_order(end.order, end.opened.match_id)
                if order is None:
                    await self._publish_alone(end)
                else:
                    touched[order.deal_set] = order
                    self._deal_sets.add_ended(order, end.opened.match_id, end.bodies)
        for order in touched.values():
            with _one_match(order.match_ids[0]):
                await self._publish_deal_set(order)

    async def _publish_deal_set(self, order: DealSetOrder) -> None:
        known = await trio.to_thread.run_sync(self._results.outcomes, order.match_ids)
        over = [match_id for match_id, outcome in known.items() if outcome.has_result]
        self._deal_sets.take_up(order, over)
        published = await self._deal_sets.publish(order.deal_set)
        await trio.to_thread.run_sync(self._results.mark_published, published)

    async def _send_ends_again(self) -> None:
        asked_us = self._recovery.asked_us
        bodies = {end.opened.match_id: end.bodies for end in self._recovery.ended}
        for end in self._recovery.ends[-MOST_ENDS:]:
            unacknowledged = [
                (seat, at)
                for seat, at in enumerate(end.seated)
                if asked_us.get((at.bot, at.instance), 0) <= end.ended_us
            ]
            match_id = end.opened.match_id
            if unacknowledged:
                with _one_match(match_id):
                    await self._send_end_again(end, unacknowledged, bodies.get(match_id, ()))

    async def _send_end_again(
        self, end: ToldEnd, unacknowledged: Sequence[tuple[int, SeatedAt]], known: Sequence[bytes]
    ) -> None:
        match_id = end.opened.match_id
        replay = replay_path(self._replays, match_id)
        try:
            spec = spec_of_opened(end.opened, end.opening)
            last = await trio.to_thread.run_sync(last_events, known, end.opening, replay)
        except (OSError, Damaged, Discrepancy, Unplayable):
            _log.warning("the end of a match cannot be sent again", extra={"match": match_id})
            return
        for seat, at in unacknowledged:
            session = self._sessions.session_of(BotId(at.bot, at.instance))
            again = end_again(end, seat, at.match, last[seat])
            session.ended_before(spec, seat, at.match, again)

    async def _publish_alone(self, ended: RecoveredEnd) -> None:
        """Publish a match whose order was not kept, if it was a deal-set of its own."""
        if ended.opened.deal_set or ended.opening is None:
            return
        match_id = ended.opened.match_id
        await self._write_replay(match_id, ended.bodies, ended)

    async def _write_replay(
        self, match_id: str, bodies: Sequence[bytes], of: RecoveredEnd | UnfinishedMatch
    ) -> None:
        assert of.opening is not None
        try:
            await trio.to_thread.run_sync(
                write_replay, self._replays, match_id, bodies, of.opening, self._signer
            )
        except OSError:
            _log.exception("a replay could not be written", extra={"match": match_id})
        else:
            await trio.to_thread.run_sync(self._results.mark_published, [match_id])

    # Matches that had not ended.

    async def _draw_anew(self) -> None:
        """After a power cut, draw new packs if bots may have seen more than the journal has.

        Up to 20 ms of moves that bots received are lost, and cards with them. So a deal-set without
        any result is played from the start with new packs. One that has a result keeps its packs,
        as its matches count together.
        """
        left = {match.opened.match_id: match for match in self._recovery.unfinished}
        for deals in self._deal_sets.live:
            begun = [left[match_id] for match_id in deals.match_ids if match_id in left]
            if any(not match.opened.deal_set for match in begun):
                continue  # a single match is aborted, and its deals are published
            known = await trio.to_thread.run_sync(self._results.outcomes, deals.match_ids)
            if any(outcome.has_result for outcome in known.values()):
                continue
            await self._deal_sets.void(deals.context, POWER_CUT)
            for match in begun:
                self._recovery.unfinished.remove(match)

    async def _recovered(self, unfinished: UnfinishedMatch) -> bool:
        """Execute the recovery action of a match; abort it if the arena fails."""
        match_id = unfinished.opened.match_id
        is_resumed, has_failed = False, True
        with _one_match(match_id):
            is_resumed = await self._recover(unfinished)
            has_failed = False
        if has_failed and match_id not in self._matches.in_play:
            with _one_match(match_id):
                await self._abort(unfinished, AbortCause.UNPLAYABLE)
        return is_resumed

    async def _recover(self, unfinished: UnfinishedMatch) -> bool:
        """Execute the recovery action of a match; return whether it is resumed now."""
        match_id, action = unfinished.opened.match_id, action_for(unfinished)
        if action is RecoveryAction.RESUME_WHEN_ORDERED:
            self._matches.suspended(unfinished)
        elif action is RecoveryAction.ABORT:
            await self._abort(unfinished, AbortCause.STOPPED)
        elif action is RecoveryAction.ABORT_AS_DAMAGED:
            await self._abort_as_damaged(unfinished)
        elif action is RecoveryAction.RESUME_NOW:
            order = kept_order(unfinished.order, match_id)
            try:
                if order is None:
                    raise Unplayable("its order is lost")
                self._matches.resume(unfinished, order, BY_HAND)
            except Unplayable as error:
                fields = {"match": match_id, "why": str(error)}
                _log.warning("a match cannot be resumed", extra=fields)
                await self._abort(unfinished, AbortCause.UNPLAYABLE)
            else:
                return True
        return False

    async def _abort(self, unfinished: UnfinishedMatch, cause: AbortCause) -> None:
        """Abort a match that cannot be resumed: it does not count, and its replay is published."""
        opened = unfinished.opened
        outcome, bodies = aborted(unfinished, cause, self._journal)
        await self._record(_ended(opened, outcome, self._journal.position))
        secret = cause is AbortCause.JOURNAL and is_played_again(opened.deal_set, outcome.ending)
        if unfinished.opening is not None and not secret:
            await self._write_replay(opened.match_id, bodies, unfinished)

    async def _abort_as_damaged(self, unfinished: UnfinishedMatch) -> None:
        match_id = unfinished.opened.match_id
        known = await trio.to_thread.run_sync(self._results.outcomes, [match_id])
        if match_id in known and known[match_id].has_result:
            _log.error("the replay of a match is lost", extra={"match": match_id})
            return
        _log.error("a match is aborted, as the journal is damaged", extra={"match": match_id})
        await self._abort(unfinished, AbortCause.JOURNAL)

    async def _abort_doubtful(self, ordered: journal_pb2.Ordered) -> None:
        """Abort an ordered match that may have begun where the journal is damaged."""
        order = kept_order(ordered, ordered.match_id)
        known = await trio.to_thread.run_sync(self._results.outcomes, [ordered.match_id])
        if order is None or ordered.match_id in known:
            return
        _log.error(
            "a match is aborted, as the journal is damaged", extra={"match": ordered.match_id}
        )
        await self._record(_never_begun(ordered, AbortCause.JOURNAL))

    async def _release_sessions(self) -> None:
        await trio.sleep(RECONNECT_S)
        self._sessions.release()

    # Promised matches.

    async def _open_promises(self) -> Sequence[journal_pb2.Ordered]:
        """Return the orders of promised matches that have neither begun nor been aborted."""
        ordered = self._recovery.ordered
        promised = [order for order in ordered.values() if not order.ordered_again]
        if not promised:
            return ()
        ids = [order.match_id for order in promised]
        over = await trio.to_thread.run_sync(self._results.outcomes, ids)
        return [order for order in promised if order.match_id not in over]

    async def _break_promise(self, promise: journal_pb2.Ordered) -> None:
        """Record that a match that can never begin was aborted, so that no caller waits for it."""
        await self._record(_never_begun(promise, AbortCause.UNPLAYABLE))

    async def _keep_promise(self, match: MatchRecord, promise: journal_pb2.Ordered) -> None:
        """Begin a match once its bots have reconnected, or after `RECONNECT_S`."""
        bots = match.table.bots
        with trio.move_on_after(RECONNECT_S):
            await self._sessions.arrived(bots)
        for bot in bots:
            self._sessions.session_of(bot)  # the bot may still connect
        with _one_match(match.match_id):
            try:
                self._matches.begin_promised(match)
            except Refused as refused:
                fields = {"match": match.match_id, "why": refused.text}
                _log.warning("a promised match cannot begin", extra=fields)
                if refused.reason != DRAINING:
                    await self._break_promise(promise)

    def _may_be_played(self, deal_set: str) -> bool:
        """Return whether matches of a deal-set may still be played: not if it is a single match with a replay."""
        try:
            return not replay_path(self._replays, deal_set).exists()
        except ValueError:  # no match can have this id
            return True

    async def _record(self, ended: StoredMatch) -> None:
        await trio.to_thread.run_sync(self._results.record, [ended])

    def _append(self, record: journal_pb2.Record) -> None:
        self._journal.append(record.SerializeToString())


@contextlib.contextmanager
def _one_match(match_id: str) -> Iterator[None]:
    """Log an error of the arena in the restoration of one match, so that the others continue."""
    try:
        yield
    except Exception as error:
        if is_of_arena(first_error(error)):
            raise
        fields = {"match": match_id}
        _log.error("a match could not be restored", exc_info=error, extra=fields)


def aborted(
    unfinished: UnfinishedMatch, cause: AbortCause, journal: Journal
) -> tuple[Outcome, Sequence[bytes]]:
    """Write the end of a match that cannot be resumed; return its outcome and all its records."""
    past = unfinished.past
    log = journal.match_again(unfinished.bodies)
    end_s = max(
        (decision.sent_s + decision.charged_s + decision.refunded_s for decision in past),
        default=0.0,
    )
    match_id = unfinished.opened.match_id
    outcome = Outcome(match_id, Ending.ABORTED, (), (), (), (), decisions=len(past), cause=cause)
    log.closed(outcome, end_s)
    return outcome, log.bodies


def _never_begun(ordered: journal_pb2.Ordered, cause: AbortCause) -> StoredMatch:
    """Return the result of an ordered match that the arena aborts before its first card."""
    deal_set, match_id = ordered.deal_set, ordered.match_id
    bots = [match.bots for match in deal_set.matches if match.match_id == match_id]
    return StoredMatch(
        match_outcome(Outcome(match_id, Ending.ABORTED, (), (), (), (), 0, cause=cause)),
        deal_set.terms.game,
        tuple(bot.bot for bot in (bots[0] if bots else ())),
        "" if deal_set.deal_set == match_id else deal_set.deal_set,
        time.time_ns() // 1_000_000,
    )


def _ended(opened: journal_pb2.Opened, outcome: Outcome, position: str) -> StoredMatch:
    return StoredMatch(
        match_outcome(outcome, position),
        opened.terms.game,
        tuple(entrant.name for entrant in opened.entrants),
        opened.deal_set,
        time.time_ns() // 1_000_000,
    )
