"""What is played now: asked for once for all who look, and told again whenever it has changed."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from arena.web.audience import Audience
from arena.web.hall import FeedLimits, NoArena, Source, event
from cardarena.v1 import watch_pb2

FRESH_S: Final = 1.0
"""An answer of the arena that is this old is given again."""


class LiveList:
    """The list of one folder, and its feed. Lives on one loop.

    A message is the whole list, so whoever follows needs only the last one.
    """

    over = False
    """The list has no end."""

    def __init__(
        self,
        source: Source,
        drawn: Callable[[watch_pb2.ListLiveResponse | None], Any],
        every_s: float = 2.0,
        limits: FeedLimits | None = None,
    ) -> None:
        """`drawn` makes the list as a page has it; it is looked at every `every_s` while somebody follows."""
        limits = limits or FeedLimits()
        self.watchers = 0
        self.audience: Final = Audience(self, slow_s=limits.slow_s, comment_s=limits.comment_s)
        self._source, self._drawn, self._every_s = source, drawn, every_s
        self._asked_s = float("-inf")
        self._found: watch_pb2.ListLiveResponse | None = None
        self._told: watch_pb2.ListLiveResponse | None = None
        self._fresh = False
        """Whether what was told last was told to those who follow now."""
        self._number = 0
        self._body = b""
        self._task: asyncio.Task[None] | None = None
        self._changed: asyncio.Future[None] | None = None

    async def now(self) -> watch_pb2.ListLiveResponse | None:
        """What is played now; None where no arena answers."""
        now_s = asyncio.get_running_loop().time()
        if now_s - self._asked_s >= FRESH_S:
            self._asked_s = now_s
            try:
                self._found = await self._source.live()
            except NoArena:
                self._found = None
        return self._found

    # arena.web.audience.Followed

    @property
    def changed(self) -> "asyncio.Future[None]":
        """Done once the list has changed."""
        if self._changed is None:
            self._changed = asyncio.get_running_loop().create_future()
        return self._changed

    def join(self, number: int) -> tuple[bytes, int]:  # noqa: ARG002
        """The list as it is, whatever somebody had before, and the place to go on from."""
        if self._task is None or self._task.done():
            self._fresh = False  # nobody has looked for a while
            self._task = asyncio.create_task(self._look())
            return b"", self._number
        return self._body, self._number

    def since(self, place: int) -> tuple[bytes, int]:
        """The list if it has changed since a place, and the new place."""
        return (b"" if place == self._number else self._body), self._number

    async def _look(self) -> None:
        """Ask again and again, for as long as somebody follows."""
        while self.watchers:
            self._tell(await self.now())
            await asyncio.sleep(self._every_s)

    def _tell(self, found: watch_pb2.ListLiveResponse | None) -> None:
        if self._fresh and found == self._told:
            return
        self._told, self._fresh = found, True
        self._number += 1
        self._body = event("list", self._number, self._drawn(found))
        changed, self._changed = self._changed, None
        if changed is not None and not changed.done():
            changed.set_result(None)
