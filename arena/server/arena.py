"""The arena's core: sessions, matches, replays. Trio's side of the server.

`lease` is how ladders and tournaments reach a referee: a match order goes in,
an outcome comes out. Here that is this process; later it may be another one.
"""

import contextlib
import hashlib
import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import grpc
import trio

from arena.deal import KeyedDeals, new_key, seeded_key
from arena.games.catalogue import BadOptions, Game, UnknownGame, game_by_id
from arena.referee import (
    Ending,
    Entrant,
    Ledger,
    MatchSpec,
    Outcome,
    Referee,
    TimeControl,
)
from arena.replay.cut import write_replay
from arena.replay.journal import Journal, MatchLog
from arena.server.outbox import Outbox
from arena.server.refusals import Refused, invalid, not_found, not_now
from arena.server.session import BotId, Seating, Session
from arena.server.tokens import Tokens
from cardarena.v1 import play_pb2

_log = logging.getLogger(__name__)

DEFAULT_TIME_CONTROL: Final = TimeControl()
REMEMBERED_MATCHES: Final = 10_000
"""Ended matches that the lobby can still tell about."""


@dataclass(frozen=True, slots=True)
class MatchOrder:
    """A match that is to be played."""

    game: str
    bots: tuple[BotId, ...]
    """By seat."""
    options: dict[str, object] = field(default_factory=dict)
    time_control: TimeControl = DEFAULT_TIME_CONTROL
    seed: str = ""
    """Makes the deals repeatable; empty draws them afresh."""
    match_id: str = ""
    """Empty makes one at random."""
    deal_set: str = ""
    """Matches of one deal-set share its boards."""
    tables: int = 1
    """Matches in the deal-set: their replays stay closed until all have ended."""
    fault_limit: int = 10


@dataclass(slots=True)
class MatchRecord:
    """What the lobby tells of a match."""

    match_id: str
    game: str
    bots: tuple[str, ...]
    outcome: Outcome | None = None


@dataclass(slots=True)
class _DealSet:
    key: bytes
    seed: str
    waiting: int
    logs: dict[str, MatchLog] = field(default_factory=dict)


