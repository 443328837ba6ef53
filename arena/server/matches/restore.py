"""Takes up what earlier processes left in their journals, before anybody is let in.

Results that are not in the store yet are recorded. Deal-sets whose last match had
ended are published. Each match that was cut short goes on, waits or is aborted, as
its recovery action says; and matches that were promised begin. An old journal stays
as long as a match needs it, and is then removed.
"""

import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import trio

from arena.referee import AbortCause, Ending, Outcome
from arena.replay.frames import Discrepancy
from arena.replay.journal.attempts import is_played_again
from arena.replay.journal.journal import Journal
from arena.replay.journal.kept_sessions import session_records
from arena.replay.journal.recovery import Ended, Recovery, Unfinished
from arena.replay.read import Unplayable, replay_path
from arena.replay.records import Damaged
from arena.replay.signing import Signer
from arena.replay.write import write_replay
from arena.server.bots import BotId
from arena.server.deals.deal_sets import DealSets
from arena.server.matches.cut_short import (
    RecoveryAction,
    action_for,
    after_power_cut,
    kept_order,
    spec_of_opened,
)
from arena.server.matches.ends import end_again, last_events
from arena.server.matches.in_play import OrderedMatch
from arena.server.matches.matches import MOST_ENDS, Matches
from arena.server.matches.results import Results, outcome_for_ladder
from arena.server.orders import BY_HAND, DealSetOrder
from arena.server.refusals import DRAINING, Refused
from arena.server.session.register import SessionRegister
from arena.store import EndedMatch
from cardarena.v1 import journal_pb2

HELD_S: Final = 30.0
"""After a restart, the time that bots have to come back before their clocks run."""
POWER_CUT: Final = "the machine stopped, and what bots had seen of it may not be known"
"""Why deals are void after a power cut."""
KEPT_SILENT: Final = 1_000
"""Bots without a match so far whose streams are still counted after a restart."""

_log = logging.getLogger(__name__)


