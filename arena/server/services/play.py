"""The play stream: a reader task, and a writer task that sends what the session queues in an `Outbox`.

Both tasks last from start to end. No pending read or write is cancelled for a time limit: a cancelled read ends the
stream silently, and a write after a cancelled one fails.

A run of asks becomes one frame.

The writers of all streams are woken together, once the host loop has nothing more to read. gRPC delivers messages in
every second turn of the loop. A writer that sent at once would send small frames, and small frames cause small ones:
few asks get few answers. So writers wait while messages arrive, and their frames share one write of the journal.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError

from arena.referee import OpenAsk, Unwritten
from arena.referee.pause_causes import NOTED_S
from arena.server.admission.access import token_of
from arena.server.admission.calls import ends_with_its_call, fail, next_message, refuse
from arena.server.admission.limits import Context, address_of
from arena.server.arena import Arena
from arena.server.metrics import Counts, Metrics, TrafficAccount
from arena.server.refusals import Refused
from arena.server.session.limits import MAX_MESSAGE_BYTES
from arena.server.session.session import Session
from arena.server.session.stream import MAX_FRAME_BYTES
from arena.wire.fields import asks_frame
from cardarena.v1 import play_pb2

SERVICE: Final = "cardarena.v1.PlayService"
HELLO_S: Final = 5.0
"""A stream without a hello is closed after this time, in seconds."""
FLUSH_S: Final = 1.0
"""Time in seconds to send queued frames when a stream ends, as its bot may not read."""
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


def play_handler(
    arena: Arena,
    flush: Callable[[], None],
    now_s: Callable[[], float],
    metrics: Metrics,
    *,
    sandboxed: bool = False,
) -> grpc.GenericRpcHandler:
    """The handler of the play service.

    `flush` writes the journal to its file, which happens before frames are sent. `sandboxed` says whether the service
    is for sandboxed bots.
    """
    stream = _Play(arena, flush, now_s, metrics, sandboxed=sandboxed)
    method: Any = grpc.stream_stream_rpc_method_handler(stream.play)
    handler: grpc.GenericRpcHandler = grpc.method_handlers_generic_handler(
        SERVICE, {"Play": method}
    )
    return handler


class _Play:
    def __init__(
        self,
        arena: Arena,
        flush: Callable[[], None],
        now_s: Callable[[], float],
        metrics: Metrics,
        *,
        sandboxed: bool,
    ) -> None:
        self._sandboxed = sandboxed
        self._arena = arena
        self._metrics = metrics
        self._counts = metrics.counts
        self._flush = flush
        self._now_s = now_s
        self._caused = arena.lag.caused if arena.lag is not None else _nothing
        self._pump: Pump | None = None

    async def play(self, _: object, context: Context) -> None:
        """Serve one stream to its end."""
        try:
            await self._serve(context)
        except Refused as refused:
            refuse(context, refused)
        except Unwritten:  # logged by the journal
            refuse(context, Refused("SUSPENDED"))
        except Exception:
            fail(context, "Play")

    async def _serve(self, context: Context) -> None:
        account = self._arena.limits.stream(context)
        hello = await self._hello(context)
        account.spoke()
        hello.token = token_of(hello.token, context.invocation_metadata() or ())
        outbox = self._outbox()
        began_s = self._now_s()
        peer, reason = context.peer(), "CUT_OFF"
        session = self._arena.hello(hello, outbox, address_of(peer), sandboxed=self._sandboxed)
        owner = self._arena.tokens.owner_of(session.bot.name)
        self._caused(owner, began_s, self._now_s())
        epoch = session.epoch
        self._metrics.connected(session.bot, epoch, peer)
        writer = asyncio.create_task(self._write(context, outbox))
        reader = asyncio.create_task(self._read(context, session, outbox, account, owner))
        # They are not cancelled: they end by themselves once the call or its outbox is closed.
        for task in (reader, writer):
            ends_with_its_call(task)
        try:
            ends = (reader, writer, outbox.closing)
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            reason = _why(reader, outbox)
            outbox.close()
            await asyncio.wait((writer,), timeout=FLUSH_S)
            self._end(session, outbox, epoch, peer, reason)
            # The end of the stream cannot be sent to a bot that does not read. Its call stays open,
            # without a session, until the bot reads or closes it.
            await asyncio.wait((writer,))
        finally:
            if not outbox.dropped:
                self._end(session, outbox, epoch, peer, reason)
        for task in (writer, reader):
            # gRPC raises these if the bot closes the stream during a write, which is no error.
            with contextlib.suppress(asyncio.CancelledError, grpc.aio.BaseError):
                if task.done():
                    task.result()
        if outbox.verdict is not None:
            raise outbox.verdict

    def _outbox(self) -> Outbox:
        loop = asyncio.get_running_loop()
        self._pump = self._pump or Pump(loop, self._counts)
        return Outbox(loop, self._now_s, self._counts, self._pump)

    def _end(self, session: Session, outbox: Outbox, epoch: int, peer: str, reason: str) -> None:
        """Detach a stream from its session, and count it as closed."""
        outbox.drop()
        self._arena.hung_up(session, outbox)
        self._metrics.disconnected(session.bot, epoch, peer, reason)

    async def _hello(self, context: Context) -> play_pb2.Hello:
        try:
            data = await next_message(context, HELLO_S)
        except TimeoutError:
            raise Refused("NO_HELLO", f"none in {HELLO_S:.0f} s", late=True) from None
        if data is grpc.aio.EOF:
            raise Refused("NO_HELLO", "it ended before")
        if len(data) > MAX_MESSAGE_BYTES:
            raise _too_long(data)
        try:
            message = play_pb2.BotMessage.FromString(data)
        except DecodeError:
            raise Refused("MALFORMED") from None
        if (body := message.WhichOneof("body")) != "hello":
            raise Refused("NO_HELLO", f"the first message is {body}")
        return message.hello

    async def _read(
        self,
        context: Context,
        session: Session,
        outbox: Outbox,
        account: TrafficAccount,
        owner: str,
    ) -> None:
        read, deliver, now_s = context.read, session.incoming.deliver, self._now_s
        arrived, delivered = self._counts.message_came, self._counts.message_delivered
        while True:
            data: Any = await read()
            if outbox.closed or data is grpc.aio.EOF:
                return
            size = len(data)
            account.received(size)
            received_s = now_s()
            arrived(received_s)
            try:
                if size > MAX_MESSAGE_BYTES:
                    outbox.close(_too_long(data))
                    return
                deliver(outbox, data, received_s)
            finally:
                delivered()
            # Once for all answers of a message: the bot caused the time that they take.
            if (done_s := now_s()) - received_s >= NOTED_S:
                self._caused(owner, received_s, done_s)

    async def _write(self, context: Context, outbox: Outbox) -> None:
        write, flush, now_s = context.write, self._flush, self._now_s
        turnaround = self._counts.turnaround
        while frames := await outbox.next():
            flush()
            if outbox.received_s:
                turnaround.observe(now_s() - outbox.received_s)
            for frame in frames:
                try:  # noqa: SIM105 - a context manager costs more, for every move
                    await write(frame)
                except asyncio.InvalidStateError:
                    pass


def _nothing(owner: str, since_s: float, until_s: float) -> None:
    """Ignore how long a message took, where lateness is not measured."""


def _too_long(data: bytes) -> Refused:
    detail = f"it has {len(data)} bytes, and the limit is {MAX_MESSAGE_BYTES}"
    return Refused("MESSAGE_TOO_LONG", detail)


def _why(reader: asyncio.Task[None], outbox: Outbox) -> str:
    """Why a stream has ended, as a label."""
    if outbox.verdict is not None:
        return outbox.verdict.reason
    if outbox.closed:
        return "ARENA_CLOSED"
    if reader.done() and not reader.cancelled() and reader.exception() is None:
        return "BOT_CLOSED"
    return "CUT_OFF"