class Arena:
    """Everything between the transport and the referee."""

    def __init__(self, journal: Journal, replays: Path, tokens: Tokens) -> None:
        """`replays` is the folder of published replays."""
        self.journal = journal
        self.replays = replays
        self.tokens = tokens
        self.sessions: dict[BotId, Session] = {}
        self.matches: dict[str, MatchRecord] = {}
        self.address = ""
        """Host and port, once the server listens."""
        self.draining = False
        self.referee = Referee(self._ledger, journal.synced)
        self._logs: dict[str, MatchLog] = {}
        self._deal_sets: dict[str, _DealSet] = {}
        self._nursery: trio.Nursery | None = None
        self._arrival = trio.Event()
        self._token: trio.lowlevel.TrioToken | None = None
        self.now_s: Callable[[], float] = trio.current_time
        """Reads the arena's clock."""

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep referee and journal running until cancelled."""
        self._token = trio.lowlevel.current_trio_token()
        # The clock itself: `trio.current_time` looks it up anew at each of many calls.
        self.now_s = trio.lowlevel.current_clock().current_time
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            await nursery.start(self.journal.run)
            await nursery.start(self.referee.run)
            task_status.started()

    # Bots.

    def hello(self, hello: play_pb2.Hello, outbox: Outbox) -> Session:
        """Attach a stream to its bot's session.

        Raises:
          Refused: if the token is unknown, a game does not exist, or the arena drains.
        """
        if self.draining:
            raise draining()
        bot = self.tokens.bot(hello.token)
        for support in hello.games:
            try:
                game_by_id(support.game)
            except UnknownGame as error:
                raise invalid("UNKNOWN_GAME", str(error)) from None
        session = self.sessions.get(bot)
        if session is None:
            session = self.sessions[bot] = Session(bot, self.now_s)
        session.attach(hello, outbox)
        arrival, self._arrival = self._arrival, trio.Event()
        assert self._token is not None
        self._token.run_sync_soon(arrival.set)
        return session

    async def arrived(self, bots: Sequence[BotId]) -> None:
        """Wait until all these bots are connected."""
        while not all(bot in self.sessions and self.sessions[bot].connected for bot in bots):
            await self._arrival.wait()

    # Matches.

    def create(self, order: MatchOrder) -> MatchRecord:
        """Start a match between bots that are connected; it is played meanwhile.

        Raises:
          Refused: if game, options, bots or time are not right.
        """
        spec, sessions = self._prepare(order)
        assert self._token is not None
        record = self._record(spec)
        # Seated at once, so that the next match made counts this one.
        ports = _seated(spec, sessions)
        self._token.run_sync_soon(self._start, spec, ports, record)
        return record

    def _start(self, spec: MatchSpec, ports: Sequence[Seating], record: MatchRecord) -> None:
        assert self._nursery is not None
        # The arena may have ended since: then its nursery takes no task any more.
        with contextlib.suppress(RuntimeError):
            self._nursery.start_soon(self._play, spec, ports, record)

    async def lease(self, order: MatchOrder) -> Outcome:
        """Play a match to its end.

        Bots that are not connected are played by fallback, as gone.

        Raises:
          Refused: if game, options, bots or time are not right.
        """
        spec, sessions = self._prepare(order, absent_is_gone=True)
        return await self._play(spec, _seated(spec, sessions), self._record(spec))

    def drain(self, seconds: float) -> None:
        """Take no new bots and matches; those in play go on."""
        self.draining = True
        message = play_pb2.ArenaMessage(drain=play_pb2.Drain(deadline_ms=int(seconds * 1000)))
        for session in self.sessions.values():
            session.send(message)

    async def idle(self) -> None:
        """Wait until no match is in play."""
        while self.referee.tables:
            await self.referee.ended.wait()

    def close_streams(self, verdict: Refused | None = None) -> None:
        """Close all streams, in order unless there is a verdict."""
        for session in self.sessions.values():
            session.close(verdict)

    def _prepare(
        self, order: MatchOrder, *, absent_is_gone: bool = False
    ) -> tuple[MatchSpec, list[Session]]:
        if self.draining:
            raise draining()
        try:
            game = game_by_id(order.game)
        except UnknownGame as error:
            raise not_found("UNKNOWN_GAME", str(error)) from None
        try:
            options = game.options(order.options, len(order.bots))
        except BadOptions as error:
            reason = "BAD_SEATS" if len(order.bots) not in game.seats else "BAD_OPTIONS"
            raise invalid(reason, str(error)) from None
        sessions = [self._session(bot, game, order.bots, absent_is_gone) for bot in order.bots]
        deal_set = self._deal_set(order)
        spec = MatchSpec(
            match_id=order.match_id or secrets.token_hex(8),
            game=game,
            options=options,
            entrants=tuple(Entrant(bot.name) for bot in order.bots),
            deals=KeyedDeals(deal_set.key),
            deal_key_sha256=hashlib.sha256(deal_set.key).digest(),
            time_control=order.time_control,
            seeded=bool(order.seed),
            deal_set=order.deal_set,
            fault_limit=order.fault_limit,
        )
        try:
            # Options that only the rules can judge, as their fit to the seats.
            game.rules.start(options, len(order.bots), spec.deals)
        except BadOptions as error:
            raise invalid("BAD_OPTIONS", str(error)) from None
        deal_set.waiting -= 1
        self._logs[spec.match_id] = log = self.journal.match(spec, deal_set.key, deal_set.seed)
        deal_set.logs[spec.match_id] = log
        return spec, sessions

    def _session(
        self, bot: BotId, game: Game, bots: Sequence[BotId], absent_is_gone: bool
    ) -> Session:
        session = self.sessions.get(bot)
        if session is None and absent_is_gone:
            session = self.sessions[bot] = Session(bot, self.now_s)
            session.gone = True
        if session is None or not (session.connected or absent_is_gone):
            raise not_found("UNKNOWN_BOT", f"no bot named {bot.name!r} is connected")
        if session.connected and not session.plays(game.id, game.rules_version, len(bots)):
            text = f"{bot.name!r} does not play {game.id} with {len(bots)} seats"
            raise not_now("BOT_NOT_AVAILABLE", text)
        if session.connected and session.matches + bots.count(bot) > session.max_matches:
            raise not_now("BOT_NOT_AVAILABLE", f"{bot.name!r} takes no more matches")
        return session

    def _deal_set(self, order: MatchOrder) -> _DealSet:
        name = order.deal_set
        if not name:
            key = seeded_key(order.seed) if order.seed else new_key()
            return _DealSet(key, order.seed, 1)
        known = self._deal_sets.get(name)
        if known is None:
            key = seeded_key(order.seed) if order.seed else new_key()
            known = self._deal_sets[name] = _DealSet(key, order.seed, order.tables)
        return known

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
        return self._logs[spec.match_id]

    async def _play(
        self, spec: MatchSpec, ports: Sequence[Seating], record: MatchRecord
    ) -> Outcome:
        log = self._logs[spec.match_id]
        try:
            outcome = await self.referee.play(spec, ports)
        finally:
            del self._logs[spec.match_id]
        record.outcome = outcome
        with trio.CancelScope(
            shield=True
        ):  # a drain ends with the last match, not before its replay
            await self._publish(spec, log, outcome)
        return outcome

    async def _publish(self, spec: MatchSpec, log: MatchLog, outcome: Outcome) -> None:
        """Cut the replays of a deal-set once its last match has ended."""
        logs = {spec.match_id: log}
        deal_set = self._deal_sets.get(spec.deal_set)
        if deal_set is not None:
            if outcome.ending is Ending.ABORTED:
                deal_set.waiting += 1  # it may be played again
                del deal_set.logs[spec.match_id]
            running = any(match_id in self._logs for match_id in deal_set.logs)
            if deal_set.waiting > 0 or running:
                return
            del self._deal_sets[spec.deal_set]
            logs = deal_set.logs
        for match_id, each in logs.items():
            try:
                await trio.to_thread.run_sync(
                    write_replay, self.replays, match_id, each.bodies, each.key, each.seed
                )
            except OSError:
                _log.exception("the replay of match %s could not be written", match_id)


def _seated(spec: MatchSpec, sessions: Sequence[Session]) -> list[Seating]:
    names = tuple(entrant.name for entrant in spec.entrants)
    return [session.seat_at(spec, seat, names) for seat, session in enumerate(sessions)]


def draining() -> Refused:
    """The arena is about to close."""
    text = "the arena is closing and takes nothing new"
    return Refused(grpc.StatusCode.UNAVAILABLE, "DRAINING", text)
