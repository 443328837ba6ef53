"""What every call passes: our own parsing, and no text of an error of ours.

gRPC for Python sends `str(exception)` to the client, and a parser's text for
bytes that it cannot read. Here a refusal keeps its words, and everything else
becomes a fixed text with an incident number that stands in the log.
"""

import asyncio
import functools
import inspect
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError

from arena.server.gate.access import CALLS, Access, authorise
from arena.server.gate.limits import CallLimits
from arena.server.gate.loop_time import each_timed, timed
from arena.server.gate.tokens import Tokens
from arena.server.gate.traffic import MESSAGE_BYTES, Account, Traffic
from arena.server.refusals import Refused, invalid

_log = logging.getLogger(__name__)
REQUEST_S: Final = 5.0
"""A call whose request has not come by then is refused."""
INTERNAL_TEXT: Final = "the arena made a mistake; it is logged as incident"

Handler = Any
"""grpc.RpcMethodHandler: a named tuple that grpc does not type."""
Context = grpc.aio.ServicerContext[Any, Any]
Caused = Callable[[str, float, float], None]
"""Is told whose call had the loop, from when to when."""


async def next_message(context: Context, within_s: float) -> Any:
    """The next message of a call, as bytes, or `grpc.aio.EOF`.

    It is read in a task of its own, which is never cancelled: with the call it ends by itself. gRPC keeps
    what belongs to a read that is cancelled for good (docs/reliability/soak.md).

    Raises:
      TimeoutError: if none came in time.
    """
    reading = asyncio.ensure_future(context.read())
    ends_with_its_call(reading)
    if not (await asyncio.wait((reading,), timeout=within_s))[0]:
        raise TimeoutError
    return reading.result()


def ends_with_its_call(task: asyncio.Future[Any]) -> None:
    """Have nobody told of how a task ends that may outlast what serves its call."""
    task.add_done_callback(lambda done: done.cancelled() or done.exception())


def refuse(context: Context, refused: Refused) -> None:
    """Have a call end with a refusal, once what serves it returns; an answer is not sent then.

    `context.abort` would do both, and keeps some hundred bytes of every call that ends so, which
    nothing ever gives back (docs/reliability/soak.md).
    """
    context.set_trailing_metadata(refused.trailing_metadata())
    context.set_code(refused.code)
    context.set_details(refused.text)


def fail(context: Context, call: str) -> None:
    """Have a call end after an error of ours, within an `except` block, as `refuse` does."""
    incident = secrets.token_hex(4)
    _log.exception("an error in a call", extra={"incident": incident, "call": call})
    text = f"{INTERNAL_TEXT} {incident}"
    refuse(context, Refused(grpc.StatusCode.INTERNAL, "INCIDENT", text))


class CallInterceptor(grpc.aio.ServerInterceptor):
    """The call interceptor: authorises every call, and reads the message of unary requests.

    A call with one request message is given to grpc as one that streams requests. The
    wire is the same, but grpc would wait for that message without any time limit.
    """

    def __init__(
        self,
        tokens: Tokens,
        limits: CallLimits | None = None,
        *,
        own_call: str = "",
        now_s: Callable[[], float] = time.monotonic,
        caused: Caused | None = None,
    ) -> None:
        """`own_call` is the name of a call that only the arena itself knows, and may make.

        `caused` is told, by the clock `now_s`, when the calls of an owner of keys kept the loop.
        """
        self._tokens = tokens
        self._limits = limits or CallLimits()
        self._own_call = own_call
        self._now_s = now_s
        self._caused = caused

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        call = handler_call_details.method
        if call == self._own_call:
            return await continuation(handler_call_details)
        access = CALLS.get(call)
        if access is None:
            return None  # then grpc says that there is no such call
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        try:
            metadata = handler_call_details.invocation_metadata or ()
            caller = authorise(access, metadata, self._tokens)
        except Refused as refused:
            return _refusing(handler, refused, self._limits.traffic)
        if access is Access.HELLO:
            return handler  # Play judges the token of `hello` itself
        # What is submitted takes room on the disk, and is refused with what only looks.
        looks = access in (Access.READ, Access.WATCH, Access.OWN, Access.OVERSEE)
        enter = functools.partial(self._limits.call, looks=looks, name=call, caller=caller)
        if handler.request_streaming and not handler.response_streaming:
            parse = handler.request_deserializer or bytes
            told = _with_requests(handler.stream_unary, parse, call, enter)
            return grpc.stream_unary_rpc_method_handler(
                self._timed(told, caller.owner), response_serializer=handler.response_serializer
            )
        if handler.request_streaming:
            entered = self._timed(_entered(handler, enter), caller.owner)
            return handler._replace(stream_stream=entered)
        parse = handler.request_deserializer or bytes
        write = handler.response_serializer
        if handler.response_streaming:
            answering: Callable[..., Any] = _many_answers
            if inspect.iscoroutinefunction(handler.unary_stream):
                answering = _one_answer  # it writes its messages itself, as health's Watch does
            stream = _with_request(answering(handler.unary_stream, parse, call), enter)
            stream = self._timed(stream, caller.owner)
            return grpc.stream_stream_rpc_method_handler(stream, response_serializer=write)
        unary = _with_request(_one_answer(handler.unary_unary, parse, call), enter)
        unary = self._timed(unary, caller.owner)
        return grpc.stream_unary_rpc_method_handler(unary, response_serializer=write)

    def _timed(self, behave: Callable[[Any, Context], Any], owner: str) -> Callable[..., Any]:
        """The same call, with what it takes of the loop told of its owner, if it has one."""
        if self._caused is None or not owner:
            return behave
        now_s, note = self._now_s, functools.partial(self._caused, owner)
        if inspect.isasyncgenfunction(behave):

            async def stream(requests: object, context: Context) -> AsyncIterator[Any]:
                async for message in each_timed(behave(requests, context), now_s, note):
                    yield message

            return stream

        async def unary(requests: object, context: Context) -> Any:
            return await timed(behave(requests, context), now_s, note)

        return unary


