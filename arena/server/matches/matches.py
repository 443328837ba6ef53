"""The matches of an arena, from their order to their recorded result.

An order is idempotent, also across processes: a match that is in play is joined,
one that was cut short goes on, and one that has a result is not played again. So
a tournament may order all matches that it lacks, as often as it likes.
"""

import contextlib
import hashlib
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import trio

from arena.deal import KeyedDeals
from arena.games.contract import Seat
from arena.ladder.results import MatchOutcome
from arena.referee import Entrant, FaultKind, Ledger, MatchSpec, Outcome, Settled, UsedTime
from arena.referee.gallery import Gallery
from arena.referee.lag import LagMeter
from arena.referee.referee import Referee
from arena.referee.spec import ForfeitedSeat
from arena.replay.journal.attempts import is_played_again
from arena.replay.journal.deal_log import DealLog
from arena.replay.journal.journal import Journal
from arena.replay.journal.match_log import MatchLog, SeatedAt
from arena.replay.journal.recovery import Unfinished
from arena.replay.read import Unplayable
from arena.server.bots import BotId
from arena.server.deals.deal_sets import DealSets
from arena.server.feeds import Feeds
from arena.server.gate.admission import Admission
from arena.server.matches.cut_short import spec_again
from arena.server.matches.in_play import InPlay, OrderedMatch
from arena.server.matches.results import Results, ResultWriter, outcome_for_ladder
from arena.server.orders import (
    PROMISED,
    SCHEDULED,
    AbsentBots,
    DealSetOrder,
    OrderPolicy,
    ordered_message,
)
from arena.server.refusals import Refused, draining, not_found, not_now
from arena.server.session.register import SessionRegister
from arena.server.session.seating import Seating
from arena.server.session.session import Session, seat_all
from arena.server.watch import Watch
from arena.store import EndedMatch, StoreError
from arena.terms import MatchTerms
from cardarena.v1 import journal_pb2

SLOT_CHECK_S: Final = 1.0
"""A scheduled match whose bot plays enough already looks again at the latest after this time."""

MOST_ENDS: Final = 64
"""Ends of matches that are told again after a restart, the latest: each match is played again for it."""

PLAYED_ANEW: Final = "a match of it was aborted and is played anew, and bots had seen of its packs"

_log = logging.getLogger(__name__)


