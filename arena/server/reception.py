"""Lets bots in by rank, and forgets those that nobody waits for."""

from collections.abc import Callable
from typing import Final

from arena.replay.cut import KeptSession
from arena.server.connections import RETRY_S, Doors, Rank
from arena.server.refusals import busy
from arena.server.session import BotId, Session

MAX_AWAY: Final = 1_000
"""Sessions that are kept of bots which have hung up and sit at no match."""


class Reception:
    """Looks after an arena's sessions, but for what they say."""

    def __init__(
        self,
        sessions: dict[BotId, Session],
        kept: dict[BotId, KeptSession],
        doors: Doors,
        forget_guest: Callable[[str], None],
    ) -> None:
        """`kept` takes what has to outlive a session; `forget_guest` frees a guest's name."""
        self._sessions = sessions
        self._kept = kept
        self._doors = doors
        self._forget_guest = forget_guest
        self._left: dict[BotId, None] = {}
        """Bots by when they last hung up; they may be back."""

    def let_in(self, bot: BotId) -> None:
        """Let a bot in that says hello.

        Raises:
          Refused: if it does so too often, or others come first.
        """
        session = self._sessions.get(bot)
        if session is not None and not session.hellos.take():
            raise busy("this bot says hello too often", RETRY_S)
        self._doors.let_in(self._rank(bot, session))

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
