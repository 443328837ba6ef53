"""The feed of the list of matches in play: one poll of the arena serves all subscribers."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from arena.web.arena_source import ArenaBusy, ArenaSource, NoArena
from arena.web.event_hub import FeedLimits, event
from arena.web.live_table import NO_TABLES, UNKNOWN_LIVE, Tables
from arena.web.page import Json
from arena.web.subscribers import Feed
from cardarena.v1 import watch_pb2

FRESH_S: Final = 1.0
"""Seconds for which an answer of the arena is reused."""


class LiveList(Feed):
    """The list of matches in play, and of those that ended last, in one data folder, and its feed, which has no end.

    A message is the whole list, so a subscriber needs only the last one.
    """

    def __init__(
        self,
        source: ArenaSource,
        drawn: Callable[[watch_pb2.ListLiveResponse | None, Sequence[Json], Tables], Any],
        ended: Callable[[], Awaitable[Sequence[Json]]],
        tables: Callable[[watch_pb2.ListLiveResponse | None], Tables] = lambda _: NO_TABLES,
        every_s: float = 2.0,
        limits: FeedLimits | None = None,
    ) -> None:
        """`drawn` draws the list, and `ended` finds the matches that ended last, `tables` the cards on those in play; the arena is polled every `every_s` while there are subscribers."""
        limits = limits or FeedLimits()
        super().__init__(slow_s=limits.slow_s, comment_s=limits.comment_s)
        self._source, self._drawn, self._ended, self._every_s = source, drawn, ended, every_s
        self._tables = tables
        self._polled_s = float("-inf")
        self._found: watch_pb2.ListLiveResponse | None = None
        self._sent: object = None
        """What the message shows; None while there is none."""
        self._body = b""
        self._number = 0
        self._poller: asyncio.Task[None] | None = None

    async def now(self) -> watch_pb2.ListLiveResponse | None:
        """Return the matches in play; None if no arena answers. While the arena is busy, the previous list is returned."""
        now_s = asyncio.get_running_loop().time()
        if now_s - self._polled_s >= FRESH_S:
            self._polled_s = now_s
            try:
                self._found = await self._source.live()
            except NoArena:
                self._found = None
            except ArenaBusy:
                self._found = UNKNOWN_LIVE if self._found is None else self._found
        return self._found

    def join(self, number: int) -> tuple[bytes, int]:  # noqa: ARG002
        """Return the present list, if it is known, and the position to continue from."""
        if self._poller is None or self._poller.done():
            self._poller = asyncio.create_task(self._poll())
        return self._body, self._number

    def since(self, position: int) -> tuple[bytes, int]:
        """Return the list if it has changed since a position, and the new position."""
        return (b"" if position == self._number else self._body), self._number

    async def _poll(self) -> None:
        while self.subscriptions:
            in_play = await self.now()
            shown = in_play, await self._ended(), self._tables(in_play)
            if shown != self._sent:
                self._sent = shown
                self._number += 1
                self._body = event("list", self._number, self._drawn(*shown))
                self.wake()
            await asyncio.sleep(self._every_s)
        self._sent, self._body = None, b""  # later messages would be older than this time
