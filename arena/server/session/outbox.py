"""What a stream has still to send: filled at once, emptied by the writer task.

Asks that are ready together travel together: a run of asks becomes one frame.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from arena.referee import OpenAsk
from arena.server.counts import Counts
from arena.server.refusals import Refused
from arena.server.session.pump import Pump
from arena.wire.asks import asks_frame

MAX_FRAME_BYTES: Final = 120_000
"""A frame of asks is sealed before it grows past this; frames stay under 128 kB."""
LAG_S: Final = 0.001
"""Time that an ask may take from its stamp to the transport before it is stamped anew."""
MAX_QUEUED_BYTES: Final = 8 << 20
"""A stream whose bot does not read is closed when this much waits for it."""
MAX_WAITING_BYTES: Final = 512 << 20
"""While more than this waits for all bots together, a stream is closed when it has over its share."""
SHARE_BYTES: Final = 1 << 20
"""What may wait for one bot even then."""


class Postbox(Protocol):
    """Where a session posts what its bot is told: an `Outbox`, or one that keeps it in memory."""

    @property
    def closed(self) -> bool:
        """Whether nothing is taken any more."""
        ...

    @property
    def queued(self) -> tuple[int, int]:
        """Frames and bytes that wait to be sent."""
        ...

    def post(self, frame: bytes) -> None:
        """Take an encoded ArenaMessage."""
        ...

    def post_ask(self, element: bytes, ask: OpenAsk) -> None:
        """Take an ask."""
        ...

    def close(self, verdict: Refused | None = None) -> None:
        """Take nothing more; `verdict` is what the bot is told, None in order."""
        ...


class Outbox:
    """The queue between what posts and the one writer of a stream.

    Lives on the thread of the host loop. After `close` nothing is taken any
    more, and the writer ends once it has sent what was posted before.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        now_s: Callable[[], float],
        counts: Counts | None = None,
        pump: Pump | None = None,
    ) -> None:
        """An outbox whose writer is woken by `pump`, together with those of other streams."""
        self._counts = counts or Counts()
        self._pump = pump or Pump(loop, self._counts)
        self._loop = loop
        self._now_s = now_s
        self._frames: list[bytes] = []
        self._asks: list[bytes] = []
        self._asks_bytes = 0
        self._unstamped: list[OpenAsk] = []
        self._queued_bytes = 0
        self._handed: list[bytes] = []
        self._handed_bytes = 0
        """What the writer has taken, and is sending."""
        self.dropped = False
        self._waiter: asyncio.Future[None] | None = None
        self._writer_was_free = True
        self.closed = False
        self.closing: asyncio.Future[None] = loop.create_future()
        """Done once the outbox is closed."""
        self.verdict: Refused | None = None
        """Why the stream was closed, if not in order."""
        self.received_s = 0.0
        """When the answer came from which the first ask of the last `next` followed; 0 if none
        did, or if the bot kept the transport busy."""
        self._received_s = 0.0

    def post(self, frame: bytes) -> None:
        """Queue an encoded ArenaMessage."""
        if not self.closed:
            self._seal_asks()
            self._frames.append(frame)
            self._count(len(frame))

    def post_ask(self, element: bytes, ask: OpenAsk) -> None:
        """Queue an ask; `OpenAsk.sent` is called again when it is handed over."""
        if not self.closed:
            if self._asks_bytes + len(element) > MAX_FRAME_BYTES:
                self._seal_asks()
            if not self._unstamped:
                self._received_s = self._counts.received_s
            self._asks.append(element)
            self._unstamped.append(ask)
            self._asks_bytes += len(element)
            self._count(len(element))

    @property
    def queued(self) -> tuple[int, int]:
        """Frames and bytes that wait to be sent; asks that will share a frame count as one."""
        frames = len(self._handed) + len(self._frames) + bool(self._asks)
        return frames, self._handed_bytes + self._queued_bytes

    def close(self, verdict: Refused | None = None) -> None:
        """Take nothing more; `verdict` is what the bot is told, None in order."""
        if not self.closed:
            self.closed = True
            self.verdict = verdict
            if not self.closing.done():
                self.closing.set_result(None)
            self._wake()

    def drop(self) -> None:
        """Close, and send only what the transport already has."""
        self.close()
        self.dropped = True
        self._counts.waiting_bytes -= self._handed_bytes + self._queued_bytes
        self._handed_bytes = self._queued_bytes = 0
        self._handed.clear()  # the writer goes through this very list
        self._frames.clear()
        self._asks.clear()
        self._unstamped.clear()

    async def next(self) -> list[bytes]:
        """Wait for frames to send; empty when the outbox is closed and drained."""
        self._counts.waiting_bytes -= self._handed_bytes
        self._handed, self._handed_bytes = [], 0
        while not (self._frames or self._asks or self.closed):
            self._writer_was_free = True
            self._waiter = self._loop.create_future()
            await self._waiter
        self._seal_asks()
        frames, self._frames = self._frames, []
        self._handed, self._handed_bytes = frames, self._queued_bytes
        self._queued_bytes = 0
        self.received_s = 0.0
        if self._writer_was_free and self._unstamped:
            self.received_s = self._received_s
            # The arena took this long to get here, so the clocks start now. Had
            # the bot kept the transport busy, the wait would be its own.
            now_s = self._now_s()
            if now_s - self._unstamped[0].sent_s > LAG_S:
                for ask in self._unstamped:
                    ask.sent(now_s)
        self._unstamped.clear()
        self._writer_was_free = False
        return frames

    def _seal_asks(self) -> None:
        if self._asks:
            self._frames.append(asks_frame(self._asks))
            self._asks = []
            self._asks_bytes = 0

    def _count(self, size: int) -> None:
        self._queued_bytes += size
        self._counts.waiting_bytes += size
        waiting = self._queued_bytes + self._handed_bytes
        if waiting > SHARE_BYTES and (
            waiting > MAX_QUEUED_BYTES or self._counts.waiting_bytes > MAX_WAITING_BYTES
        ):
            self.close(_unread())
        elif self._waiter is not None:
            self._wake()

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None:
            self._pump.wake(waiter)


def _unread() -> Refused:
    import grpc

    text = "too much is waiting that the bot does not read"
    return Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "NOT_READING", text)
