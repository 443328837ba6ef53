"""Restores the state of earlier processes from their journals, before any bot may connect.

Results that the store lacks are recorded. Deal-sets whose last match had ended are published. Each interrupted match is
resumed, waits or is aborted, by its recovery action. Promised matches, which were ordered by hand and had not begun,
begin. An old journal is kept as long as a match needs it.
"""

import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import trio

from arena.referee import AbortCause, Ending, Outcome
from arena.replay.journal.attempts import is_played_again
from arena.replay.journal.journal import Journal
from arena.replay.journal.kept_sessions import session_records
from arena.replay.journal.recovery import RecoveredEnd, Recovery, UnfinishedMatch
from arena.replay.playback import Discrepancy
from arena.replay.read import Unplayable, replay_path
from arena.replay.records import Damaged
from arena.replay.signing import Signer
from arena.replay.write import write_replay
from arena.server.bots import BotId
from arena.server.deals.deal_sets import DealSets
from arena.server.matches.ends import end_again, last_events
from arena.server.matches.interrupted import (
    RecoveryAction,
    action_for,
    after_power_cut,
    kept_order,
    spec_of_opened,
)
from arena.server.matches.match_record import MatchRecord
from arena.server.matches.matches import Matches
from arena.server.matches.recording import MOST_ENDS
from arena.server.matches.results import Results, match_outcome
from arena.server.orders import BY_HAND, DealSetOrder
from arena.server.refusals import DRAINING, Refused
from arena.server.session.register import SessionRegister
from arena.store import EndedMatch
from cardarena.v1 import journal_pb2

RECONNECT_S: Final = 30.0
"""Time in seconds after a restart in which bots may reconnect before their clocks run."""
POWER_CUT: Final = "the machine stopped, and what bots had seen of it may not be known"
"""The reason why deals are void after a power cut."""
KEPT_SILENT: Final = 1_000
"""Bots without matches whose stream counters are kept across a restart."""

_log = logging.getLogger(__name__)


