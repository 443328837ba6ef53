"""The interceptor of all gRPC calls: authorises them, reads their requests, and hides the texts of internal errors.

gRPC for Python sends `str(exception)` to the client, and a parser's text for bytes that it cannot read. Here the client
of a refused call sees the refusal's text, and any other error becomes a fixed text with an incident number, which is
also in the log.
"""

import asyncio
import functools
import logging
import secrets
import time
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

import grpc
from google.protobuf.message import DecodeError

from arena.api.admission.access import CALLS, Access, authorise
from arena.bots.tokens import Tokens
from arena.errors.refused import Refused
from arena.live.limits import Caller, CallLimits, Context, is_own_program
from arena.live.metrics import TrafficAccount

T = TypeVar("T")

_log = logging.getLogger(__name__)
REQUEST_S: Final = 5.0
"""A call is refused if its request does not arrive within this time, in seconds."""
_READ_ONLY: Final = frozenset({Access.READ, Access.WATCH})
_DELAYED: Final = frozenset({*_READ_ONLY, Access.KEYED, Access.OWN, Access.OVERSEE})
"""Calls that wait while the arena is busy, if the caller has a key."""

Handler = Any
"""grpc.RpcMethodHandler: a named tuple that grpc does not type."""
Note: TypeAlias = Callable[[float, float], None]
"""Takes when a call began to occupy the loop and when it released it, in seconds."""
Worked = Callable[[str, float, float], None]
"""Takes the owner whose call occupied the loop, and from when to when, in seconds."""


async def next_message(context: Context, within_s: float) -> Any:
    """Wait for the next message of a call; return its bytes, or `grpc.aio.EOF`.

    A task of its own reads it, which is never cancelled and ends with the call: gRPC leaks the memory of a cancelled
    read (docs/reliability/soak.md).

    Raises `TimeoutError` if no message arrives within this time, in seconds.
    """
    reading = asyncio.ensure_future(context.read())
    ends_with_its_call(reading)
    if not (await asyncio.wait((reading,), timeout=within_s))[0]:
        raise TimeoutError
    return reading.result()


def ends_with_its_call(task: asyncio.Future[Any]) -> None:
    """Ignore the result of a task that may outlast the handler of its call."""
    task.add_done_callback(lambda done: done.cancelled() or done.exception())


def refuse(context: Context, refused: Refused) -> None:
    """Let a call end with a refusal and without an answer when its handler returns.

    `context.abort` would do both, but leaks some hundred bytes for every call that ends so
    (docs/reliability/soak.md).
    """
    context.set_trailing_metadata(refused.trailing_metadata())
    context.set_code(refused.code)
    context.set_details(refused.text)


def fail(context: Context, call: str) -> None:
    """End a call after an internal error, as `refuse` does. Call it within an `except` block."""
    incident = secrets.token_hex(4)
    _log.exception("an error in a call", extra={"incident": incident, "call": call})
    refuse(context, Refused("INCIDENT", f"incident {incident}"))


@dataclass(frozen=True, slots=True)
class _AuthorisedCall:
    name: str
    access: Access
    caller: Caller
    handler: Handler


