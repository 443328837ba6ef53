"""The play stream: bytes in, bytes out, one reader and one writer for its whole life.

Nothing here cancels a pending read or write to keep a clock: a cancelled read
ends the stream silently, and a write after a cancelled one fails.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError

from arena.referee import Unwritten
from arena.referee.causes import NOTED_S
from arena.server.arena import Arena
from arena.server.gate.access import token_of
from arena.server.gate.calls import Context, ends_with_its_call, fail, next_message, refuse
from arena.server.gate.limits import address_of
from arena.server.gate.traffic import MESSAGE_BYTES, Account
from arena.server.refusals import Refused, invalid, not_now, suspended
from arena.server.session.outbox import Outbox
from arena.server.session.pump import Pump
from arena.server.session.session import MAX_MESSAGE_BYTES, Session
from arena.server.watch import Watch
from cardarena.v1 import play_pb2

SERVICE: Final = "cardarena.v1.PlayService"
HELLO_S: Final = 5.0
"""A stream that has not said hello by then is closed."""
LAST_WORDS_S: Final = 1.0
"""Time for what is queued when a stream ends: its bot may have stopped reading."""


def play_handler(
    arena: Arena,
    flush: Callable[[], None],
    now_s: Callable[[], float],
    watch: Watch,
    *,
    walled: bool = False,
) -> grpc.GenericRpcHandler:
    """The handler of the play service.

    `flush` writes the journal, before anything that follows from it is sent; `walled` is whether
    it is served to jailed bots.
    """
    stream = _Play(arena, flush, now_s, watch, walled=walled)
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
        watch: Watch,
        *,
        walled: bool,
    ) -> None:
        self._walled = walled
        self._arena = arena
        self._watch = watch
        self._counts = watch.counts
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
        except Unwritten:  # the journal has said why to who runs the arena
            refuse(context, suspended())
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
        session = self._arena.hello(hello, outbox, address_of(peer), walled=self._walled)
        owner = self._arena.tokens.owner_of(session.bot.name)
        self._caused(owner, began_s, self._now_s())
        epoch = session.epoch
        self._watch.connected(session, peer)
        writer = asyncio.create_task(self._write(context, outbox))
        reader = asyncio.create_task(self._read(context, session, outbox, account, owner))
        # Neither is cancelled: the call is over, or its outbox is closed, and so they end by themselves.
        for task in (reader, writer):
            ends_with_its_call(task)
        try:
            ends = (reader, writer, outbox.closing)
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            reason = _why(reader, outbox)
            outbox.close()
            await asyncio.wait((writer,), timeout=LAST_WORDS_S)
            self._end(session, outbox, epoch, peer, reason)
            # A bot that does not read cannot even be told that this is the end. Its call stays
            # open, with nothing behind it, until the bot reads or hangs up.
            await asyncio.wait((writer,))
        finally:
            if not outbox.dropped:
                self._end(session, outbox, epoch, peer, reason)
        for task in (writer, reader):
            # What grpc says when the bot has hung up in mid-write is no error of ours.
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
        """Forget a stream, as far as the arena is concerned."""
        outbox.drop()
        self._arena.hung_up(session, outbox)
        self._watch.disconnected(session, epoch, peer, reason)

    async def _hello(self, context: Context) -> play_pb2.Hello:
        try:
            data = await next_message(context, HELLO_S)
        except TimeoutError:
            text = f"no hello came within {HELLO_S:.0f} s"
            raise Refused(grpc.StatusCode.DEADLINE_EXCEEDED, "NO_HELLO", text) from None
        if data is grpc.aio.EOF:
            raise not_now("NO_HELLO", "the stream ended before hello")
        if len(data) > MAX_MESSAGE_BYTES:
            raise _too_long(data)
        try:
            message = play_pb2.BotMessage.FromString(data)
        except DecodeError:
            raise invalid("MALFORMED", "the message could not be read") from None
        if message.WhichOneof("body") != "hello":
            raise not_now("NO_HELLO", "the first message must be hello")
        return message.hello

    async def _read(
        self, context: Context, session: Session, outbox: Outbox, account: Account, owner: str
    ) -> None:
        read, deliver, now_s = context.read, session.deliver, self._now_s
        counts = self._counts
        while True:
            data: Any = await read()
            if outbox.closed or data is grpc.aio.EOF:
                return
            counts.messages += 1
            account.received_bytes += len(data) + MESSAGE_BYTES
            if len(data) > MAX_MESSAGE_BYTES:
                outbox.close(_too_long(data))
                return
            counts.received_s = received_s = now_s()
            try:
                deliver(outbox, data, received_s)
            finally:
                counts.received_s = 0.0
            # Once for all answers of a message: what takes long is the bot's own doing.
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
                try:  # noqa: SIM105 - entering a context costs more, on the way of every move
                    await write(frame)
                except asyncio.InvalidStateError:
                    pass


def _nothing(owner: str, since_s: float, until_s: float) -> None:
    """What is told of works where no lateness is measured."""


def _too_long(data: bytes) -> Refused:
    text = f"a message of {len(data)} bytes came, and {MAX_MESSAGE_BYTES} are the most"
    return Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "MESSAGE_TOO_LONG", text)


def _why(reader: asyncio.Task[None], outbox: Outbox) -> str:
    """Why a stream has come to its end, in a word."""
    if outbox.verdict is not None:
        return outbox.verdict.reason
    if outbox.closed:
        return "ARENA_CLOSED"
    if reader.done() and not reader.cancelled() and reader.exception() is None:
        return "BOT_CLOSED"
    return "CUT_OFF"


__all__ = ["HELLO_S", "SERVICE", "play_handler"]
