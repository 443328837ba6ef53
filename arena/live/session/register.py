"""The session register: accepts bots, finds their sessions, and forgets old ones."""

import time
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import trio

from arena.bots.bot_ids import BotId
from arena.errors.refused import DRAINING, Refused
from arena.live.limits import LOCAL, RETRY_S, CallLimits, Rank
from arena.live.session.declaration import MAX_GAMES
from arena.live.session.messages import DealTalk
from arena.live.session.session import Session
from arena.live.session.stream import Postbox
from arena.records.journal.kept_sessions import KeptSession
from cardarena.v1 import play_pb2

MAX_AWAY: Final = 1_000
"""The maximal number of sessions that are kept for bots that are away and play no match."""


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
    ) -> None:
        """Begin without sessions.

        Args:
          now_s: Reads the clock of matches.
          on_deal: Takes messages of bots about deals, as in each `Session`.
          on_refusal: Called with the reason of each refused message.
        """
        self._limits = limits
        self._now_s = now_s
        self._forget_guest = forget_guest
        self._on_deal = on_deal
        self._on_refusal = on_refusal
        self._sessions: dict[BotId, Session] = {}
        self._kept: dict[BotId, KeptSession] = {}
        """The counters of sessions that were forgotten."""
        self._invited: list[str] = []
        """Names of the bots that a match can be ordered with by hand, sorted."""
        self._closes_at_s: float | None = None
        """When streams are closed if the arena drains, by the clock of the machine."""
        self._left: dict[BotId, None] = {}
        """Bots in the order in which their streams ended; they may have reconnected."""
        self._arrival = trio.Event()
        self._token: trio.lowlevel.TrioToken | None = None

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._sessions.values()))

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, bot: BotId) -> Session | None:
        """Return the session of a bot; None if it has never connected, or is forgotten."""
        return self._sessions.get(bot)

    def invited(self, after: str, most: int) -> Sequence[Session]:
        """Return at most `most` bots with which a match can be ordered by hand, in order of name, after the name `after`.

        For a bot with several processes, which a competition launched, the first process counts.
        """
        at = bisect_right(self._invited, after)
        return [self._sessions[BotId(name)] for name in self._invited[at : at + most]]

    def session_of(self, bot: BotId) -> Session:
        """Return the session of a bot; a new one continues the counts of an earlier process."""
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

    def continue_from(self, kept: Mapping[tuple[str, int], KeptSession]) -> None:
        """Continue the counts of the sessions of earlier processes, by name and instance."""
        self._kept.update((BotId(*bot), counts) for bot, counts in kept.items())

    # Streams.

    def hello(
        self,
        bot: BotId,
        hello: play_pb2.Hello,
        outbox: Postbox,
        *,
        address: str = LOCAL,
        launched: bool = False,
        drains: bool = False,
    ) -> Session:
        """Attach a stream to its bot's session, and welcome the bot.

        Args:
          launched: Whether the arena started the bot's process; then it is not refused for load.
          drains: Whether the arena drains: only bots with matches in play are accepted.

        Raises `Refused` if the bot says hello too often or names too many games, if too many bots connect, or
        if the arena drains.
        """
        if len(hello.games) > MAX_GAMES:
            raise Refused("TOO_MANY_GAMES", f"the limit is {MAX_GAMES}")
        self._accept(bot, launched=launched, drains=drains)
        session = self.session_of(bot)
        session.attach(hello, outbox, address)
        self._list(session)
        self._announce_drain(session)
        return session

    def announce_arrival(self) -> None:
        """Wake all tasks that wait in `arrived`. May be called outside of trio."""
        arrival, self._arrival = self._arrival, trio.Event()
        if self._token is not None:
            self._token.run_sync_soon(arrival.set)

    async def arrived(self, bots: Sequence[BotId]) -> None:
        """Wait until all these bots are connected, by processes that have not ended."""
        self._token = trio.lowlevel.current_trio_token()
        while not all((at := self._sessions.get(bot)) and at.present for bot in bots):
            await self._arrival.wait()

    def hung_up(self, session: Session) -> None:
        """Note that a bot's stream has ended. The session that has had no stream for the longest time may be forgotten."""
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
        if oldest.matches or oldest.expected:
            self._left[bot] = None
        else:
            self._forget(oldest)

    def hang_up(self, bot: BotId, verdict: Refused) -> None:
        """Close a bot's stream, if it has one."""
        session = self._sessions.get(bot)
        if session is not None:
            session.close(verdict)

    # All sessions.

    def drain(self, seconds: float) -> None:
        """Announce to all bots that their streams will be closed after this many seconds."""
        self._closes_at_s = time.monotonic() + seconds
        for session in self:
            self._announce_drain(session)

    def release(self) -> None:
        """Stop waiting for bots that have not reconnected since the arena was restarted."""
        for session in self:
            session.release()

    def close_streams(self, verdict_in_match: Refused) -> None:
        """Close all streams; bots that play matches are sent the verdict."""
        for session in self:
            session.close(verdict_in_match if session.matches else None)

    def _list(self, session: Session) -> None:
        """Keep the names of invited bots up to date for this bot."""
        name, names = session.bot.name, self._invited
        if session.bot.instance:
            return
        at = bisect_left(names, name)
        listed = at < len(names) and names[at] == name
        if session.invited and not listed:
            insort(names, name)
        elif listed and not session.invited:
            del names[at]

    def _accept(self, bot: BotId, *, launched: bool, drains: bool) -> None:
        session = self._sessions.get(bot)
        rank = self._rank(bot, session, launched=launched)
        if drains and rank is not Rank.IN_MATCH:
            raise Refused(DRAINING)
        if session is not None and not session.hellos.take():
            raise Refused("BUSY", "this bot says hello too often", retry_s=RETRY_S)
        self._limits.accept(rank)

    def _announce_drain(self, session: Session) -> None:
        if self._closes_at_s is not None:
            left_ms = max(0, round((self._closes_at_s - time.monotonic()) * 1000))
            session.send(play_pb2.ArenaMessage(drain=play_pb2.Drain(deadline_ms=left_ms)))

    def _rank(self, bot: BotId, session: Session | None, *, launched: bool) -> Rank:
        if session is not None and session.matches:
            return Rank.IN_MATCH
        if launched:
            return Rank.LAUNCHED
        return Rank.NEW if session is None and bot not in self._kept else Rank.RESUME

    def _forget(self, session: Session) -> None:
        bot = session.bot
        del self._sessions[bot]
        if session.seats.numbered:
            # The ids of its asks must never be used for other decisions.
            self._kept[bot] = KeptSession(session.epoch, session.seats.numbered)
        else:
            self._kept.pop(bot, None)
            self._forget_guest(bot.name)