class Restoration:
    """What one arena takes up of its predecessors. `run` it once, before anybody says hello."""

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
        """Take everything up; what has to wait for bots does so in `nursery`.

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
        self._sessions.go_on_from(recovery.sessions)
        await self._take_up_results()
        if after_power_cut(recovery.boot_id):
            await self._draw_anew()
        for doubtful in recovery.doubtful.values():
            await self._abort_doubtful(doubtful)
        await self._tell_ends_again()
        going_on = sum([await self._take_up(each) for each in recovery.unfinished])
        for promise in promised:
            order = kept_order(promise, promise.match_id)
            if order is None:
                await self._break_promise(promise)
            else:
                match = self._matches.promised(order, promise.match_id)
                nursery.start_soon(self._keep_promise, match, promise)
        if going_on:
            _log.info("matches go on where they stood", extra={"matches": going_on})
            nursery.start_soon(self._matches.go_on_with_all)
            nursery.start_soon(self._release_held)
        self._journal.flush()
        nursery.start_soon(self._deal_sets.close_left_over, self._may_go_on)

    # Matches that had ended.

    async def _take_up_results(self) -> None:
        """Record the matches that had ended, and publish the deal-sets that are over with them."""
        ended = self._recovery.ended
        if not ended:
            return
        await trio.to_thread.run_sync(self._results.record, [_as_recorded(each) for each in ended])
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

    async def _tell_ends_again(self) -> None:
        """Have bots told of ends of which nothing shows that they heard."""
        asked_us = self._recovery.asked_us
        bodies = {each.opened.match_id: each.bodies for each in self._recovery.ended}
        for end in self._recovery.ends[-MOST_ENDS:]:
            unheard = [
                (seat, at)
                for seat, at in enumerate(end.seated)
                if asked_us.get((at.bot, at.instance), 0) <= end.ended_us
            ]
            if not unheard:
                continue
            match_id = end.opened.match_id
            known, replay = bodies.get(match_id, ()), replay_path(self._replays, match_id)
            try:
                spec = spec_of_opened(end.opened, end.opening)
                last = await trio.to_thread.run_sync(last_events, known, end.opening, replay)
            except (OSError, Damaged, Discrepancy, Unplayable):
                _log.warning("an end cannot be told again", extra={"match": match_id})
                continue
            for seat, at in unheard:
                session = self._sessions.session_of(BotId(at.bot, at.instance))
                told = end_again(end, seat, at.match, last[seat])
                session.ended_before(spec, seat, at.match, told)

    async def _publish_alone(self, ended: Ended) -> None:
        """Publish a match whose order was not kept, if it was a deal-set of its own."""
        if ended.opened.deal_set or ended.opening is None:
            return
        match_id = ended.opened.match_id
        await self._write_replay(match_id, ended.bodies, ended)

    async def _write_replay(
        self, match_id: str, bodies: Sequence[bytes], of: Ended | Unfinished
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
        """After a power cut, have no deal played again by packs of which bots may have seen more.

        Up to 20 ms of moves that were told are lost, and cards with them. So a deal-set
        without any result is played from its first card on, by other packs. One that has
        a result keeps them, as its matches count together.
        """
        left = {each.opened.match_id: each for each in self._recovery.unfinished}
        for deals in self._deal_sets.live:
            found = [left[match_id] for match_id in deals.match_ids if match_id in left]
            if any(not each.opened.deal_set for each in found):
                continue  # a match alone is aborted, and shows its deals
            known = await trio.to_thread.run_sync(self._results.outcomes, deals.match_ids)
            if any(outcome.has_result for outcome in known.values()):
                continue
            await self._deal_sets.void(deals.context, POWER_CUT)
            for each in found:
                self._recovery.unfinished.remove(each)

    async def _take_up(self, unfinished: Unfinished) -> bool:
        """Do what is to be done about a match; whether it goes on now."""
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
                self._matches.go_on(unfinished, order, BY_HAND)
            except Unplayable as error:
                fields = {"match": match_id, "why": str(error)}
                _log.warning("a match cannot go on", extra=fields)
                await self._abort(unfinished, AbortCause.UNPLAYABLE)
            else:
                return True
        return False

    async def _abort(self, unfinished: Unfinished, cause: AbortCause) -> None:
        """End a match that cannot go on: it counts for nothing, and its replay is published."""
        opened = unfinished.opened
        outcome, bodies = aborted(unfinished, cause, self._journal)
        record = _ended(opened, outcome, self._journal.position)
        await trio.to_thread.run_sync(self._results.record, [record])
        secret = cause is AbortCause.JOURNAL and is_played_again(opened.deal_set, outcome.ending)
        if unfinished.opening is not None and not secret:
            await self._write_replay(opened.match_id, bodies, unfinished)

    async def _abort_as_damaged(self, unfinished: Unfinished) -> None:
        """End a match whose journal is damaged, unless its result is known already."""
        match_id = unfinished.opened.match_id
        known = await trio.to_thread.run_sync(self._results.outcomes, [match_id])
        if match_id in known and known[match_id].has_result:
            _log.error("the replay of a match is lost", extra={"match": match_id})
            return
        _log.error("a match is aborted, as the journal is damaged", extra={"match": match_id})
        await self._abort(unfinished, AbortCause.JOURNAL)

    async def _abort_doubtful(self, ordered: journal_pb2.Ordered) -> None:
        """End a match that was ordered, and may have begun where the journal is damaged."""
        order = kept_order(ordered, ordered.match_id)
        known = await trio.to_thread.run_sync(self._results.outcomes, [ordered.match_id])
        if order is None or ordered.match_id in known:
            return
        _log.error(
            "a match is aborted, as the journal is damaged", extra={"match": ordered.match_id}
        )
        outcome = Outcome(
            ordered.match_id, Ending.ABORTED, (), (), (), (), decisions=0, cause=AbortCause.JOURNAL
        )
        ended = EndedMatch(
            outcome_for_ladder(outcome),
            order.terms.game.id,
            tuple(bot.name for bot in order.table(ordered.match_id).bots),
            "" if order.alone else order.deal_set,
            time.time_ns() // 1_000_000,
        )
        await trio.to_thread.run_sync(self._results.record, [ended])

    async def _release_held(self) -> None:
        await trio.sleep(HELD_S)
        self._sessions.release()

    # Matches that were promised and had not begun.

    async def _open_promises(self) -> Sequence[journal_pb2.Ordered]:
        """What was promised and has neither begun nor been given up before."""
        ordered = self._recovery.ordered
        promised = [each for each in ordered.values() if not each.ordered_again]
        if not promised:
            return ()
        ids = [each.match_id for each in promised]
        over = await trio.to_thread.run_sync(self._results.outcomes, ids)
        return [each for each in promised if each.match_id not in over]

    async def _break_promise(self, promise: journal_pb2.Ordered) -> None:
        """A match can never begin: record that it was aborted, so that nobody waits for it."""
        deal_set = promise.deal_set
        bots = [each.bots for each in deal_set.tables if each.match_id == promise.match_id]
        outcome = Outcome(
            promise.match_id, Ending.ABORTED, (), (), (), (), 0, cause=AbortCause.UNPLAYABLE
        )
        record = EndedMatch(
            outcome_for_ladder(outcome, self._journal.position),
            deal_set.terms.game,
            tuple(bot.bot for bot in (bots[0] if bots else ())),
            "" if deal_set.deal_set == promise.match_id else deal_set.deal_set,
            time.time_ns() // 1_000_000,
        )
        await trio.to_thread.run_sync(self._results.record, [record])

    async def _keep_promise(self, match: OrderedMatch, promise: journal_pb2.Ordered) -> None:
        """Begin a match, once its bots are back or late."""
        bots = match.table.bots
        with trio.move_on_after(HELD_S):
            await self._sessions.arrived(bots)
        for bot in bots:
            self._sessions.session_of(bot)  # a bot that is late may still come
        try:
            self._matches.begin_promised(match)
        except Refused as refused:
            fields = {"match": match.match_id, "why": refused.text}
            _log.warning("a match cannot begin any more", extra=fields)
            if refused.reason != DRAINING:
                await self._break_promise(promise)

    def _may_go_on(self, deal_set: str) -> bool:
        """Whether matches of a deal-set may still be played: not if it is a match that is over."""
        try:
            return not replay_path(self._replays, deal_set).exists()
        except ValueError:  # a name that no match could have
            return True

    def _append(self, record: journal_pb2.Record) -> None:
        self._journal.append(record.SerializeToString())


def aborted(
    unfinished: Unfinished, cause: AbortCause, journal: Journal
) -> tuple[Outcome, Sequence[bytes]]:
    """Write the end of a match that cannot go on; its outcome, and its records to the last."""
    past = unfinished.past
    log = journal.match_again(unfinished.bodies)
    end_s = max((each.sent_s + each.charged_s + each.refunded_s for each in past), default=0.0)
    match_id = unfinished.opened.match_id
    outcome = Outcome(match_id, Ending.ABORTED, (), (), (), (), decisions=len(past), cause=cause)
    log.closed(outcome, end_s)
    return outcome, log.bodies


def _as_recorded(ended: Ended) -> EndedMatch:
    return _ended(ended.opened, ended.outcome, "")


def _ended(opened: journal_pb2.Opened, outcome: Outcome, position: str) -> EndedMatch:
    return EndedMatch(
        outcome_for_ladder(outcome, position),
        opened.terms.game,
        tuple(entrant.name for entrant in opened.entrants),
        opened.deal_set,
        time.time_ns() // 1_000_000,
    )
