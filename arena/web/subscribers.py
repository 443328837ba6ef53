"""Feeds of server-sent events and their subscribers.

A piece of a feed is encoded once and written to all subscribers at its position. After the head of the response the
server hands the connection over, like that of a WebSocket: a subscriber is a socket and a position in the feed, without
a task.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final

from starlette.types import Receive, Scope, Send

from arena.api.admission.http_connections import BoundedConnection

BATCH: Final = 50
"""The number of subscribers that are written to before other tasks of the loop run."""
EXTENSION: Final = "arena.connection"
"""The key of the connection in the `extensions` of a request's scope."""
_COMMENT: Final = b": here\n\n"

_log = logging.getLogger(__name__)


class Feed(ABC):
    """A sequence of messages that clients follow from any position, on one loop."""

    def __init__(self, *, slow_s: float, comment_s: float) -> None:
        """Begin without messages and subscribers.

        Args:
          slow_s: The seconds without reading after which a client is disconnected.
          comment_s: The seconds without a message after which a comment keeps connections open.
        """
        self.over = False
        """Whether no further messages follow."""
        self.subscriptions = 0
        """The number of clients, with those whose connection is not handed over yet."""
        self.changed: Final = asyncio.Event()
        """Set at a message and at the end; the task that sends them clears it."""
        self.slow_s: Final = slow_s
        self._comment_s = comment_s
        self._subscribers: set[Subscriber] = set()
        self._pieces: dict[int, tuple[bytes, int]] = {}
        """The messages since each position, until the next message."""
        self._sender: asyncio.Task[None] | None = None
        """Sends messages while there are subscribers."""

    @abstractmethod
    def join(self, number: int) -> tuple[bytes, int]:
        """Return the messages for a client that has those up to `number`, and the position after them."""

    @abstractmethod
    def since(self, position: int) -> tuple[bytes, int]:
        """Return the messages since a position, and the new position."""

    def count(self, change: int) -> None:
        """Add to the number of clients."""
        self.subscriptions += change

    def wake(self) -> None:
        """Send the new messages, or the end."""
        self._pieces.clear()
        self.changed.set()

    def attach(self, subscriber: "Subscriber", first: bytes, after: int) -> None:
        """Send `first`, the messages after number `after`, and all further ones."""
        body, subscriber.position = self.join(after)
        self._subscribers.add(subscriber)
        subscriber.write(first + body)
        self.catch_up(subscriber)  # this ends it if the feed is over
        if self._sender is None or self._sender.done():
            self._sender = asyncio.create_task(self._send())

    def leave(self, subscriber: "Subscriber") -> None:
        """Stop sending to a subscriber."""
        self._subscribers.discard(subscriber)

    def catch_up(self, subscriber: "Subscriber") -> None:
        """Send a subscriber all messages that it lacks, and the end; nothing while it is blocked."""
        if subscriber.is_blocked or subscriber not in self._subscribers:
            return
        if subscriber.position not in self._pieces:
            self._pieces[subscriber.position] = self.since(subscriber.position)
        body, subscriber.position = self._pieces[subscriber.position]
        if body:
            subscriber.write(body)
        if self.over and not subscriber.is_blocked:
            subscriber.shutdown()

    async def _send(self) -> None:
        try:
            while self._subscribers:
                self.changed.clear()
                await self._each(self.catch_up)
                if self.over and not self.changed.is_set():
                    return  # blocked subscribers continue in `resume_writing`
                try:
                    async with asyncio.timeout(self._comment_s):
                        await self.changed.wait()
                except TimeoutError:
                    await self._each(self._comment)
        except Exception:
            _log.exception("a feed fails")
            for subscriber in tuple(self._subscribers):
                subscriber.shutdown()

    async def _each(self, send: "Callable[[Subscriber], None]") -> None:
        present = tuple(self._subscribers)
        for begin in range(0, len(present), BATCH):
            for subscriber in present[begin : begin + BATCH]:
                send(subscriber)
            await asyncio.sleep(0)

    def _comment(self, subscriber: "Subscriber") -> None:
        if subscriber in self._subscribers and not subscriber.is_blocked:
            subscriber.write(_COMMENT)


class Subscriber(asyncio.Protocol):
    """The connection of a client that follows a feed. Bytes from the client are ignored."""

    __slots__ = ("_chunked", "_connections", "_cut", "_feed", "_lost", "_transport", "position")

    def __init__(
        self, feed: Feed, connections: set[Any], lost: Callable[[], None], *, chunked: bool
    ) -> None:
        """`connections` are all those of the server; `lost` is called when this one is lost.

        `chunked` uses the transfer encoding of HTTP/1.1 for bodies without a length.
        """
        self.position = 0
        """Its position in the feed."""
        self._feed, self._connections, self._lost = feed, connections, lost
        self._chunked = chunked
        self._transport: asyncio.Transport
        self._cut: asyncio.TimerHandle | None = None
        """The timer that closes the connection; set while the write buffer is full."""

    @property
    def is_blocked(self) -> bool:
        """Whether its write buffer is full, so that nothing more is written."""
        return self._cut is not None

    def write(self, body: bytes) -> None:
        """Send a part of the body."""
        self._transport.write(b"%x\r\n%b\r\n" % (len(body), body) if self._chunked else body)

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
            loop = asyncio.get_running_loop()
            self._cut = loop.call_later(self._feed.slow_s, self._transport.abort)

    def resume_writing(self) -> None:
        """Send the messages since then."""
        if self._cut is not None:
            self._cut.cancel()
            self._cut = None
        self._feed.catch_up(self)

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        """End the subscription."""
        if self._cut is not None:
            self._cut.cancel()
        self._feed.leave(self)
        self._connections.discard(self)
        self._lost()

    def shutdown(self) -> None:
        """Send the end, and close the connection when the client has received all bytes; browsers reconnect if the feed is not over."""
        self._feed.leave(self)
        if self._chunked and not self._transport.is_closing():
            self._transport.write(b"0\r\n\r\n")
        self._transport.close()


class _HandedOver(ConnectionError):
    pass


class HandoverConnection(BoundedConnection):
    """An HTTP connection of uvicorn, until it is handed over to another protocol after the head of a response."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application find the connection in the scope."""
        scope.setdefault("extensions", {})[EXTENSION] = self
        await super().answer(scope, receive, send)

    def _unsupported_upgrade_warning(self) -> None:
        """Log nothing: a WebSocket is passed on after the head (`arena.web.sockets`), and any client can ask for one."""

    def hand_over(self, protocol: asyncio.Protocol) -> bool:
        """Give the transport to `protocol`; return False if it is closing.

        Earlier bytes are sent first. To uvicorn this is a disconnect, so it drops the request.
        """
        transport = self.transport
        if transport.is_closing():
            return False
        self.connection_lost(_HandedOver())
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        return True
