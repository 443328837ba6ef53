"""Records which version each remote bot declares, without blocking the event loop."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Final

import trio

from arena.bots.bot_ids import BotId
from arena.store import BotKind, Registry, StoreError

POLL_S: Final = 1.0
MAX_VERSION_CHARS: Final = 64
"""Longer declarations are cut."""
MAX_WAITING: Final = 10_000
"""The maximal number of bots whose versions wait to be written; there are always fewer sessions."""

_log = logging.getLogger(__name__)


class RemoteVersions:
    """A queue of the versions of hellos, which are written to the registry. `note` never blocks."""

    def __init__(self, registry: Registry, now: Callable[[], datetime]) -> None:
        self._registry = registry
        self._now = now
        self._waiting: dict[str, str] = {}
        """The latest version of each bot, by its name."""
        self._written: dict[str, str] = {}
        """Written versions of remote bots; guests may use any name, and are not recorded."""

    def note(self, bot: BotId, version: str) -> None:
        version = version[:MAX_VERSION_CHARS]
        if self._written.get(bot.name) != version and len(self._waiting) < MAX_WAITING:
            self._waiting[bot.name] = version

    async def run(self) -> None:
        """Write versions every `POLL_S` seconds until cancelled."""
        while True:
            await trio.sleep(POLL_S)
            await self.write()

    async def write(self) -> None:
        """Write the versions that were noted since the last call."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, {}
        try:
            remote = frozenset(await trio.to_thread.run_sync(self._registry.names, BotKind.REMOTE))
        except StoreError as error:
            _log.warning("the remote bots cannot be read", extra={"why": str(error)})
            return
        for bot, version in waiting.items():
            if bot not in remote:
                continue
            try:
                await trio.to_thread.run_sync(self._dialled_in, bot, version)
            except Exception as error:  # the declaration of one bot must not stop others
                fields = {"bot": bot, "why": str(error)}
                exc_info = None if isinstance(error, StoreError) else error
                _log.warning(
                    "a remote bot's version cannot be recorded", extra=fields, exc_info=exc_info
                )
            else:
                self._written[bot] = version

    def _dialled_in(self, bot: str, version: str) -> None:
        self._registry.dialled_in(bot, version, now=self._now())
