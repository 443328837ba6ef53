"""The arena's core: sessions, matches, replays. Trio's side of the server.

`lease` is how ladders and tournaments reach a referee: a match order goes in,
an outcome comes out. Here that is this process; later it may be another one.
"""

import contextlib
import hashlib
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import grpc
import trio

from arena.deal import KeyedDeals
from arena.games.catalogue import Game, game_by_id
from arena.referee import (
    AbortCause,
    Entrant,
    Ledger,
    MatchSpec,
    Outcome,
    Referee,
    Settled,
)
from arena.referee.lag import LagMeter
from arena.replay.journal.deal_log import DealLog
from arena.replay.journal.journal import Journal
from arena.replay.journal.match_log import MatchLog
from arena.replay.journal.recovery import KeptSession, Recovery, Unfinished
from arena.replay.read import Unplayable
from arena.replay.signing import Signer
from arena.replay.write import replay_path
from arena.server.bots import BotId
from arena.server.deals.deal_sets import DealSets
from arena.server.deals.fair import Deals
from arena.server.gate.admission import Admission
from arena.server.gate.limits import MAX_WAITING_BYTES, CallLimits, Limits
from arena.server.gate.tokens import Tokens
from arena.server.matches.cut_short import (
    RecoveryAction,
    actions_of,
    close,
    keep_sessions,
    order_of,
    spec_again,
)
from arena.server.matches.orders import MatchOrder, MatchRecord, checked, promise_of, promised
from arena.server.refusals import Refused, draining, not_found, not_now
from arena.server.session.outbox import Outbox
from arena.server.session.register import SessionRegister
from arena.server.session.seating import Seating, numbers_of, seated
from arena.server.session.session import Session
from arena.server.watch import Watch
from cardarena.v1 import journal_pb2, play_pb2

_log = logging.getLogger(__name__)

REMEMBERED_MATCHES: Final = 2_000
"""Ended matches that the lobby can still tell about."""
HELD_S: Final = 30.0
"""After a restart, the time that bots have to come back before their clocks run."""


@dataclass(frozen=True, slots=True)
class _Ordered:
    """A match that is about to be played."""

    order: MatchOrder
    spec: MatchSpec
    """Without its deals, until these are fixed."""
    sessions: tuple[Session, ...]
    """By seat."""
    record: MatchRecord
    leased: bool


