"""The play stream: a reader task, and a writer task that sends what the session queues in an `Outbox`.

Both tasks last from start to end. No pending read or write is cancelled for a time limit: a cancelled read ends the
stream silently, and a write after a cancelled one fails.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError

from arena.api.admission.access import token_of
from arena.api.admission.calls import ends_with_its_call, fail, next_message, refuse
from arena.durable_files import Unwritten
from arena.errors.refused import Refused
from arena.live.arena import Arena
from arena.live.limits import Context, address_of
from arena.live.metrics import Metrics, TrafficAccount
from arena.live.session.limits import MAX_MESSAGE_BYTES
from arena.live.session.messages import Outbox, Pump
from arena.live.session.session import Session
from arena.referee.clock import NOTED_S
from cardarena.v1 import play_pb2

SERVICE: Final = "cardarena.v1.PlayService"
HELLO_S: Final = 5.0
"""A stream without a hello is closed after this time, in seconds."""
FLUSH_S: Final = 1.0
"""The longest time in seconds for sending queued frames when a stream ends, because its bot may not read."""


def play_handler(
    arena: Arena,
    flush: Callable[[], None],
    now_s: Callable[[], float],
    metrics: Metrics,
    *,
    sandboxed: bool = False,
) -> grpc.GenericRpcHandler:
    """Return the handler of the play service.

    `flush` writes the journal to its file before frames are sent. `sandboxed` says whether the service is for sandboxed
    bots.
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
        self._worked = arena.lag.worked if arena.lag is not None else _nothing
        self._pump: Pump | None = None

    async def play(self, _: object, context: Context) -> None:
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
        self._worked(owner, began_s, self._now_s())
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
            # The time of all answers of a message is noted together: the bot caused it.
            if (done_s := now_s()) - received_s >= NOTED_S:
                self._worked(owner, received_s, done_s)

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
    """Return why a stream has ended, as a label."""
    if outbox.verdict is not None:
        return outbox.verdict.reason
    if outbox.closed:
        return "ARENA_CLOSED"
    if reader.done() and not reader.cancelled() and reader.exception() is None:
        return "BOT_CLOSED"
    return "CUT_OFF"
