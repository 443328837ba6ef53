"""Lets bots in by rank, and forgets those that nobody waits for."""

import time
from collections.abc import Callable, Iterable
from typing import Final

from arena.games.catalogue import UnknownGame, game_by_id
from arena.replay.journal.recovery import KeptSession
from arena.server.bots import BotId
from arena.server.gate.limits import RETRY_S, CallLimits, Rank
from arena.server.refusals import busy, draining, invalid
from arena.server.session.session import Session
from cardarena.v1 import play_pb2

MAX_AWAY: Final = 1_000
"""Sessions that are kept of bots which have hung up and sit at no match."""


class SessionRegister:
    """Looks after an arena's sessions, but for what they say."""

    def __init__(
        self,
        sessions: dict[BotId, Session],
        kept: dict[BotId, KeptSession],
        doors: CallLimits,
        forget_guest: Callable[[str], None],
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """`kept` takes what has to outlive a session; `forget_guest` frees a guest's name."""
        self._sessions = sessions
        self._kept = kept
        self._doors = doors
        self._forget_guest = forget_guest
        self._now_s = now_s
        self._closes_at_s: float | None = None
        """When streams are closed, once the arena drains."""
        self._left: dict[BotId, None] = {}
        """Bots by when they last hung up; they may be back."""

    def let_in(
        self, bot: BotId, games: Iterable[play_pb2.GameSupport] = (), *, drains: bool = False
    ) -> None:
        """Let a bot in that says hello, and that it plays these games.

        An arena that drains takes back those who have matches in play, as these go on.

        Raises:
          Refused: if it does so too often, names a game that does not exist, others come
            first, or the arena drains.
        """
        session = self._sessions.get(bot)
        if drains and self._rank(bot, session) is not Rank.IN_MATCH:
            raise draining()
        if session is not None and not session.hellos.take():
            raise busy("this bot says hello too often", RETRY_S)
        self._doors.let_in(self._rank(bot, session))
        for support in games:
            try:
                game_by_id(support.game)
            except UnknownGame as error:
                raise invalid("UNKNOWN_GAME", str(error)) from None

    def welcomed(self, session: Session) -> None:
        """A bot was let in: it is told if the arena drains."""
        if self._closes_at_s is not None:
            left_ms = max(0, round((self._closes_at_s - self._now_s()) * 1000))
            session.send(play_pb2.ArenaMessage(drain=play_pb2.Drain(deadline_ms=left_ms)))

    def drain(self, seconds: float) -> None:
        """Tell all bots that streams are closed after so many seconds."""
        self._closes_at_s = self._now_s() + seconds
        for session in self._sessions.values():
            self.welcomed(session)

    def hung_up(self, session: Session) -> None:
        """A bot is away. Of those that are for longest, one may be forgotten."""
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
