"""Who follows one thing, and by which connections: a piece of a feed is made once, and written to all.

A feed that has begun is no request any more: its connection is handed over by the server, as to a
websocket. A watcher is then a socket and a place in the feed, and no task waits for it.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final, Protocol

BATCH: Final = 50
"""Watchers that are written to at a time: whatever else waits here comes between."""
_COMMENT: Final = b": here\n\n"

_log = logging.getLogger(__name__)


class Followed(Protocol):
    """What can be followed: a feed's pieces, to go through by places."""

    watchers: int

    @property
    def audience(self) -> "Audience":
        """All who follow it."""
        ...

    @property
    def over(self) -> bool:
        """Whether nothing more comes."""
        ...

    @property
    def changed(self) -> "asyncio.Future[None]":
        """Done once there is more; another one then."""
        ...

    def join(self, number: int) -> tuple[bytes, int]:
        """What somebody needs who has the message `number`, and the place to go on from."""
        ...

    def since(self, place: int) -> tuple[bytes, int]:
        """What came since a place, and the new place."""
        ...


class Watcher(asyncio.Protocol):
    """The connection of somebody who follows something. Nothing that it says is read."""

    __slots__ = ("_audience", "_chunked", "_connections", "_cut", "_left", "_transport", "place")

    def __init__(
        self,
        audience: "Audience",
        connections: set[Any],
        left: Callable[[], None],
        *,
        chunked: bool,
    ) -> None:
        """`connections` are the server's, which this is one of; `left` is called when it is lost.

        `chunked` is how HTTP/1.1 sends what has no length.
        """
        self.place = 0
        """Where it goes on from in the feed."""
        self._audience, self._connections, self._left = audience, connections, left
        self._chunked = chunked
        self._transport: asyncio.Transport | None = None
        self._cut: asyncio.TimerHandle | None = None
        """When it is let go; set while it takes nothing."""

    @property
    def takes_nothing(self) -> bool:
        """Whether so much waits for it that no more is written."""
        return self._cut is not None

    def write(self, body: bytes) -> None:
        """Send a piece."""
        assert self._transport is not None
        self._transport.write(b"%x\r\n%b\r\n" % (len(body), body) if self._chunked else body)

    def end(self) -> None:
        """Say that nothing more comes, and hang up once it has all."""
        assert self._transport is not None
        if self._chunked and not self._transport.is_closing():
            self._transport.write(b"0\r\n\r\n")
        self._transport.close()

    # What the loop calls, and uvicorn when it stops.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Go on where the answer has begun."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(self)
        transport.resume_reading()  # so that it is seen to leave
        if transport.get_write_buffer_size() > transport.get_write_buffer_limits()[1]:
            self.pause_writing()

    def pause_writing(self) -> None:
        """Wait for it, but not for long."""
        if self._cut is None:
            assert self._transport is not None
            self._cut = self._audience.cut_later(self._transport)

    def resume_writing(self) -> None:
        """Send what came meanwhile."""
        if self._cut is not None:
            self._cut.cancel()
            self._cut = None
        self._audience.catch_up(self)

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        """Free its place."""
        if self._cut is not None:
            self._cut.cancel()
        self._audience.leave(self)
        self._connections.discard(self)
        self._left()

    def shutdown(self) -> None:
        """End with the server: a browser comes again by itself."""
        self._audience.leave(self)
        self.end()


class Audience:
    """All who follow one thing. Lives on one loop, and has a task for as long as there are any."""

    def __init__(self, followed: Followed, *, slow_s: float, comment_s: float) -> None:
        """Who takes nothing for `slow_s` is let go; a comment is sent when nothing else is for `comment_s`."""
        self._followed = followed
        self._slow_s, self._comment_s = slow_s, comment_s
        self._watchers: set[Watcher] = set()
        self._task: asyncio.Task[None] | None = None
        self._pieces: dict[int, tuple[bytes, int]] = {}
        """By place, what has come since it."""
        self._pieces_until: object = None
        """The change that ends what is known of places."""

    def join(self, watcher: Watcher, first: bytes, after: int) -> None:
        """Begin with `first`, and go on with what somebody needs who has the message `after`."""
        body, watcher.place = self._followed.join(after)
        self._watchers.add(watcher)
        watcher.write(first + body)
        self.catch_up(watcher)  # where the feed is over that was all
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._tell())

    def leave(self, watcher: Watcher) -> None:
        """Tell somebody no more."""
        self._watchers.discard(watcher)

    def cut_later(self, transport: asyncio.Transport) -> asyncio.TimerHandle:
        """Let a connection go that has taken nothing for too long, unless the timer is cancelled."""
        return asyncio.get_running_loop().call_later(self._slow_s, transport.abort)

    def catch_up(self, watcher: Watcher) -> None:
        """Send what somebody has not been told yet, if it takes anything, and the end after all."""
        if watcher.takes_nothing or watcher not in self._watchers:
            return
        body, watcher.place = self._since(watcher.place)
        if body:
            watcher.write(body)
        if self._followed.over and not watcher.takes_nothing:
            self.leave(watcher)
            watcher.end()

    def _since(self, place: int) -> tuple[bytes, int]:
        """What came since a place, made once for all who are there."""
        if self._pieces_until is not self._followed.changed:
            self._pieces_until = self._followed.changed
            self._pieces.clear()
        if place not in self._pieces:
            self._pieces[place] = self._followed.since(place)
        return self._pieces[place]

    async def _tell(self) -> None:
        try:
            while self._watchers:
                changed = self._followed.changed
                await self._each(self.catch_up)
                if changed.done():
                    continue
                if self._followed.over:
                    return  # who is behind goes on when it takes something
                if not (await asyncio.wait({changed}, timeout=self._comment_s))[0]:
                    await self._each(self._comment)
        except Exception:
            _log.exception("a feed fails")
            for watcher in tuple(self._watchers):
                watcher.shutdown()

    async def _each(self, tell: Callable[[Watcher], None]) -> None:
        everybody = tuple(self._watchers)
        for begin in range(0, len(everybody), BATCH):
            for watcher in everybody[begin : begin + BATCH]:
                tell(watcher)
            await asyncio.sleep(0)

    def _comment(self, watcher: Watcher) -> None:
        if watcher in self._watchers and not watcher.takes_nothing:
            watcher.write(_COMMENT)
