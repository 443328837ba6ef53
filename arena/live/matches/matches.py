"""The matches of an arena, from their order to their recorded result.

An order is idempotent, also across processes: a match in play is joined, a suspended one is resumed, and one that has a
result is not played again. So a competition may order all its missing matches any number of times.

A match is a `MatchRecord`, whose states are in `match_record`. Each state is the work of one module: `starting` seats
the bots, the referee plays the match, and `recording` ends it.
"""

import contextlib
import functools
import logging
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Final

import trio

from arena.durable_files import Unwritten
from arena.errors.refused import DRAINING, Refused
from arena.live.deals.deal_sets import DealSets
from arena.live.deals.fair import FixedDeals
from arena.live.deals.handshakes import DealBots
from arena.live.event_buffers import EventBuffers
from arena.live.match_admission import Admission
from arena.live.matches.match_record import MatchRecord, MatchState
from arena.live.matches.open_matches import InPlay, OpenMatches
from arena.live.matches.recording import MatchRecorder
from arena.live.matches.results import ArenaRecords
from arena.live.matches.starting import MatchStarter, Reserved, release
from arena.live.metrics import Metrics
from arena.live.orders import PROMISED, SCHEDULED, DealSetOrder, OrderPolicy
from arena.live.session.register import SessionRegister
from arena.records.journal.recovery import UnfinishedMatch
from arena.records.read import Unplayable
from arena.referee.events import SpectatorPort
from arena.referee.referee import Referee
from arena.referee.spec import AbortCause
from arena.results.deal_sets import MatchOutcome

_log = logging.getLogger(__name__)

PLAYED_ANEW: Final = "a match of it was aborted and is played anew, and bots had seen of its packs"