class Matches:
    """Takes orders and has them played. Made in trio; `run` has to be running."""

    def __init__(
        self,
        *,
        journal: Journal,
        deal_log: DealLog,
        deal_sets: DealSets,
        results: Results,
        sessions: SessionRegister,
        watch: Watch,
        lag: LagMeter | None = None,
        admission: Admission | None = None,
        owner_of: Callable[[str], str] = lambda bot: bot,
        spectator_delay_s: float = 0.0,
        open_hands: bool = False,
    ) -> None:
        """Begin with none.

        Args:
          journal: Keeps matches.
          deal_log: Keeps the deals.
          deal_sets: Fixes the deals, and publishes replays.
          results: Where outcomes are recorded for good.
          sessions: The bots.
          watch: Counts what happens.
          lag: How late the arena itself is.
          admission: Whether another match can be taken; without it, always.
          owner_of: Names whose a bot is, by its name.
          spectator_delay_s: How long after it happened spectators are told of a match.
          open_hands: Whether spectators of practice are told what its seats know.
        """
        self.referee = Referee(
            self._ledger, self._synced, lag=lag, gallery=self._gallery, owner_of=owner_of
        )
        self.results = results
        self._writer = ResultWriter(results)
        self._journal = journal
        self._deal_log = deal_log
        self._deal_sets = deal_sets
        self._sessions = sessions
        self._watch = watch
        self._admission = admission
        self._measuring = lag.measuring if lag else contextlib.nullcontext
        self._ordered = InPlay()
        self._unfinished: dict[str, Unfinished] = {}
        """Matches that were cut short, until they are ordered again, by id."""
        self._going_on: deque[tuple[OrderedMatch, _Begun]] = deque()
        """Matches that are seated and still to be played again."""
        self._latest_ends: deque[str] = deque(maxlen=MOST_ENDS)
        """Matches that ended last of those that nobody orders again, by id."""
        self._unrecorded: set[str] = set()
        """Matches whose results could not be recorded, by id."""
        self._logs: dict[str, MatchLog] = {}
        self._galleries: dict[str, Gallery] = {}
        self.feeds: Final = Feeds(spectator_delay_s)
        """What spectators are told of matches that are played alone; those of deal-sets have none."""
        self._open_hands = open_hands
        self._looking_up = trio.Lock()
        self._draining = False
        self._nursery: trio.Nursery | None = None
        self._token: trio.lowlevel.TrioToken | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Play what is ordered until cancelled; matches in play are suspended then."""
        self._token = trio.lowlevel.current_trio_token()
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            await nursery.start(self.referee.run)
            task_status.started()

    @property
    def in_play(self) -> InPlay:
        """Matches that were ordered and have not ended, by id."""
        return self._ordered

    @property
    def needed_records(self) -> frozenset[str]:
        """The matches of which the journal still has to have records, by id."""
        return frozenset(self._ordered).union(
            self._unfinished, self._latest_ends, self._unrecorded, self._deal_sets.unpublished
        )

    @property
    def begun_deal_sets(self) -> frozenset[str]:
        """Deal-sets that nobody else can go on with, by name.

        Their deals are fixed here, or matches of theirs were ordered here, and they are not published.
        """
        suspended = (each.opened.deal_set for each in self._unfinished.values())
        ordered = (each.order.deal_set for each in self._ordered.values())
        return self._deal_sets.begun.union(suspended, ordered) - {""}

    def get(self, match_id: str) -> OrderedMatch | None:
        """A match that was ordered and has not ended."""
        return self._ordered.get(match_id)

    # Orders.

    def order(self, order: DealSetOrder, match_id: str, policy: OrderPolicy) -> OrderedMatch:
        """Have a match of a deal-set played; one that is in play already is joined.

        May be called outside of trio. A match that is returned will be played.

        Raises:
          Refused: if bots or time are not right, or the id is that of another match.
        """
        known = self._ordered.get(match_id)
        if known is not None:
            if known.table != order.table(match_id) or known.order.terms != order.terms:
                raise not_now("MATCH_ID_TAKEN", f"another match of the id {match_id} is in play")
            return known
        if self._draining:
            raise draining()
        match = OrderedMatch(order, order.table(match_id), policy)
        sessions: tuple[Session, ...] = ()
        if not policy.waits_for_turn:
            if self._admission is not None:
                self._admission.require_open()
            sessions = self._reserve(match)
            match.let_in(self._admission)
        self._keep(match)
        if not policy.ordered_again:
            self._journal.flush()
        assert self._token is not None
        self._token.run_sync_soon(self._start, match, sessions)
        return match

    async def lease(self, order: DealSetOrder, match_id: str) -> MatchOutcome:
        """Have a match played to its end, and return how it ended once that is recorded.

        A match that has a result is not played again, and one that was cut short by
        a crash goes on. An aborted one is played anew if it is one of a deal-set.
        Bots that are not connected are played by fallback, as gone.

        Raises:
          Refused: if bots or time are not right.
          StoreError: if results cannot be read or recorded.
        """
        # Somebody else's lease must not have it played between the look-up and the order.
        async with self._looking_up:
            if match_id not in self._ordered:
                known = await trio.to_thread.run_sync(self.results.outcomes, order.match_ids)
                found = known.get(match_id)
                if found is not None and (found.has_result or order.alone):
                    return found
                over = [at for at, each in known.items() if each.has_result]
                beside = self._ordered.keys() | self._unfinished.keys()
                if found is not None and not over and beside.isdisjoint(order.match_ids):
                    await self._deal_sets.draw_anew(order, PLAYED_ANEW)
                self._deal_sets.take_up(order, over)
            match = self.order(order, match_id, SCHEDULED)
        return await match.outcome()

    async def fix_deals(self, order: DealSetOrder) -> None:
        """Agree the deals of a deal-set with its bots ahead of play.

        Raises:
          Unwritten: if the deals cannot be kept.
        """
        with self._measuring():
            await self._deal_sets.fix(order)

    def watch(self, match_id: str, gallery: Gallery) -> None:
        """Have a gallery told of a match that is not in play yet, in place of any other."""
        self._galleries[match_id] = gallery

    def stop_taking(self) -> None:
        """Take no new matches; those in play go on."""
        self._draining = True

    async def idle(self) -> None:
        """Wait until no match is in play."""
        while self.referee.tables:
            await self.referee.ended.wait()

    # Matches that were cut short.

    def suspended(self, unfinished: Unfinished) -> None:
        """A match was cut short, and goes on when it is ordered again."""
        self._unfinished[unfinished.opened.match_id] = unfinished

    @property
    def waiting(self) -> frozenset[str]:
        """Matches that were cut short and wait to be ordered again, by id."""
        return frozenset(self._unfinished)

    def go_on(
        self, unfinished: Unfinished, order: DealSetOrder, policy: OrderPolicy
    ) -> OrderedMatch:
        """Go on with a match that was cut short, by `go_on_with_all`. Its bots are expected back.

        Raises:
          Unplayable: if this arena has other rules, or the deals are lost.
        """
        match = OrderedMatch(order, order.table(unfinished.opened.match_id), policy)
        match.let_in(self._admission)
        try:
            begun = self._seat_again(match, unfinished)
        except Unplayable:
            match.over()
            raise
        self._ordered[match.match_id] = match
        self._going_on.append((match, begun))
        return match

    async def go_on_with_all(self) -> None:
        """Begin with what `go_on` has seated, one match after the other, so that nobody waits."""
        assert self._nursery is not None
        while self._going_on:
            self._nursery.start_soon(self._play, *self._going_on.popleft())
            await trio.lowlevel.checkpoint()

    @property
    def all_replayed(self) -> bool:
        """Whether all matches stand again where they were cut short."""
        return not self._going_on and not self.referee.replaying

    # Matches that were promised, and had not begun when the arena ended.

    def promised(self, order: DealSetOrder, match_id: str) -> OrderedMatch:
        """Know a match that is still to begin."""
        match = OrderedMatch(order, order.table(match_id), PROMISED)
        self._ordered[match_id] = match
        return match

    def begin_promised(self, match: OrderedMatch) -> None:
        """Begin it now, with the bots that are there.

        Raises:
          Refused: if that is not possible any more; then there is no such match.
        """
        try:
            if self._draining:
                raise draining()
            sessions = self._reserve(match)
        except Refused as refused:
            self._forget(match)
            match.failed(refused)
            raise
        self._start(match, sessions)

    # From an order to its end.

    def _keep(self, match: OrderedMatch) -> None:
        self._ordered[match.match_id] = match
        if match.match_id not in self._unfinished:
            self._write_order(match)

    def _forget(self, match: OrderedMatch) -> None:
        """It is over, or will not begin."""
        match.over()
        self._ordered.pop(match.match_id, None)
        self._galleries.pop(match.match_id, None)

    def _write_order(self, match: OrderedMatch) -> None:
        ordered = ordered_message(match.order, match.match_id, match.policy)
        self._journal.append(journal_pb2.Record(ordered=ordered).SerializeToString())

    def _start(self, match: OrderedMatch, sessions: tuple[Session, ...]) -> None:
        assert self._nursery is not None
        # The arena may have ended since: then its nursery takes no task any more.
        with contextlib.suppress(RuntimeError):
            self._nursery.start_soon(self._begin, match, sessions)

    async def _begin(self, match: OrderedMatch, sessions: tuple[Session, ...]) -> None:
        """Play a match from the agreement of its deals on, or go on with it."""
        try:
            async with self._turn(match.policy):
                match.let_in(self._admission)
                begun = self._begun_before(match)
                if begun is None:
                    await self._slots(match)
                    if self._draining:
                        raise draining()
                    begun = await self._deal(match, sessions or self._reserve(match))
                await self._play(match, begun)
        except Refused as refused:
            self._forget(match)
            match.failed(refused)

    @contextlib.asynccontextmanager
    async def _turn(self, policy: OrderPolicy) -> AsyncIterator[None]:
        if policy.waits_for_turn and self._admission is not None:
            async with self._admission.turn():
                yield
        else:
            yield

    async def _slots(self, match: OrderedMatch) -> None:
        """Wait until bots that play enough at a time already have ended a match."""
        if not match.policy.waits_for_turn:
            return
        bots = match.table.bots
        while any(self._is_full(self._sessions.get(bot), bots) for bot in bots):
            with trio.move_on_after(SLOT_CHECK_S):
                await self.referee.ended.wait()

    @staticmethod
    def _is_full(session: Session | None, bots: Sequence[BotId]) -> bool:
        if session is None or not session.present:
            return False
        wanted = bots.count(session.bot)
        return wanted <= session.max_matches < session.matches + wanted

    def _reserve(self, match: OrderedMatch) -> tuple[Session, ...]:
        """The sessions of the bots, by seat. From now on the match counts in each of them."""
        sessions = tuple([self._available(bot, match) for bot in match.table.bots])
        for session in sessions:
            session.reserve()
        return sessions

    def _available(self, bot: BotId, match: OrderedMatch) -> Session:
        refuses = match.policy.absent_bots is AbsentBots.REFUSED
        session = self._sessions.get(bot)
        if session is None and not refuses:
            session = self._sessions.session_of(bot)
            session.never_came()
        if session is None or not (session.connected or not refuses):
            raise not_found("UNKNOWN_BOT", f"no bot named {bot.name!r} is connected")
        unwilling = _why_unwilling(session, match.order.terms, match.table.bots)
        if unwilling and not match.policy.waits_for_turn:
            raise not_now("BOT_NOT_AVAILABLE", f"{bot.name!r} {unwilling}")
        if unwilling:
            match.unwilling[bot] = f"the bot {unwilling}"
        return session

    async def _deal(self, match: OrderedMatch, sessions: tuple[Session, ...]) -> "_Begun":
        """Agree the deals with the bots, and seat them."""
        order, bots = match.order, match.table.bots
        try:
            with self._measuring():
                fixed = await self._deal_sets.fix(order)
        finally:
            for session in sessions:
                session.unreserve()
        spec = MatchSpec(
            match_id=match.match_id,
            terms=order.terms,
            entrants=tuple(Entrant(bot.name) for bot in bots),
            deals=KeyedDeals(fixed.key),
            deal_key_sha256=hashlib.sha256(fixed.key).digest(),
            deal_set="" if order.alone else order.deal_set,
            forfeited_seats=_forfeited(fixed.forfeited_seats(bots), bots, match.unwilling),
            fair_deal=fixed.fair_deal,
            deal_contexts=fixed.seat_views(match.match_id),
        )
        ports = seat_all(spec, sessions)
        log = self._journal.match(spec, _numbers(sessions, ports), match.grant)
        return _Begun(spec, ports, log)

    def _begun_before(self, match: OrderedMatch) -> "_Begun | None":
        """The match as it was cut short, if it was and can go on."""
        unfinished = self._unfinished.pop(match.match_id, None)
        if unfinished is None:
            return None
        try:
            return self._seat_again(match, unfinished)
        except Unplayable:
            self._write_order(match)  # it begins anew
            return None

    def _seat_again(self, match: OrderedMatch, unfinished: Unfinished) -> "_Begun":
        """Seat the bots of a match that was cut short.

        Raises:
          Unplayable: if this arena has other rules, or the deals are lost.
        """
        spec, opening = spec_again(unfinished), unfinished.opening
        assert opening is not None
        bots = match.table.bots
        strangers = {bot for bot in bots if self._sessions.get(bot) is None}
        sessions = [self._sessions.session_of(bot) for bot in bots]
        for session in sessions:
            if match.policy.absent_bots is AbsentBots.REFUSED:
                session.expect_back()
            elif session.bot in strangers:
                session.never_came()
        ports = seat_all(spec, sessions, [each.match for each in unfinished.seated])
        self._write_order(match)
        used = unfinished.used
        if match.policy.ordered_again:
            # Its bots are new processes: what the old ones had thought is lost, by no fault of theirs.
            used = tuple([each._replace(decision=0, used_s=0.0) for each in used])
        numbers = _numbers(sessions, ports)
        log = self._journal.match_again(unfinished.bodies, numbers, used, match.grant)
        for seat, port in enumerate(ports):
            port.note_bytes = log.note_bytes[seat]
        self._deal_sets.goes_on(match.order, opening)
        return _Begun(spec, ports, log, unfinished, used)

    async def _play(self, match: OrderedMatch, begun: "_Begun") -> None:
        """Have a match played, record its result, and publish its deal-set if it was the last."""
        spec, log = begun.spec, begun.log
        self._logs[spec.match_id] = log
        outcome = None
        try:
            with self._measuring():
                outcome = await self.referee.play(spec, begun.ports, begun.past, begun.used)
        finally:
            del self._logs[spec.match_id]
            match.played = outcome
            if outcome is not None:
                if not match.policy.ordered_again:
                    self._latest_ends.append(spec.match_id)
                # A drain ends with the last match, not before its replay.
                with trio.CancelScope(shield=True):
                    await self._end(match, spec, log, outcome)
            self._forget(match)

    async def _end(
        self, match: OrderedMatch, spec: MatchSpec, log: MatchLog, outcome: Outcome
    ) -> None:
        """Record how a match ended, then publish what may be read now, then tell who waits."""
        found = outcome_for_ladder(outcome, self._journal.position)
        bots = tuple(entrant.name for entrant in spec.entrants)
        ended_unix_ms = time.time_ns() // 1_000_000
        game_id = spec.terms.game.id
        try:
            await self._writer.record(
                EndedMatch(found, game_id, bots, spec.deal_set, ended_unix_ms)
            )
            if not is_played_again(spec.deal_set, outcome.ending):
                await self.publish(match.order, match.match_id, log.bodies)
        except StoreError as error:
            # The journal has it: it is recorded when the arena is started again.
            fields = {"match": spec.match_id, "why": str(error)}
            _log.error("a result could not be recorded", extra=fields)
            self._unrecorded.add(spec.match_id)
            match.failed(error)
            return
        match.ended(found)

    async def publish(self, order: DealSetOrder, match_id: str, records: Sequence[bytes]) -> None:
        """Publish a match that is over, once its whole deal-set is.

        Raises:
          StoreError: if it cannot be noted that there are replays.
        """
        published = await self._deal_sets.over(order, match_id, records)
        await self._writer.mark_published(published)

    def _ledger(self, spec: MatchSpec) -> Ledger:
        return self._watch.ledger(self._logs[spec.match_id], spec)

    def _gallery(self, spec: MatchSpec) -> Gallery | None:
        own = self._galleries.get(spec.match_id)
        if own is not None or spec.deal_set:
            return own
        return self.feeds.open(spec.match_id, hands_open=self._shows_hands(spec))

    def _shows_hands(self, spec: MatchSpec) -> bool:
        """Whether who watches a match alone may see what its seats know: of practice, if who serves says so.

        Whoever made a match with a seed of its own can work out its cards anyway. A fair deal is
        nobody's to know before it is over.
        """
        return self._open_hands and spec.terms.seeded

    async def _synced(self) -> None:
        await self._deal_log.synced()
        await self._journal.synced()


def _why_unwilling(session: Session, terms: MatchTerms, bots: Sequence[BotId]) -> str:
    """Why a bot that is here will not play a match; empty if it will."""
    game, seats = terms.game, terms.seats
    if not session.connected:
        return ""
    if not session.plays(game.id, game.rules_version, seats):
        return f"does not play {game.id} with {seats} seats"
    if session.matches + bots.count(session.bot) > session.max_matches:
        return "takes no more matches"
    return ""


def _forfeited(
    by_deals: Sequence[ForfeitedSeat], bots: Sequence[BotId], unwilling: Mapping[BotId, str]
) -> tuple[ForfeitedSeat, ...]:
    """The seats that are played by fallback from the first card, by seat."""
    out = {
        seat: ForfeitedSeat(Seat(seat), FaultKind.GONE, unwilling[bot])
        for seat, bot in enumerate(bots)
        if bot in unwilling
    }
    out.update({each.seat: each for each in by_deals})
    return tuple([out[seat] for seat in sorted(out)])


def _numbers(sessions: Sequence[Session], ports: Sequence[Seating]) -> list[SeatedAt]:
    """What the bots of a match number it by, for the journal."""
    return [
        SeatedAt(session.bot.name, session.bot.instance, port.number)
        for session, port in zip(sessions, ports, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Begun:
    """A match that can be played: all that the referee needs of it."""

    spec: MatchSpec
    ports: Sequence[Seating]
    log: MatchLog
    unfinished: Unfinished | None = None
    """What is left of it, if it goes on."""
    used: Sequence[UsedTime] = ()
    """The time that its seats had used, and no decision tells."""

    @property
    def past(self) -> Sequence[Settled]:
        """Its decisions so far; they are read only when they are played again."""
        return () if self.unfinished is None else self.unfinished.past