def _refusing(handler: Handler, refused: Refused, traffic: Traffic) -> Handler:
    """A handler of the same kind that says no before it reads anything."""

    async def deny(_: object, context: Context) -> None:
        traffic.account(context.peer())  # as a call that never speaks
        refuse(context, refused)

    if handler.response_streaming:
        return grpc.stream_stream_rpc_method_handler(deny)
    return grpc.stream_unary_rpc_method_handler(deny)


def _entered(handler: Handler, enter: Callable[[Context], Account]) -> Callable[..., Any]:
    """What serves a stream that is counted, and refused if there are too many."""
    behave = handler.stream_stream

    async def entered(requests: object, context: Context) -> AsyncIterator[Any]:
        try:
            enter(context).spoke()  # it reads its messages itself
        except Refused as refused:
            refuse(context, refused)
            return
        async for message in behave(requests, context):
            yield message

    return entered


def _with_request(
    answered: Callable[[bytes, Context], Any], enter: Callable[[Context], Account]
) -> Callable[[object, Context], Any]:
    """What is called once it is counted and its request is there."""

    async def request(context: Context) -> bytes:
        account = enter(context)
        try:
            data = await next_message(context, REQUEST_S)
        except TimeoutError:
            raise _no_request(f"no request came within {REQUEST_S:.0f} s") from None
        if data is grpc.aio.EOF:
            raise _no_request("the call ended without a request")
        account.spoke()
        account.received_bytes += len(data) + MESSAGE_BYTES
        return bytes(data)

    if inspect.isasyncgenfunction(answered):

        async def stream(_: object, context: Context) -> AsyncIterator[Any]:
            try:
                data = await request(context)
            except Refused as refused:
                refuse(context, refused)
                return
            async for message in answered(data, context):
                yield message

        return stream

    async def unary(_: object, context: Context) -> Any:
        try:
            data = await request(context)
        except Refused as refused:
            return refuse(context, refused)
        return await answered(data, context)

    return unary


def _with_requests(
    handle: Callable[[AsyncIterator[Any], Context], Awaitable[Any]],
    parse: Callable[[bytes], Any],
    call: str,
    enter: Callable[[Context], Account],
) -> Callable[[object, Context], Awaitable[Any]]:
    """What is called with a stream of requests, and answers once."""

    async def each(context: Context) -> AsyncIterator[Any]:
        account, silent = enter(context), True
        while True:
            try:
                data = await next_message(context, REQUEST_S)
            except TimeoutError:
                text = f"nothing more came for {REQUEST_S:.0f} s"
                raise Refused(grpc.StatusCode.DEADLINE_EXCEEDED, "TOO_SLOW", text) from None
            if data is grpc.aio.EOF:
                return
            if silent:
                account.spoke()
                silent = False
            account.received_bytes += len(data) + MESSAGE_BYTES
            yield _parsed(parse, bytes(data))

    def requests(_: bytes, context: Context) -> Awaitable[Any]:
        return handle(each(context), context)

    answered = _one_answer(requests, bytes, call)
    return lambda _, context: answered(b"", context)


def _no_request(text: str) -> Refused:
    return Refused(grpc.StatusCode.DEADLINE_EXCEEDED, "NO_REQUEST", text)


def _one_answer(
    handle: Callable[[Any, Context], Any], parse: Callable[[bytes], Any], call: str
) -> Callable[[bytes, Context], Awaitable[Any]]:
    async def answered(data: bytes, context: Context) -> Any:
        try:
            answer = handle(_parsed(parse, data), context)
            return await answer if isinstance(answer, Awaitable) else answer
        except Refused as refused:
            return refuse(context, refused)
        except grpc.aio.AbortError:
            raise
        except Exception:
            return fail(context, call)

    return answered


def _many_answers(
    handle: Callable[[Any, Context], AsyncIterator[Any]],
    parse: Callable[[bytes], Any],
    call: str,
) -> Callable[[bytes, Context], AsyncIterator[Any]]:
    async def answered(data: bytes, context: Context) -> AsyncIterator[Any]:
        try:
            async for message in handle(_parsed(parse, data), context):
                yield message
        except Refused as refused:
            refuse(context, refused)
        except grpc.aio.AbortError:
            raise
        except Exception:
            fail(context, call)

    return answered


def _parsed(parse: Callable[[bytes], Any], data: bytes) -> Any:
    try:
        return parse(data)
    except DecodeError:
        raise invalid("MALFORMED", "the request could not be read") from None