class CallInterceptor(grpc.aio.ServerInterceptor):
    """The interceptor, which authorises and counts every call, and reads the requests of all calls except bidirectional streams.

    A call with one request or one answer is registered with grpc as one that streams both. The wire is the same, but
    grpc would wait for a single request without any time limit.
    """

    def __init__(
        self,
        tokens: Tokens,
        limits: CallLimits | None = None,
        *,
        own_call: str = "",
        now_s: Callable[[], float] = time.monotonic,
        worked: Worked | None = None,
    ) -> None:
        """Intercept the calls of one server.

        Args:
          own_call: The name of a call that only the arena itself knows and makes; it is not restricted.
          now_s: Reads the clock of `worked`.
          worked: Called whenever a call of an owner of keys has occupied the loop.
        """
        self._tokens = tokens
        self._limits = limits or CallLimits()
        self._own_call = own_call
        self._now_s = now_s
        self._worked = worked

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        name = handler_call_details.method
        if name == self._own_call:
            return await continuation(handler_call_details)
        access = CALLS.get(name)
        handler = None if access is None else await continuation(handler_call_details)
        if access is None or handler is None:
            return None  # grpc replies that there is no such call
        metadata = handler_call_details.invocation_metadata or ()
        try:
            caller = authorise(access, metadata, self._tokens)
        except Refused as refused:
            return self._refusing(refused)
        if access is Access.HELLO:
            return handler  # the play service checks the token of `hello`
        call = _AuthorisedCall(name, access, caller, handler)

        async def serve(requests: object, context: Context) -> AsyncIterator[Any]:
            try:
                async for message in self._timed(self._answers(call, requests, context), caller):
                    yield message
            except Refused as refused:
                refuse(context, refused)
            except grpc.aio.AbortError:
                raise
            except Exception:
                fail(context, name)

        if handler.request_streaming and handler.response_streaming:
            return handler._replace(stream_stream=serve)
        write = handler.response_serializer
        return grpc.stream_stream_rpc_method_handler(serve, response_serializer=write)

    def _refusing(self, refused: Refused) -> Handler:
        """Return a handler that refuses before it reads anything."""

        async def deny(_: object, context: Context) -> None:
            self._limits.traffic.account(context.peer())  # it counts as a call without a message
            refuse(context, refused)

        return grpc.stream_stream_rpc_method_handler(deny)

    def _timed(self, answers: AsyncIterator[Any], caller: Caller) -> AsyncIterator[Any]:
        """Yield the same answers; the time that they occupy the loop is charged to the caller's owner, if there is one."""
        if self._worked is None or not caller.owner:
            return answers
        return each_timed(answers, self._now_s, functools.partial(self._worked, caller.owner))

    async def _enter(self, call: _AuthorisedCall, context: Context) -> TrafficAccount:
        if call.access is Access.SITE and not is_own_program(context.peer()):
            raise Refused("NOT_YOURS", "this call is for the arena's own pages")
        read_only = call.access in _READ_ONLY
        account = self._limits.call(context, looks=read_only, name=call.name, caller=call.caller)
        if call.access in _DELAYED:
            await self._limits.turn(context, call.caller, stores=call.access is Access.OWN)
        return account

    async def _answers(
        self, call: _AuthorisedCall, requests: object, context: Context
    ) -> AsyncIterator[Any]:
        handler, account = call.handler, await self._enter(call, context)
        parse = handler.request_deserializer or bytes
        if handler.request_streaming and handler.response_streaming:
            account.spoke()  # it reads its messages itself
            answer = handler.stream_stream(requests, context)
        elif handler.request_streaming:
            answer = handler.stream_unary(_messages(account, parse, context), context)
        else:
            handle = handler.unary_stream if handler.response_streaming else handler.unary_unary
            answer = handle(await _only_message(account, parse, context), context)
        if isinstance(answer, AsyncIterator):
            async for message in answer:
                yield message
            return
        message = await answer if isinstance(answer, Awaitable) else answer
        if message is not None:  # health's Watch writes its messages itself
            yield message


async def _only_message(
    account: TrafficAccount, parse: Callable[[bytes], Any], context: Context
) -> Any:
    try:
        data = await next_message(context, REQUEST_S)
    except TimeoutError:
        raise Refused("NO_REQUEST", f"none in {REQUEST_S:.0f} s") from None
    if data is grpc.aio.EOF:
        raise Refused("NO_REQUEST", "the call ended")
    account.spoke()
    account.received(len(data))
    return _parsed(parse, bytes(data))


async def _messages(
    account: TrafficAccount, parse: Callable[[bytes], Any], context: Context
) -> AsyncIterator[Any]:
    silent = True
    while True:
        try:
            data = await next_message(context, REQUEST_S)
        except TimeoutError:
            raise Refused("TOO_SLOW", f"no piece came for {REQUEST_S:.0f} s") from None
        if data is grpc.aio.EOF:
            return
        if silent:
            account.spoke()
            silent = False
        account.received(len(data))
        yield _parsed(parse, bytes(data))


def _parsed(parse: Callable[[bytes], Any], data: bytes) -> Any:
    try:
        return parse(data)
    except DecodeError:
        raise Refused("MALFORMED") from None


@types.coroutine
def timed(call: Awaitable[T], now_s: Callable[[], float], note: Note) -> Generator[Any, Any, T]:
    """Await a call; `note` gets each span of time in which it runs, and so occupies the loop.

    All bots wait during this time, and it is not refunded to the owner of the call.
    """
    steps = call.__await__()
    resume: Callable[[], Any] = steps.__next__
    while True:
        began_s = now_s()
        try:
            awaited = resume()
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            note(began_s, now_s())
        try:
            sent = yield awaited
        except BaseException as error:  # for example a cancellation, which the call handles
            resume = _thrown(steps, error)
        else:
            resume = _sent(steps, sent)


async def each_timed(
    messages: AsyncIterator[T], now_s: Callable[[], float], note: Note
) -> AsyncIterator[T]:
    """Yield the messages of a call with many answers, and time each of them."""
    while True:
        try:
            message = await timed(anext(messages), now_s, note)
        except StopAsyncIteration:
            return
        yield message


def _sent(steps: Generator[Any, Any, Any], value: Any) -> Callable[[], Any]:
    return lambda: steps.send(value)


def _thrown(steps: Generator[Any, Any, Any], error: BaseException) -> Callable[[], Any]:
    return lambda: steps.throw(error)
