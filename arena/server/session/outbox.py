"""The outbox of a stream: a queue that the session fills and the writer task empties.

A run of asks becomes one frame.

The writers of all streams are woken together, once the host loop has nothing more to read. gRPC delivers messages in
every second turn of the loop. A writer that sent at once would send small frames, and small frames cause small ones:
few asks get few answers. So writers wait while messages arrive, and their frames share one write of the journal.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from arena.referee import OpenAsk
from arena.server.counts import Counts
from arena.server.refusals import Refused
from arena.wire.fields import asks_frame
from cardarena.v1 import play_pb2

MAX_FRAME_BYTES: Final = 120_000
"""Largest frame of asks; frames stay under 128 kB."""
LAG_S: Final = 0.001
"""If an ask takes longer from its time stamp to the transport, it is stamped again."""
MAX_QUEUED_BYTES: Final = 8 << 20
"""Bytes that may wait for one bot; its stream is closed if more do."""
MAX_WAITING_BYTES: Final = 512 << 20
"""While more than this waits for all bots together, a stream with more than `SHARE_BYTES` is closed."""
SHARE_BYTES: Final = 1 << 20
"""Bytes that may wait for one bot even then."""
QUIET_TURNS: Final = 3
"""Turns of the loop in a row without a message after which writers are woken."""
MOST_TURNS: Final = 24
"""Most turns of the loop that a writer waits, however many messages arrive."""


class Postbox(Protocol):
    """Where a session posts messages to its bot: an `Outbox`, or a double that keeps them in memory."""

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        ...

    @property
    def queued(self) -> tuple[int, int]:
        """Frames and bytes that wait to be sent."""
        ...

    def post(self, frame: bytes) -> None:
        """Queue an encoded ArenaMessage."""
        ...

    def post_ask(self, element: bytes, ask: OpenAsk) -> None:
        """Queue an ask."""
        ...

    def close(self, verdict: Refused | None = None) -> None:
        """Queue nothing more. `verdict` is the error that the bot is sent; None ends the stream without one."""
        ...


class Pump:
    """Wakes the writers of all streams of an arena. Used on the thread of the host loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, counts: Counts) -> None:
        """`counts.messages` counts the messages that arrive."""
        self._loop = loop
        self._counts = counts
        self._waiters: list[asyncio.Future[None]] = []
        self._seen = 0
        """Messages that had arrived at the last turn."""
        self._quiet = 0
        self._turns = 0

    def wake(self, waiter: asyncio.Future[None]) -> None:
        """Set the future of a writer that has frames to send, together with the others."""
        self._waiters.append(waiter)
        if len(self._waiters) == 1:
            self._seen, self._quiet, self._turns = self._counts.messages, 0, 0
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        self._turns += 1
        messages = self._counts.messages
        if messages == self._seen:
            self._quiet += 1
        else:
            self._seen, self._quiet = messages, 0
        if self._quiet < QUIET_TURNS and self._turns < MOST_TURNS:
            self._loop.call_soon(self._turn)
            return
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)


class Outbox:
    """The queue between a session and the writer of its stream.

    Used on the thread of the host loop. After `close` it queues nothing more, and the writer ends once it has sent
    everything that was queued before.
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
        """Bytes that the writer has taken and is sending."""
        self.dropped = False
        self._waiter: asyncio.Future[None] | None = None
        self._writer_was_free = True
        self.closed = False
        self.closing: asyncio.Future[None] = loop.create_future()
        """Done once the outbox is closed."""
        self.verdict: Refused | None = None
        """Why the stream was closed, if not in order."""
        self.received_s = 0.0
        """When the answer arrived that the first ask of the last `next` follows; 0 if it follows no
        answer, or if the bot kept the transport busy."""
        self._received_s = 0.0

    def post(self, frame: bytes) -> None:
        """Queue an encoded ArenaMessage."""
        if not self.closed:
            self._seal_asks()
            self._frames.append(frame)
            self._count(len(frame))

    def post_ask(self, element: bytes, ask: OpenAsk) -> None:
        """Queue an ask; `OpenAsk.sent` is called again when the writer takes it."""
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
        """Queue nothing more. `verdict` is the error that the bot is sent; None ends the stream without one."""
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
        self._counts.waits(-self._handed_bytes - self._queued_bytes)
        self._handed_bytes = self._queued_bytes = 0
        self._handed.clear()  # the writer iterates over this list
        self._frames.clear()
        self._asks.clear()
        self._unstamped.clear()

    async def next(self) -> list[bytes]:
        """Wait for frames to send; empty when the outbox is closed and drained."""
        if self._handed_bytes:
            self._counts.waits(-self._handed_bytes)
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
            # The arena itself took this long, so the clocks start now. While the bot keeps the
            # transport busy, its own clock runs.
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
        of_all = self._counts.waits(size)
        waiting = self._queued_bytes + self._handed_bytes
        if waiting > SHARE_BYTES and (waiting > MAX_QUEUED_BYTES or of_all > MAX_WAITING_BYTES):
            self.close(Refused("NOT_READING"))
        elif self._waiter is not None:
            self._wake()

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None:
            self._pump.wake(waiter)


class CurrentStream:
    """The newest stream of a bot, where its messages are posted. Without a stream they are dropped."""

    __slots__ = ("outbox",)

    def __init__(self) -> None:
        self.outbox: Postbox | None = None
        """The outbox of the newest stream; None while no stream is open."""

    @property
    def queued(self) -> tuple[int, int]:
        """Frames and bytes that wait to be sent."""
        return (0, 0) if self.outbox is None else self.outbox.queued

    def attach(self, outbox: Postbox) -> None:
        """Use this stream from now on; an older one is closed."""
        if self.outbox is not None:
            self.outbox.close(Refused("TAKEN_OVER"))
        self.outbox = outbox

    def detach(self, outbox: Postbox) -> bool:
        """A stream has ended; false if it was not the newest."""
        if self.outbox is not outbox:
            return False
        self.outbox = None
        return True

    def post(self, frame: bytes) -> None:
        """Post an encoded ArenaMessage."""
        if self.outbox is not None:
            self.outbox.post(frame)

    def send(self, message: play_pb2.ArenaMessage) -> bool:
        """Encode a message and post it; false if no stream is open."""
        if self.outbox is None:
            return False
        self.outbox.post(message.SerializeToString())
        return True

    def close(self, verdict: Refused | None = None) -> None:
        """Close the stream, with an error if there is a verdict."""
        if self.outbox is not None:
            self.outbox.close(verdict)