class Matches:
    """The matches of an arena: takes orders and has them played. Made in trio; `run` has to be running."""

    def __init__(
        self,
        *,
        records: ArenaRecords,
        referee: Referee,
        deal_sets: DealSets,
        recorder: MatchRecorder,
        sessions: SessionRegister,
        metrics: Metrics,
        spectators: EventBuffers,
        admission: Admission | None = None,
    ) -> None:
        """Begin without matches.

        Args:
          admission: Accepts or refuses new matches; without it, all are accepted.
        """
        self.referee: Final = referee
        self.results: Final = records.results
        self.spectators: Final = spectators
        self._journal = records.journal
        self._deal_sets = deal_sets
        self._metrics = metrics
        self._admission = admission
        self._open = OpenMatches()
        self._starter = MatchStarter(records.journal, deal_sets, sessions, referee)
        self._recorder = recorder
        self._looking_up = trio.Lock()
        self._draining = False
        self._nursery: trio.Nursery | None = None
        self._token: trio.lowlevel.TrioToken | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Play ordered matches until cancelled; matches in play are then suspended."""
        self._token = trio.lowlevel.current_trio_token()
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            await nursery.start(self.referee.run)
            task_status.started()

    # State.

    @property
    def in_play(self) -> InPlay:
        """Matches that were ordered and are not over, by id."""
        return self._open.in_play

    def get(self, match_id: str) -> MatchRecord | None:
        """Return a match that was ordered and is not over."""
        return self._open.in_play.get(match_id)

    @property
    def needed_records(self) -> frozenset[str]:
        """The matches of which the journal must keep the records, by id."""
        return self._open.ids.union(self._recorder.needed_records)

    @property
    def waiting(self) -> frozenset[str]:
        """Interrupted matches whose bots are not seated again, by id."""
        return self._open.unseated

    def has_begun(self, order: DealSetOrder) -> bool:
        """Return whether matches of a deal-set are in play in this process, or were suspended in an earlier one."""
        return self._open.any_of(order.match_ids)

    @property
    def all_replayed(self) -> bool:
        """Whether all resumed matches have reached the point where they were suspended."""
        return not self._open.in_state(MatchState.SEATED) and not self.referee.replaying

    async def idle(self) -> None:
        while self.referee.runners:
            await self.referee.match_ended()

    # Orders.

    def order(self, order: DealSetOrder, match_id: str, policy: OrderPolicy) -> MatchRecord:
        """Order a match of a deal-set; a match that is already in play is joined.

        May be called outside of trio. A match that is returned will be played.

        Raises `Refused` if bots are not available, the arena is busy, or the id belongs to another match.
        """
        known = self.get(match_id)
        if known is not None:
            if known.table != order.table(match_id) or known.order.terms != order.terms:
                raise Refused("MATCH_ID_TAKEN", match_id)
            return known
        if self._draining:
            raise Refused(DRAINING)
        match = MatchRecord.ordered(order, match_id, policy)
        reserved: Reserved = ()
        if not policy.waits_for_turn:
            if self._admission is not None:
                self._admission.require_open()
            reserved = self._starter.reserve(match)
        suspended = self._open.take_suspended(match_id)
        if suspended is not None:
            match = suspended
            match.order_again(order, policy)
        if not policy.waits_for_turn:
            match.admit(self._admission)
        self._open.in_play.add(match)
        if suspended is None:
            self._starter.write_order(match)
        if not policy.ordered_again:
            self._journal.flush()
        assert self._token is not None
        self._token.run_sync_soon(self._start, match, reserved)
        return match

    async def play(
        self, order: DealSetOrder, match_id: str, *, is_first: bool = False
    ) -> MatchOutcome:
        """Order a match, and return its outcome once that is recorded.

        A match that has a result is not played again, and one that was interrupted by a crash is resumed. An aborted
        one is played anew if it is one of a deal-set. The fallback plays the seats of bots that are not connected. With
        `is_first` the match has never begun, so no result is looked up.

        Raises:
          Refused: if the arena drains, or bots are not available.
          StoreError: if results cannot be read or recorded.
        """
        # No other call may order it between the look-up and the order.
        async with self._looking_up:
            if self.get(match_id) is None:
                known: Mapping[str, MatchOutcome] = {}
                if not is_first:
                    known = await trio.to_thread.run_sync(self.results.outcomes, order.match_ids)
                ended = known.get(match_id)
                if ended is not None and (ended.has_result or order.alone):
                    return ended
                await self.take_up(order, known, anew=ended is not None)
            match = self.order(order, match_id, SCHEDULED)
        return await match.outcome()

    async def take_up(
        self, order: DealSetOrder, known: Mapping[str, MatchOutcome], *, anew: bool
    ) -> None:
        """Add a deal-set before a match of it begins; `known` are the outcomes of its ended matches, by id.

        With `anew`, the match was aborted earlier: bots have seen cards of its packs, so other packs are drawn unless a
        match with these packs counts.
        """
        over = [at for at, outcome in known.items() if outcome.has_result]
        if anew and not over and not self.has_begun(order):
            await self._deal_sets.draw_anew(order, PLAYED_ANEW)
        self._deal_sets.take_up(order, over)

    async def fix_deals(self, order: DealSetOrder, bots: DealBots | None = None) -> FixedDeals:
        """Fix the deals of a deal-set with its bots before play.

        `bots` play the deal-set, if they are connected to another process.

        Raises `Unwritten` if the deals cannot be kept.
        """
        with self.referee.measuring():
            return await self._deal_sets.fix(order, bots)

    def watch(self, match_id: str, spectators: SpectatorPort) -> None:
        """Set the spectators of a match that has not begun, in place of any others."""
        self.spectators.give(match_id, spectators)

    def abort(self, match_ids: Iterable[str]) -> str:
        """Abort matches in play: they do not count, and no bot is at fault. Returns the number of the incident."""
        incident = secrets.token_hex(4)
        for match_id in match_ids:
            if (runner := self.referee.runners.get(match_id)) is not None:
                runner.abort(AbortCause.ERROR, incident)
        return incident

    def stop_taking(self) -> None:
        """Take no new matches; those in play continue."""
        self._draining = True

    # Matches of earlier processes.

    def suspended(self, unfinished: UnfinishedMatch) -> None:
        """Add a match that was suspended; it is resumed when it is ordered again."""
        self._open.suspend(MatchRecord.suspended(unfinished))

    def resume(
        self, unfinished: UnfinishedMatch, order: DealSetOrder, policy: OrderPolicy
    ) -> MatchRecord:
        """Seat an interrupted match, which `play_resumed` then resumes. Its bots are expected to reconnect.

        Raises `Unplayable` if this arena has other rules, or the deals are lost.
        """
        match = MatchRecord.suspended(unfinished)
        match.order_again(order, policy)
        match.admit(self._admission)
        match.take_unfinished()
        try:
            match.seat(self._starter.resume(match, unfinished))
        except Exception as error:
            match.refuse(error)
            raise
        self._open.in_play.add(match)
        return match

    async def play_resumed(self) -> None:
        """Begin to play the matches that `resume` has seated, with a checkpoint after each."""
        assert self._nursery is not None
        for match in self._open.in_state(MatchState.SEATED):
            self._nursery.start_soon(self._play, match)
            await trio.lowlevel.checkpoint()

    def promised(self, order: DealSetOrder, match_id: str) -> MatchRecord:
        """Add a match that was ordered by hand and had not begun; `begin_promised` begins it."""
        match = MatchRecord.ordered(order, match_id, PROMISED)
        self._open.in_play.add(match)
        return match

    def begin_promised(self, match: MatchRecord) -> None:
        """Begin a promised match now, with the bots that are connected.

        Raises `Refused` if that is not possible any more; then the match is forgotten.
        """
        try:
            if self._draining:
                raise Refused(DRAINING)
            reserved = self._starter.reserve(match)
        except Refused as refused:
            match.refuse(refused)
            self._forget(match)
            raise
        self._start(match, reserved)

    # From an order to its end.

    def _forget(self, match: MatchRecord) -> None:
        self._open.in_play.discard(match.match_id)
        self.spectators.forget(match.match_id)

    def _start(self, match: MatchRecord, reserved: Reserved) -> None:
        assert self._nursery is not None
        # If the arena has ended, its nursery accepts no tasks.
        with contextlib.suppress(RuntimeError):
            self._nursery.start_soon(self._begin, match, reserved)

    async def _begin(self, match: MatchRecord, reserved: Reserved) -> None:
        try:
            async with self._turn(match.policy):
                match.admit(self._admission)
                if match.unfinished is not None:
                    self._starter.require_not_sent_home(match)
                if not self._is_resumed(match):
                    await self._starter.bots_are_free(match)
                    if self._draining:
                        release(reserved)
                        raise Refused(DRAINING)
                    reserved = reserved or self._starter.reserve(match)
                    match.seat(await self._starter.start(match, reserved))
                await self._play(match)
        except Refused as refused:
            self._refuse(match, refused)
        except Exception as error:
            if isinstance(error, Unwritten) or match.state is not MatchState.ORDERED:
                raise
            incident = secrets.token_hex(4)
            fields = {"match": match.match_id, "incident": incident}
            _log.error("a match cannot begin", extra=fields, exc_info=error)
            self._refuse(match, Refused("INCIDENT", f"incident {incident}"))

    def _refuse(self, match: MatchRecord, refused: Refused) -> None:
        """Refuse a match that cannot begin; an interrupted one can be ordered again."""
        match.refuse(refused)
        self._forget(match)
        if match.unfinished is not None:
            self.suspended(match.unfinished)

    def _is_resumed(self, match: MatchRecord) -> bool:
        """Seat the bots of an interrupted match again; return false if it has to begin anew."""
        unfinished = match.take_unfinished()
        if unfinished is None:
            return False
        try:
            match.seat(self._starter.resume(match, unfinished))
        except Unplayable:
            self._starter.write_order(match)
            return False
        return True

    @contextlib.asynccontextmanager
    async def _turn(self, policy: OrderPolicy) -> AsyncIterator[None]:
        if policy.waits_for_turn and self._admission is not None:
            async with self._admission.turn():
                yield
        else:
            yield

    async def _play(self, match: MatchRecord) -> None:
        """Have a match played, record its result, and publish its deal-set if it was the last."""
        seated = match.seated
        ledger = self._metrics.ledger(seated.log, seated.spec)
        spectators = functools.partial(self.spectators.of, seated.spec)
        match.begin()
        outcome = None
        try:
            with self.referee.measuring():
                outcome = await self.referee.play(
                    seated.spec, seated.ports, ledger, seated.past, seated.used, spectators
                )
        finally:
            if outcome is None:
                match.cut_short()
            else:
                match.end(outcome)
                # A drain waits for the replay of the last match.
                with trio.CancelScope(shield=True):
                    await self._recorder.record(match, outcome)
            self._forget(match)
