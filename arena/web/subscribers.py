"""Feeds of server-sent events and their subscribers.

A piece of a feed is encoded once and written to all subscribers at its position. After the head of the
response the server hands the connection over, as for a websocket: a subscriber is a socket and a
position in the feed, without a task.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final

BATCH: Final = 50
"""The number of subscribers that are written to before other tasks of the loop run."""
_COMMENT: Final = b": here\n\n"

_log = logging.getLogger(__name__)


class Feed(ABC):
    """A sequence of messages that clients follow from any position, on one loop."""

    def __init__(self, *, slow_s: float, comment_s: float) -> None:
        """Begin without messages; the times are those of `Subscribers`."""
        self.over = False
        """Whether no further messages follow."""
        self.subscriptions = 0
        """The number of clients, with those whose connection is not handed over yet."""
        self.subscribers: Final = Subscribers(self, slow_s=slow_s, comment_s=comment_s)
        self._changed: asyncio.Future[None] | None = None

    def count(self, change: int) -> None:
        """Add to the number of clients."""
        self.subscriptions += change

    @property
    def changed(self) -> "asyncio.Future[None]":
        """Done at the next message, after which there is a new future."""
        if self._changed is None:
            self._changed = asyncio.get_running_loop().create_future()
        return self._changed

    def wake(self) -> None:
        """Complete `changed`: there is a new message, or the end."""
        changed, self._changed = self._changed, None
        if changed is not None and not changed.done():
            changed.set_result(None)

    @abstractmethod
    def join(self, number: int) -> tuple[bytes, int]:
        """The messages for a client that has those up to `number`, and the position after them."""

    @abstractmethod
    def since(self, position: int) -> tuple[bytes, int]:
        """The messages since a position, and the new position."""


class Subscriber(asyncio.Protocol):
    """The connection of a client that follows a feed. Bytes from the client are ignored."""

    __slots__ = (
        "_chunked",
        "_connections",
        "_cut",
        "_lost",
        "_subscribers",
        "_transport",
        "position",
    )

    def __init__(
        self,
        subscribers: "Subscribers",
        connections: set[Any],
        lost: Callable[[], None],
        *,
        chunked: bool,
    ) -> None:
        """`connections` are all those of the server; `lost` is called when this one is lost.

        `chunked` uses the transfer encoding of HTTP/1.1 for bodies without a length.
        """
        self.position = 0
        """Its position in the feed."""
        self._subscribers, self._connections, self._lost = subscribers, connections, lost
        self._chunked = chunked
        self._transport: asyncio.Transport | None = None
        self._cut: asyncio.TimerHandle | None = None
        """The timer that closes the connection; set while the write buffer is full."""

    @property
    def is_blocked(self) -> bool:
        """Whether its write buffer is full, so that nothing more is written."""
        return self._cut is not None

    def write(self, body: bytes) -> None:
        """Send a part of the body."""
        assert self._transport is not None
        self._transport.write(b"%x\r\n%b\r\n" % (len(body), body) if self._chunked else body)

    def end(self) -> None:
        """Send the end of the feed, and close the connection once the client has all."""
        assert self._transport is not None
        if self._chunked and not self._transport.is_closing():
            self._transport.write(b"0\r\n\r\n")
        self._transport.close()

    # Called by the loop, and by uvicorn when it stops.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Continue after the head of the response."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(self)
        transport.resume_reading()  # so that a disconnect is noticed
        if transport.get_write_buffer_size() > transport.get_write_buffer_limits()[1]:
            self.pause_writing()

    def pause_writing(self) -> None:
        """Stop writing, and close the connection if the client stays slow."""
        if self._cut is None:
            assert self._transport is not None
            self._cut = self._subscribers.cut_later(self._transport)

    def resume_writing(self) -> None:
        """Send the messages since then."""
        if self._cut is not None:
            self._cut.cancel()
            self._cut = None
        self._subscribers.catch_up(self)

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        """End the subscription."""
        if self._cut is not None:
            self._cut.cancel()
        self._subscribers.leave(self)
        self._connections.discard(self)
        self._lost()

    def shutdown(self) -> None:
        """End with the server; browsers reconnect."""
        self._subscribers.leave(self)
        self.end()


class Subscribers:
    """All connections of one feed, with one task while there are any."""

    def __init__(self, feed: Feed, *, slow_s: float, comment_s: float) -> None:
        """Begin without subscribers.

        Args:
          feed: The feed.
          slow_s: A client that reads nothing for so long is disconnected.
          comment_s: After so long without a message, a comment keeps connections open.
        """
        self._feed = feed
        self._slow_s, self._comment_s = slow_s, comment_s
        self._all: set[Subscriber] = set()
        self._task: asyncio.Task[None] | None = None
        self._pieces: dict[int, tuple[bytes, int]] = {}
        """The messages since each position."""
        self._pieces_until: object = None
        """The `changed` future of the feed until which `_pieces` are valid."""

    def join(self, subscriber: Subscriber, first: bytes, after: int) -> None:
        """Send `first`, the messages after number `after`, and all further ones."""
        body, subscriber.position = self._feed.join(after)
        self._all.add(subscriber)
        subscriber.write(first + body)
        self.catch_up(subscriber)  # ends it if the feed is over
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._send())

    def leave(self, subscriber: Subscriber) -> None:
        """Stop sending to a subscriber."""
        self._all.discard(subscriber)

    def cut_later(self, transport: asyncio.Transport) -> asyncio.TimerHandle:
        """Close a connection after `slow_s`, unless the timer is cancelled."""
        return asyncio.get_running_loop().call_later(self._slow_s, transport.abort)

    def catch_up(self, subscriber: Subscriber) -> None:
        """Send a subscriber all messages that it lacks, and the end; nothing while it is blocked."""
        if subscriber.is_blocked or subscriber not in self._all:
            return
        body, subscriber.position = self._since(subscriber.position)
        if body:
            subscriber.write(body)
        if self._feed.over and not subscriber.is_blocked:
            self.leave(subscriber)
            subscriber.end()

    def _since(self, position: int) -> tuple[bytes, int]:
        """The messages since a position, made once for all subscribers at it."""
        if self._pieces_until is not self._feed.changed:
            self._pieces_until = self._feed.changed
            self._pieces.clear()
        if position not in self._pieces:
            self._pieces[position] = self._feed.since(position)
        return self._pieces[position]

    async def _send(self) -> None:
        try:
            while self._all:
                changed = self._feed.changed
                await self._each(self.catch_up)
                if changed.done():
                    continue
                if self._feed.over:
                    return  # blocked subscribers continue in `resume_writing`
                if not (await asyncio.wait({changed}, timeout=self._comment_s))[0]:
                    await self._each(self._comment)
        except Exception:
            _log.exception("a feed fails")
            for subscriber in tuple(self._all):
                subscriber.shutdown()

    async def _each(self, send: Callable[[Subscriber], None]) -> None:
        present = tuple(self._all)
        for begin in range(0, len(present), BATCH):
            for subscriber in present[begin : begin + BATCH]:
                send(subscriber)
            await asyncio.sleep(0)

    def _comment(self, subscriber: Subscriber) -> None:
        if subscriber in self._all and not subscriber.is_blocked:
            subscriber.write(_COMMENT)
