"""Reloads keys that are made and revoked while the arena runs.

The arena never waits for the database when a bot connects or moves. Another thread reads the changes of keys once a
second. Between two such polls an unknown token makes the arena read them at once, so that a key works as soon as it is
made.
"""

import contextlib
import logging
import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

import trio

from arena.bots.bot_ids import BotId
from arena.bots.tokens import Tokens
from arena.errors.refused import Refused
from arena.store import ChangeDetector, Key, Keys, StoreError

POLL_S: Final = 1.0
MAX_LOOK_UPS: Final = 20
"""The maximal number of reads that unknown tokens may cause between two polls."""

_log = logging.getLogger(__name__)


class KeyReloader:
    """Keeps an arena's tokens up to date. Made and run in trio."""

    def __init__(
        self,
        source: Keys,
        tokens: Tokens,
        close_stream: Callable[[BotId, Refused], None],
        changes: ChangeDetector | None = None,
    ) -> None:
        """Keep tokens up to date.

        Args:
          source: The store of keys, which must not wait for locks; its calls may raise `StoreError`.
          changes: Detects changes of the store; without it the keys are read every second.
        """
        self._changes = changes or ChangeDetector(lambda: None)
        self._source = source
        self._tokens = tokens
        self._close_stream = close_stream
        # `look_up` is called outside of trio, where its current time cannot be read.
        self._now_s = trio.lowlevel.current_clock().current_time
        self._polled_s = -math.inf
        self._look_ups = 0
        self._used: frozenset[str] = frozenset()
        self._failing = False

    async def run(self) -> None:
        """Poll every second until cancelled."""
        self._tokens.look_up_with(self.look_up)
        while True:
            await trio.sleep(POLL_S)
            await self.poll()

    async def poll(self) -> None:
        """Read changes of the keys, and close the streams of bots whose keys have become invalid."""
        self._used |= self._tokens.used_keys()
        if self._changes() or self._used:
            await self._reload()
        for bot in self._tokens.doubtful():
            self._close_stream(bot, Refused("KEYS_CHANGED"))

    async def _reload(self) -> None:
        try:
            changed = await trio.to_thread.run_sync(self._exchange, self._tokens.change)
        except StoreError as error:
            self._changes.forget()
            self._log_failure(error)
        else:
            self._failing = False
            self._tokens.learn(changed)

    def look_up(self) -> bool:
        """Read changed keys at once; return false if that is not possible or was done too often.

        This reads a few cached pages in well under a millisecond, and does not wait for locks.
        """
        now_s = self._now_s()
        if now_s - self._polled_s >= POLL_S:
            self._polled_s, self._look_ups = now_s, 0
        if self._look_ups == MAX_LOOK_UPS:
            return False
        self._look_ups += 1
        try:
            self._tokens.learn(self._source.changed_since(self._tokens.change))
        except StoreError as error:
            self._log_failure(error)
            return False
        return True

    def _exchange(self, change: int) -> Sequence[Key]:
        changed = self._source.changed_since(change)
        if self._used:
            # Revoked keys take effect even if the file cannot be written.
            with contextlib.suppress(StoreError):
                self._source.mark_used(self._used, datetime.now(UTC).date())
                self._used = frozenset()
        return changed

    def _log_failure(self, error: StoreError) -> None:
        """Log once that the keys cannot be read; known keys stay as they are."""
        if not self._failing:
            fields = {"why": str(error)}
            _log.warning("keys that are made or revoked now are not seen", extra=fields)
        self._failing = True