class Restoration:
    """Restores the state of earlier processes. `run` it once, before any bot connects."""

    def __init__(
        self,
        recovery: Recovery,
        *,
        matches: Matches,
        sessions: SessionRegister,
        journal: Journal,
        deal_sets: DealSets,
        results: Results,
        replays: Path,
        signer: Signer | None = None,
    ) -> None:
        self._recovery = recovery
        self._matches = matches
        self._sessions = sessions
        self._journal = journal
        self._deal_sets = deal_sets
        self._results = results
        self._replays = replays
        self._signer = signer

    async def run(self, nursery: trio.Nursery) -> None:
        """Restore everything; tasks that wait for bots run in `nursery`.

        Raises:
          StoreError: if results cannot be recorded.
          Unwritten: if the journal cannot be written.
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
            await self._abort_doubtful(doubtful)
        await self._send_ends_again()
        resumed = sum([await self._recover(each) for each in recovery.unfinished])
        for promise in promised:
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
        """Record the matches that had ended, and publish the deal-sets that are over with them."""
        ended = self._recovery.ended
        if not ended:
            return
        await trio.to_thread.run_sync(
            self._results.record, [_ended(each.opened, each.outcome, "") for each in ended]
        )
        touched: dict[str, DealSetOrder] = {}
        for each in ended:
            if is_played_again(each.opened.deal_set, each.outcome.ending) or each.path is not None:
                continue
            order = kept_order(each.order, each.opened.match_id)
            if order is None:
                await self._publish_alone(each)
            else:
                touched[order.deal_set] = order
                self._deal_sets.found(order, each.opened.match_id, each.bodies)
        for order in touched.values():
            known = await trio.to_thread.run_sync(self._results.outcomes, order.match_ids)
            over = [match_id for match_id, found in known.items() if found.has_result]
            self._deal_sets.take_up(order, over)
            published = await self._deal_sets.publish(order.deal_set)
            await trio.to_thread.run_sync(self._results.mark_published, published)

    async def _send_ends_again(self) -> None:
        """Send ends of matches again that bots may not have received."""
        asked_us = self._recovery.asked_us
        bodies = {each.opened.match_id: each.bodies for each in self._recovery.ended}
        for end in self._recovery.ends[-MOST_ENDS:]:
            unacknowledged = [
                (seat, at)
                for seat, at in enumerate(end.seated)
                if asked_us.get((at.bot, at.instance), 0) <= end.ended_us
            ]
            if not unacknowledged:
                continue
            match_id = end.opened.match_id
            known, replay = bodies.get(match_id, ()), replay_path(self._replays, match_id)
            try:
                spec = spec_of_opened(end.opened, end.opening)
                last = await trio.to_thread.run_sync(last_events, known, end.opening, replay)
            except (OSError, Damaged, Discrepancy, Unplayable):
                _log.warning("the end of a match cannot be sent again", extra={"match": match_id})
                continue
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
        """After a power cut, draw new packs where bots may have seen more than the journal has.

        Up to 20 ms of moves that bots received are lost, and cards with them. So a deal-set without
        any result is played from the start with new packs. One that has a result keeps its packs,
        as its matches count together.
        """
        left = {each.opened.match_id: each for each in self._recovery.unfinished}
        for deals in self._deal_sets.live:
            found = [left[match_id] for match_id in deals.match_ids if match_id in left]
            if any(not each.opened.deal_set for each in found):
                continue  # a match of its own is aborted, and its deals are published
            known = await trio.to_thread.run_sync(self._results.outcomes, deals.match_ids)
            if any(outcome.has_result for outcome in known.values()):
                continue
            await self._deal_sets.void(deals.context, POWER_CUT)
            for each in found:
                self._recovery.unfinished.remove(each)

    async def _recover(self, unfinished: UnfinishedMatch) -> bool:
        """Execute the recovery action of a match; returns whether it is resumed now."""
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
        """Abort a match whose journal is damaged, unless its result is recorded."""
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
        """The orders of promised matches that have neither begun nor been aborted."""
        ordered = self._recovery.ordered
        promised = [each for each in ordered.values() if not each.ordered_again]
        if not promised:
            return ()
        ids = [each.match_id for each in promised]
        over = await trio.to_thread.run_sync(self._results.outcomes, ids)
        return [each for each in promised if each.match_id not in over]

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
        try:
            self._matches.begin_promised(match)
        except Refused as refused:
            fields = {"match": match.match_id, "why": refused.text}
            _log.warning("a promised match cannot begin", extra=fields)
            if refused.reason != DRAINING:
                await self._break_promise(promise)

    def _may_be_played(self, deal_set: str) -> bool:
        """Whether matches of a deal-set may still be played: not if it is a single match with a replay."""
        try:
            return not replay_path(self._replays, deal_set).exists()
        except ValueError:  # no match can have this name
            return True

    async def _record(self, ended: EndedMatch) -> None:
        await trio.to_thread.run_sync(self._results.record, [ended])

    def _append(self, record: journal_pb2.Record) -> None:
        self._journal.append(record.SerializeToString())


def aborted(
    unfinished: UnfinishedMatch, cause: AbortCause, journal: Journal
) -> tuple[Outcome, Sequence[bytes]]:
    """Write the end of a match that cannot be resumed; returns its outcome and all its records."""
    past = unfinished.past
    log = journal.match_again(unfinished.bodies)
    end_s = max((each.sent_s + each.charged_s + each.refunded_s for each in past), default=0.0)
    match_id = unfinished.opened.match_id
    outcome = Outcome(match_id, Ending.ABORTED, (), (), (), (), decisions=len(past), cause=cause)
    log.closed(outcome, end_s)
    return outcome, log.bodies


def _never_begun(ordered: journal_pb2.Ordered, cause: AbortCause) -> EndedMatch:
    """The result of an ordered match that the arena aborts before its first card."""
    deal_set, match_id = ordered.deal_set, ordered.match_id
    bots = [each.bots for each in deal_set.matches if each.match_id == match_id]
    return EndedMatch(
        match_outcome(Outcome(match_id, Ending.ABORTED, (), (), (), (), 0, cause=cause)),
        deal_set.terms.game,
        tuple(bot.bot for bot in (bots[0] if bots else ())),
        "" if deal_set.deal_set == match_id else deal_set.deal_set,
        time.time_ns() // 1_000_000,
    )


def _ended(opened: journal_pb2.Opened, outcome: Outcome, position: str) -> EndedMatch:
    return EndedMatch(
        match_outcome(outcome, position),
        opened.terms.game,
        tuple(entrant.name for entrant in opened.entrants),
        opened.deal_set,
        time.time_ns() // 1_000_000,
    )