class Arena:
    """Everything between the transport and the referee."""

    def __init__(
        self,
        journal: Journal,
        deal_log: DealLog,
        replays: Path,
        tokens: Tokens,
        *,
        recovery: Recovery,
        server_id: str,
        signer: Signer | None = None,
        lag: LagMeter | None = None,
        admission: Admission | None = None,
        watch: Watch | None = None,
        limits: Limits | None = None,
    ) -> None:
        """An arena that goes on with what an earlier process left.

        Args:
          journal: Keeps matches and sessions.
          deal_log: Keeps the deals.
          replays: The folder of published replays.
          tokens: Who is let in.
          recovery: What the journals of earlier processes hold.
          server_id: Names the arena in its commitments.
          signer: Signs transcripts and replays, if anybody does.
          lag: How late the arena itself is.
          admission: Whether another match can be taken; without it, always.
          watch: Counts what happens.
          limits: How much may be open at a time.
        """
        self.now_s: Callable[[], float] = trio.current_time
        """Reads the arena's clock."""
        self.watch = watch or Watch()
        self.lag = lag
        self.admission = admission
        self.journal = journal
        self.replays = replays
        self.signer = signer
        self.tokens = tokens
        self.sessions: dict[BotId, Session] = {}
        self.matches: dict[str, MatchRecord] = {}
        self.address = ""  # host and port, once the server listens
        self.draining = False
        self.closed = False
        """Whether nobody is let in any more, not even to a match in play."""
        self.referee = Referee(self._ledger, self._synced, lag=lag)
        self._measuring = lag.measuring if lag else contextlib.nullcontext
        self._deal_log = deal_log
        self._deals = Deals(deal_log, server_id, self.sessions.get, lag=lag, signer=signer)
        self._deal_sets = DealSets(self._deals, deal_log, replays, signer)
        self._kept: dict[BotId, KeptSession] = {}
        """What sessions that are no more had counted up to."""
        self.doors = CallLimits(limits, why_busy=self._why_busy)
        self._reception = SessionRegister(
            self.sessions, self._kept, self.doors, tokens.forget_guest
        )
        self._unfinished: dict[str, Unfinished] = {}
        """Matches that were cut short, until somebody leases them again, by id."""
        self._recovery = recovery
        self._logs: dict[str, MatchLog] = {}
        self._nursery: trio.Nursery | None = None
        self._arrival = trio.Event()
        self._token: trio.lowlevel.TrioToken | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep referee and journal running until cancelled."""
        self._token = trio.lowlevel.current_trio_token()
        # The clock itself: `trio.current_time` looks it up anew at each of many calls.
        self.now_s = trio.lowlevel.current_clock().current_time
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            await nursery.start(self.journal.run)
            await nursery.start(self.referee.run)
            self._restore_all()
            await self._drop_spent()
            nursery.start_soon(self._deal_sets.close_left_over, self._may_go_on)
            task_status.started()

    # Bots.

    def hello(self, hello: play_pb2.Hello, outbox: Outbox) -> Session:
        """Attach a stream to its bot's session.

        Raises:
          Refused: if the token is unknown, a game does not exist, or the arena drains and the
            bot has no match in play.
        """
        if self.closed:
            raise draining()
        bot = self.tokens.bot(hello.token)
        self._reception.let_in(bot, hello.games, drains=self.draining)
        session = self._session_of(bot)
        session.attach(hello, outbox)
        self._reception.welcomed(session)
        kept = journal_pb2.SessionKept(
            bot=bot.name, instance=bot.instance, epoch=session.epoch, matches=session.numbered
        )
        self.journal.append(journal_pb2.Record(session=kept).SerializeToString())
        self._deals.attached(bot)
        arrival, self._arrival = self._arrival, trio.Event()
        assert self._token is not None
        self._token.run_sync_soon(arrival.set)
        return session

    def _why_busy(self) -> str:
        """Why nobody new is taken, as part of a sentence."""
        if self.watch.counts.waiting_bytes > MAX_WAITING_BYTES:
            return "bots do not read what waits for them"
        return self.admission.why_closed() if self.admission else ""

    def hung_up(self, session: Session, outbox: Outbox) -> None:
        """A stream has ended."""
        session.detach(outbox)
        if not session.connected:
            self._deals.detached(session.bot)
            self._reception.hung_up(session)

    async def arrived(self, bots: Sequence[BotId]) -> None:
        """Wait until all these bots are connected; by the stream of a dead process none is."""
        while not all((at := self.sessions.get(bot)) and at.present for bot in bots):
            await self._arrival.wait()

    # Matches.

    def create(self, order: MatchOrder) -> MatchRecord:
        """Start a match between bots that are connected; it is played meanwhile.

        Raises:
          Refused: if game, options, bots or time are not right.
        """
        ordered = self._prepare(order)
        self._promise(ordered)
        # Whoever hears of the match may count on it.
        self.journal.flush()
        assert self._token is not None
        self._token.run_sync_soon(self._start, ordered)
        return ordered.record

    def _promise(self, ordered: _Ordered) -> None:
        spec = ordered.spec
        promise = promise_of(ordered.order, spec.game, spec.options)
        self.journal.append(journal_pb2.Record(ordered=promise).SerializeToString())

    def _start(self, ordered: _Ordered) -> None:
        assert self._nursery is not None
        # The arena may have ended since: then its nursery takes no task any more.
        with contextlib.suppress(RuntimeError):
            self._nursery.start_soon(self._play, ordered)

    async def lease(self, order: MatchOrder) -> Outcome:
        """Play a match to its end; one that was cut short by a crash goes on.

        Bots that are not connected are played by fallback, as gone.

        Raises:
          Refused: if game, options, bots or time are not right.
        """
        async with self.admission.turn() if self.admission else contextlib.nullcontext():
            unfinished = self._unfinished.pop(order.match_id, None)
            if unfinished is not None:
                with contextlib.suppress(Unplayable):
                    return await self._playing_on(unfinished, order, held=False)()
            return await self._play(self._prepare(order, leased=True))

    async def fix_deals(self, order: MatchOrder) -> None:
        """Agree the deals of a match with its bots ahead of play.

        Raises:
          Unwritten: if the deals cannot be kept.
        """
        game = game_by_id(order.game)
        with self._measuring():
            await self._deal_sets.fix(order, game, game.options(order.options, len(order.bots)))

    def drain(self, seconds: float) -> None:
        """Take no new bots and matches; those in play go on."""
        self.draining = True
        self._reception.drain(seconds)

    async def close_left_over(self, held: Callable[[str], bool]) -> None:
        """Open fair deals that nothing will be played by any more, but those `held`, by name."""
        await self._deal_sets.close_left_over(held)

    async def idle(self) -> None:
        """Wait until no match is in play."""
        while self.referee.tables:
            await self.referee.ended.wait()

    def close_streams(self) -> None:
        """Close all streams: in order, but for bots whose matches were suspended."""
        text = "the arena has stopped; matches in play go on when it is back"
        self.closed = True
        suspended = Refused(grpc.StatusCode.UNAVAILABLE, "SUSPENDED", text)
        for session in self.sessions.values():
            session.close(suspended if session.matches else None)

    def _prepare(self, order: MatchOrder, *, leased: bool = False) -> _Ordered:
        if self.draining:
            raise draining()
        if self.admission is not None and not leased:  # those wait for their turn
            self.admission.require_open()
        game, options = checked(order)
        sessions = tuple(self._available(bot, game, order.bots, leased) for bot in order.bots)
        order = replace(order, match_id=order.match_id or secrets.token_hex(8))
        spec = MatchSpec(
            match_id=order.match_id,
            game=game,
            options=options,
            entrants=tuple(Entrant(bot.name) for bot in order.bots),
            deals=KeyedDeals(b""),
            deal_key_sha256=b"",
            time_control=order.time_control,
            seeded=bool(order.seed),
            deal_set=order.deal_set,
            fault_limit=order.fault_limit,
        )
        for session in sessions:
            session.reserved += 1
        return _Ordered(order, spec, sessions, self._record(spec), leased)

    def _available(
        self, bot: BotId, game: Game, bots: Sequence[BotId], absent_is_gone: bool
    ) -> Session:
        session = self.sessions.get(bot)
        if session is None and absent_is_gone:
            session = self._session_of(bot)
            session.gone = True
        if session is None or not (session.connected or absent_is_gone):
            raise not_found("UNKNOWN_BOT", f"no bot named {bot.name!r} is connected")
        if session.connected and not session.plays(game.id, game.rules_version, len(bots)):
            text = f"{bot.name!r} does not play {game.id} with {len(bots)} seats"
            raise not_now("BOT_NOT_AVAILABLE", text)
        if session.connected and session.matches + bots.count(bot) > session.max_matches:
            raise not_now("BOT_NOT_AVAILABLE", f"{bot.name!r} takes no more matches")
        return session

    def _session_of(self, bot: BotId) -> Session:
        """The session of a bot, which goes on from an earlier process if there was one."""
        session = self.sessions.get(bot)
        if session is None:
            kept = self._kept.get(bot, KeptSession())
            session = self.sessions[bot] = Session(
                bot,
                self.now_s,
                on_deal=self._on_deal,
                on_refusal=self.watch.message_refused,
                epoch=kept.epoch,
                matches=kept.matches,
            )
        return session

    def _on_deal(self, session: Session, message: play_pb2.BotMessage) -> play_pb2.Refusal | None:
        if message.HasField("deal_commit"):
            commit = message.deal_commit
            return self._deals.deal_commit(session.bot, commit.context, commit.commitment)
        reveal = message.deal_reveal
        return self._deals.deal_reveal(session.bot, reveal.context, reveal.entropy)

    def _record(self, spec: MatchSpec) -> MatchRecord:
        names = tuple(entrant.name for entrant in spec.entrants)
        record = MatchRecord(spec.match_id, spec.game.id, names)
        self.matches[spec.match_id] = record
        if len(self.matches) > REMEMBERED_MATCHES:
            self._forget_oldest()
        return record

    def _forget_oldest(self) -> None:
        for match_id, record in self.matches.items():
            if record.outcome is not None:
                del self.matches[match_id]
                return

    def _ledger(self, spec: MatchSpec) -> Ledger:
        return self.watch.ledger(self._logs[spec.match_id], spec)

    async def _synced(self) -> None:
        await self._deal_log.synced()
        await self.journal.synced()

    async def _play(self, ordered: _Ordered) -> Outcome:
        order, record = ordered.order, ordered.record
        try:
            with self._measuring():
                fixed = await self._deal_sets.fix(order, ordered.spec.game, ordered.spec.options)
        finally:
            for session in ordered.sessions:
                session.reserved -= 1
        spec = replace(
            ordered.spec,
            deals=KeyedDeals(fixed.opening.key),
            deal_key_sha256=hashlib.sha256(fixed.opening.key).digest(),
        )
        if fixed.fair is not None:
            spec = replace(
                spec,
                fair_deal=fixed.fair.fair_deal,
                deal_context=fixed.context,
                forfeited_seats=fixed.fair.forfeited_seats(order.bots),
            )
        ports = seated(spec, ordered.sessions)
        log = self.journal.match(spec, numbers_of(ordered.sessions, ports), leased=ordered.leased)
        self._deal_sets.begins(order, log)
        return await self._referee(order, spec, ports, log, record)

    async def _referee(
        self,
        order: MatchOrder,
        spec: MatchSpec,
        ports: Sequence[Seating],
        log: MatchLog,
        record: MatchRecord,
        past: Sequence[Settled] = (),
    ) -> Outcome:
        """Have a match played, and publish its deal-set if it was the last."""
        self._logs[spec.match_id] = log
        outcome = None
        try:
            with self._measuring():
                outcome = await self.referee.play(spec, ports, past)
            # Remembered for long, and told without the hands; the replay has them.
            record.outcome = replace(outcome, hand_scores=(), faults=())
        finally:
            del self._logs[spec.match_id]
            # A drain ends with the last match, not before its replay.
            with trio.CancelScope(shield=True):
                await self._deal_sets.ended(order, outcome)
        return outcome

    # Matches that were cut short.

    def _restore_all(self) -> None:
        """Go on with what the journals of earlier processes hold.

        Matches that somebody will lease again wait for that. All others go on at
        once, and their bots have `HELD_S` to come back before their clocks run.
        """
        for promise in self._recovery.ordered.values():
            self.journal.append(journal_pb2.Record(ordered=promise).SerializeToString())
        keep_sessions(self._recovery.sessions, self.journal)
        self._kept.update((BotId(*bot), kept) for bot, kept in self._recovery.sessions.items())
        actions = actions_of(self._recovery)
        for each in actions[RecoveryAction.WAITS]:
            self._unfinished[each.opened.match_id] = each
        for each in actions[RecoveryAction.ENDS]:
            close(each, AbortCause.STOPPED, self.journal, self.replays, self.signer)
        going_on = sum(self._goes_on(each) for each in actions[RecoveryAction.GOES_ON])
        for promise in self._recovery.ordered.values():
            names = tuple(promise.bots)
            self.matches[promise.match_id] = MatchRecord(promise.match_id, promise.game, names)
            assert self._nursery is not None
            self._nursery.start_soon(self._keep_promise, promised(promise))
        if going_on:
            _log.info("matches go on where they stood", extra={"matches": going_on})
            assert self._nursery is not None
            self._nursery.start_soon(self._release_held)
        self.journal.flush()

    async def _drop_spent(self) -> None:
        """Remove journals of earlier processes once nothing more of them is needed."""
        if spent := self._recovery.spent(waiting=self._unfinished.keys()):
            await self._synced()
            for segment in spent:
                segment.unlink(missing_ok=True)
            _log.info("earlier journals were removed", extra={"segments": len(spent)})

    async def _keep_promise(self, order: MatchOrder) -> None:
        """Begin a match that was promised before a crash, once its bots are back or late."""
        with trio.move_on_after(HELD_S):
            await self.arrived(order.bots)
        for bot in order.bots:
            self._session_of(bot)
        try:
            ordered = self._prepare(order, leased=True)
        except Refused as refused:
            fields = {"match": order.match_id, "why": refused.text}
            _log.warning("a match cannot begin any more", extra=fields)
        else:
            await self._play(replace(ordered, leased=False))

    def _may_go_on(self, name: str) -> bool:
        """Whether matches of a deal-set may still be played.

        They may not if it is that of a match alone, which has a replay.
        """
        try:
            return not replay_path(self.replays, name).exists()
        except ValueError:
            return True

    def _goes_on(self, unfinished: Unfinished) -> bool:
        assert self._nursery is not None
        try:
            playing = self._playing_on(unfinished, order_of(unfinished), held=True)
        except Unplayable as error:
            fields = {"match": unfinished.opened.match_id, "why": str(error)}
            _log.warning("a match cannot go on", extra=fields)
            close(unfinished, AbortCause.UNPLAYABLE, self.journal, self.replays, self.signer)
            return False
        self._nursery.start_soon(playing)
        return True

    def _playing_on(
        self, unfinished: Unfinished, order: MatchOrder, *, held: bool
    ) -> Callable[[], Awaitable[Outcome]]:
        """Seat the bots of a match that was cut short; what is returned plays it on.

        Raises:
          Unplayable: if this arena has other rules, or the deals are lost.
        """
        spec, opening = spec_again(unfinished), unfinished.opening
        assert opening is not None
        strangers = {bot for bot in order.bots if bot not in self.sessions}
        sessions = [self._session_of(bot) for bot in order.bots]
        for session in sessions:
            session.held = session.held or (held and not session.connected)
            session.gone = session.gone or (not held and session.bot in strangers)
        numbers = [each.match for each in unfinished.seated]
        ports = seated(spec, sessions, numbers)
        log = self.journal.match_again(
            unfinished.bodies, numbers_of(sessions, ports), leased=unfinished.leased
        )
        self._deal_sets.goes_on(order, opening, log)
        record, past = self._record(spec), unfinished.past
        return lambda: self._referee(order, spec, ports, log, record, past)

    async def _release_held(self) -> None:
        await trio.sleep(HELD_S)
        for session in self.sessions.values():
            session.release()
