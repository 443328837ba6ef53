"""Which version each remote bot says that it is, noted off the loop on which all bots wait."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final

import trio

from arena.server.bots import BotId
from arena.store import BotKind, Registry, StoreError

LOOK_S: Final = 1.0
MAX_VERSION_CHARS: Final = 64
"""Of what a bot says; the rest does not count."""
MAX_WAITING: Final = 10_000
"""Bots whose hello is not noted yet; there are never so many sessions."""

_log = logging.getLogger(__name__)


class RemoteVersions:
    """Hears every hello, and tells the registry. `heard` never blocks."""

    def __init__(self, registry: Registry, now: Callable[[], datetime]) -> None:
        """`now` gives the time in UTC."""
        self._registry = registry
        self._now = now
        self._waiting: dict[str, str] = {}
        """What each bot said last, by its name."""
        self._noted: dict[str, str] = {}
        """Of remote bots alone: guests call themselves what they like, and as often."""

    def heard(self, bot: BotId, said: str) -> None:
        """A bot has said hello, and which version it is."""
        said = said[:MAX_VERSION_CHARS]
        if self._noted.get(bot.name) != said and len(self._waiting) < MAX_WAITING:
            self._waiting[bot.name] = said

    async def run(self) -> None:
        """Note what was heard, time after time, until cancelled."""
        while True:
            await trio.sleep(LOOK_S)
            await self.look()

    async def look(self) -> None:
        """Note what was heard since the last look."""
        if not self._waiting:
            return
        heard, self._waiting = self._waiting, {}
        try:
            remote = frozenset(await trio.to_thread.run_sync(self._registry.names, BotKind.REMOTE))
        except StoreError as error:
            _log.warning("the remote bots cannot be read", extra={"why": str(error)})
            return
        for bot, said in heard.items():
            if bot not in remote:
                continue
            try:
                await trio.to_thread.run_sync(self._note, bot, said)
            except StoreError as error:
                fields = {"bot": bot, "why": str(error)}
                _log.warning("a remote bot's version cannot be noted", extra=fields)
            else:
                self._noted[bot] = said

    def _note(self, bot: str, said: str) -> None:
        self._registry.dialled_in(bot, said, now=self._now())
