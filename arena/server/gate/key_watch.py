"""Keys that are made and revoked while the arena runs.

The arena never waits for the database when somebody says hello or moves. Once a
second it asks, on a thread, which keys have changed; between two such looks an
unknown token makes it look at once, so that a key works as soon as it is made.
"""

import contextlib
import logging
import math
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, date, datetime
from typing import Final, Protocol

import grpc
import trio

from arena.server.bots import BotId
from arena.server.gate.tokens import Tokens
from arena.server.refusals import Refused
from arena.store import Key, News, StoreError

LOOK_S: Final = 1.0
"""Between two looks."""
MAX_LOOK_UPS: Final = 20
"""Most further looks that unknown tokens may cause between two of those."""

_log = logging.getLogger(__name__)


class KeySource(Protocol):
    """Where keys are kept, as `arena.store.Keys`. Both may raise `StoreError`."""

    def changed_since(self, change: int) -> Sequence[Key]:
        """The keys that were added or revoked after this many changes, in order of change."""

    def mark_used(self, key_ids: Collection[str], day: date) -> None:
        """Note that these keys were used on that day."""


class KeyWatch:
    """Keeps an arena's tokens up to date. Made and run in trio."""

    def __init__(
        self,
        source: KeySource,
        tokens: Tokens,
        hang_up: Callable[[BotId, Refused], None],
        news: News | None = None,
    ) -> None:
        """`source` must not wait for locks; `hang_up` closes a bot's stream, if it has one.

        Without `news` of where keys are kept it is looked there each second.
        """
        self._news = news or News(lambda: None)
        self._source = source
        self._tokens = tokens
        self._hang_up = hang_up
        # Unknown tokens are met outside of trio, where its current time cannot be asked for.
        self._now_s = trio.lowlevel.current_clock().current_time
        self._since_s = -math.inf
        self._look_ups = 0
        self._used: frozenset[str] = frozenset()
        self._troubled = False

    async def run(self) -> None:
        """Look every second until cancelled."""
        self._tokens.look_up = self.look_up
        while True:
            await trio.sleep(LOOK_S)
            await self.look()

    async def look(self) -> None:
        """Learn changes of the keys, and close the streams of bots whose keys they end."""
        self._used |= self._tokens.used_keys()
        if self._news() or self._used:
            await self._learn()
        for bot in self._tokens.doubtful():
            self._hang_up(bot, say_hello_again())

    async def _learn(self) -> None:
        try:
            changed = await trio.to_thread.run_sync(self._exchange, self._tokens.change)
        except StoreError as error:
            self._news.forget()
            self._trouble(error)
        else:
            self._troubled = False
            self._tokens.learn(changed)

    def look_up(self) -> bool:
        """Learn what has changed at once; false if that was not possible or done too often.

        This reads a few pages that are in memory, in well under a millisecond, and
        waits for no lock.
        """
        now_s = self._now_s()
        if now_s - self._since_s >= LOOK_S:
            self._since_s, self._look_ups = now_s, 0
        if self._look_ups == MAX_LOOK_UPS:
            return False
        self._look_ups += 1
        try:
            self._tokens.learn(self._source.changed_since(self._tokens.change))
        except StoreError as error:
            self._trouble(error)
            return False
        return True

    def _exchange(self, change: int) -> Sequence[Key]:
        changed = self._source.changed_since(change)
        if self._used:
            # Keys that were revoked are learnt even if the file cannot be written.
            with contextlib.suppress(StoreError):
                self._source.mark_used(self._used, datetime.now(UTC).date())
                self._used = frozenset()
        return changed

    def _trouble(self, error: StoreError) -> None:
        """Say once that the keys cannot be read; those that are known stay as they are."""
        if not self._troubled:
            fields = {"why": str(error)}
            _log.warning("keys that are made or revoked now are not seen", extra=fields)
        self._troubled = True


def say_hello_again() -> Refused:
    """The keys of a bot have changed; its token, if it still has one that is valid, will do."""
    text = "the keys of this bot have changed: say hello again"
    return Refused(grpc.StatusCode.UNAVAILABLE, "KEYS_CHANGED", text)
