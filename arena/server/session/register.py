"""The session register: lets bots in, finds their sessions, and forgets old ones."""

import time
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import trio

from arena.replay.journal.kept_sessions import KeptSession
from arena.server.bots import BotId
from arena.server.gate.limits import LOCAL, RETRY_S, CallLimits, Rank
from arena.server.refusals import Refused, busy, draining, invalid
from arena.server.session.games import MAX_GAMES
from arena.server.session.outbox import Postbox
from arena.server.session.session import DealTalk, Session
from cardarena.v1 import play_pb2

MAX_AWAY: Final = 1_000
"""Most sessions that are kept for bots which have hung up and sit at no match."""


class SessionRegister:
    """The sessions of an arena by bot. Used on the thread of the host loop only."""

    def __init__(
        self,
        limits: CallLimits,
        *,
        now_s: Callable[[], float],
        forget_guest: Callable[[str], None],
        on_deal: DealTalk | None = None,
        on_refusal: Callable[[int], None] = lambda _: None,
        real_now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin without any.

        Args:
          limits: How many may come in at a time.
          now_s: The clock that matches are played by.
          forget_guest: Frees a guest's name.
          on_deal: Takes what a bot says about deals, as each `Session` does.
          on_refusal: Is told the reason of whatever could not be taken.
          real_now_s: The clock by which streams are closed at the end of a drain.
        """
        self._limits = limits
        self._now_s = now_s
        self._forget_guest = forget_guest
        self._on_deal = on_deal
        self._on_refusal = on_refusal
        self._real_now_s = real_now_s
        self._sessions: dict[BotId, Session] = {}
        self._kept: dict[BotId, KeptSession] = {}
        """The counters of sessions that were forgotten."""
        self._invited: list[str] = []
        """Names of the bots that a match can be made with by hand, in their order."""
        self._closes_at_s: float | None = None
        """When streams are closed, once the arena drains."""
        self._left: dict[BotId, None] = {}
        """Bots by when they last hung up; they may be back."""
        self._arrival = trio.Event()
        self._token: trio.lowlevel.TrioToken | None = None

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._sessions.values()))

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, bot: BotId) -> Session | None:
        """The session of a bot; None if it has never said hello, or is forgotten."""
        return self._sessions.get(bot)

    def invited(self, after: str, most: int) -> Sequence[Session]:
        """The bots that a match can be made with by hand, by name: so many of those after one.

        A bot of several processes is a tournament's: it is here by the first of them.
        """
        at = bisect_right(self._invited, after)
        return [self._sessions[BotId(name)] for name in self._invited[at : at + most]]

    def session_of(self, bot: BotId) -> Session:
        """The session of a bot, which goes on from an earlier process if there was one."""
        session = self._sessions.get(bot)
        if session is None:
            kept = self._kept.get(bot, KeptSession())
            session = self._sessions[bot] = Session(
                bot,
                self._now_s,
                on_deal=self._on_deal,
                on_refusal=self._on_refusal,
                epoch=kept.epoch,
                matches=kept.matches,
            )
        return session

    def go_on_from(self, kept: Mapping[tuple[str, int], KeptSession]) -> None:
        """Count on from what sessions of earlier processes had come to, by name and instance."""
        self._kept.update((BotId(*bot), each) for bot, each in kept.items())

    # Who comes and goes.

    def hello(
        self,
        bot: BotId,
        hello: play_pb2.Hello,
        outbox: Postbox,
        *,
        address: str = LOCAL,
        drains: bool = False,
    ) -> Session:
        """Attach a stream from an address to its bot's session, and welcome the bot.

        A draining arena still takes back bots with matches in play, as these go on.

        Raises:
          Refused: if it says hello too often, names too many games, others come first, or the
            arena drains.
        """
        if len(hello.games) > MAX_GAMES:
            raise invalid("TOO_MANY_GAMES", f"a bot declares at most {MAX_GAMES} games")
        self._let_in(bot, drains=drains)
        session = self.session_of(bot)
        session.attach(hello, outbox, address)
        self._list(session)
        self._tell_of_drain(session)
        return session

    def announce_arrival(self) -> None:
        """Wake all who wait in `arrived`. May be called outside of trio."""
        arrival, self._arrival = self._arrival, trio.Event()
        if self._token is not None:
            self._token.run_sync_soon(arrival.set)

    async def arrived(self, bots: Sequence[BotId]) -> None:
        """Wait until all these bots are connected; by the stream of a dead process none is."""
        self._token = trio.lowlevel.current_trio_token()
        while not all((at := self._sessions.get(bot)) and at.present for bot in bots):
            await self._arrival.wait()

    def hung_up(self, session: Session) -> None:
        """A bot is away. Of those that are for longest, one may be forgotten."""
        self._list(session)
        self._left.pop(session.bot, None)
        self._left[session.bot] = None
        if len(self._left) <= MAX_AWAY:
            return
        bot = next(iter(self._left))
        del self._left[bot]
        oldest = self._sessions.get(bot)
        if oldest is None or oldest.connected:
            return
        if oldest.matches or oldest.held:
            self._left[bot] = None
        else:
            self._forget(oldest)

    # All of them.

    def drain(self, seconds: float) -> None:
        """Tell all bots that streams are closed after so many seconds."""
        self._closes_at_s = self._real_now_s() + seconds
        for session in self:
            self._tell_of_drain(session)

    def release(self) -> None:
        """Stop waiting for bots that have not come back since the arena was restarted."""
        for session in self:
            session.release()

    def close_streams(self, verdict_in_match: Refused) -> None:
        """Close all streams: in order, but for bots that sit at matches."""
        for session in self:
            session.close(verdict_in_match if session.matches else None)

    # Inside.

    def _list(self, session: Session) -> None:
        """Have the names of those who are invited say whether this bot is."""
        name, names = session.bot.name, self._invited
        if session.bot.instance:
            return
        at = bisect_left(names, name)
        listed = at < len(names) and names[at] == name
        if session.invited and not listed:
            insort(names, name)
        elif listed and not session.invited:
            del names[at]

    def _let_in(self, bot: BotId, *, drains: bool) -> None:
        session = self._sessions.get(bot)
        rank = self._rank(bot, session)
        if drains and rank is not Rank.IN_MATCH:
            raise draining()
        if session is not None and not session.hellos.take():
            raise busy("this bot says hello too often", RETRY_S)
        self._limits.let_in(rank)

    def _tell_of_drain(self, session: Session) -> None:
        if self._closes_at_s is not None:
            left_ms = max(0, round((self._closes_at_s - self._real_now_s()) * 1000))
            session.send(play_pb2.ArenaMessage(drain=play_pb2.Drain(deadline_ms=left_ms)))

    def _rank(self, bot: BotId, session: Session | None) -> Rank:
        if session is not None and session.matches:
            return Rank.IN_MATCH
        return Rank.NEW if session is None and bot not in self._kept else Rank.RESUME

    def _forget(self, session: Session) -> None:
        bot = session.bot
        del self._sessions[bot]
        if session.numbered:
            # No other decision may ever have the id of one that was asked.
            self._kept[bot] = KeptSession(session.epoch, session.numbered)
        else:
            self._kept.pop(bot, None)
            self._forget_guest(bot.name)
