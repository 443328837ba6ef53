"""Freezes submitted bots while nothing is asked of them, so that they compute in their own time only.

It needs sandbox level S3: a bot's control group stops all its processes. A bot is resumed before anything is sent to
it, so freezing uses none of its time.
"""

from collections.abc import Callable
from typing import Final

import trio

from arena.bots.bot_ids import BotId
from arena.live.deals.deal_time import STEP_S
from arena.live.session.session import Session
from arena.sandbox.process import BotProcess

LOOK_S: Final = 0.05
"""Seconds between two checks of a bot. It is frozen if nothing was sent to it since the previous check."""
BREATH_EVERY_S: Final = 3.0
"""Seconds after which a frozen bot runs until the second check: its connection must answer a ping within 10 s (`arena.api.transport`), and read the answers to its own pings."""


class FrozenBots:
    """Freezes launched bots between their moves. Used on the thread of the host loop."""

    def __init__(self, session_of: Callable[[BotId], Session | None]) -> None:
        """`session_of` finds the session of a bot; None before its first hello."""
        self._session_of = session_of
        self.may_ponder: Final[set[str]] = set()
        """The ids of matches whose bots may compute at any time."""

    async def keep(self, bot: BotId, process: BotProcess) -> None:
        """Freeze a process whenever nothing is asked of it, until it has ended."""
        frozen = _Frozen(process)
        try:
            while not process.exited.is_set():
                await trio.sleep(LOOK_S)
                session = self._session_of(bot)
                if session is not None:
                    session.on_reach(frozen.reach)
                    now_s = trio.current_time()
                    frozen.look(now_s, idle=self._is_idle(session, now_s - frozen.reached_s))
        finally:
            frozen.thaw()
            if (session := self._session_of(bot)) is not None:
                session.on_reach(None)

    def _is_idle(self, session: Session, unreached_s: float) -> bool:
        """Return whether a bot has nothing to do: nothing is asked of it, and nothing was sent to it for `unreached_s` seconds."""
        if not session.is_idle or (session.incoming.owes_on_deals and unreached_s < STEP_S):
            return False
        return not any(seating.match_start.match_id in self.may_ponder for seating in session.seats)


class _Frozen:
    def __init__(self, process: BotProcess) -> None:
        self._process = process
        self._is_frozen = False
        self._since_s = 0.0
        self._was_reached = True
        self._runs_on = False
        """Whether it runs until the second look from now."""
        self.reached_s = 0.0
        """The time of the first look after it was last sent something."""

    def reach(self) -> None:
        """Resume it, because something is about to be sent to it. This is called at every ask, and is cheap while the bot runs."""
        self._was_reached = True
        if self._is_frozen:
            self.thaw()

    def look(self, now_s: float, *, idle: bool) -> None:
        if self._is_frozen:
            if not idle or now_s - self._since_s >= BREATH_EVERY_S:
                self.thaw()
            return
        if self._was_reached:
            self._was_reached, self.reached_s = False, now_s
        elif self._runs_on:
            self._runs_on = False
        elif idle:
            self._is_frozen, self._since_s = True, now_s
            self._process.freeze(frozen=True)

    def thaw(self) -> None:
        if self._is_frozen:
            self._is_frozen, self._runs_on = False, True
            self._process.freeze(frozen=False)
