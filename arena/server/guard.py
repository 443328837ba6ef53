"""What every call passes: our own parsing, and no text of an error of ours.

gRPC for Python sends `str(exception)` to the client, and a parser's text for
bytes that it cannot read. Here a refusal keeps its words, and everything else
becomes a fixed text with an incident number that stands in the log.
"""

import asyncio
import inspect
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError

from arena.server.access import CALLS, authorise
from arena.server.refusals import Refused, invalid
from arena.server.tokens import Tokens

_log = logging.getLogger(__name__)
STATUS_S: Final = 1.0
"""Time for the status of a call to leave."""
INTERNAL_TEXT: Final = "the arena made a mistake; it is logged as incident"

Handler = Any
"""grpc.RpcMethodHandler: a named tuple that grpc does not type."""
Context = grpc.aio.ServicerContext[Any, Any]


async def refuse(context: Context, refused: Refused) -> None:
    """End a call with a refusal. Always raises."""
    context.set_trailing_metadata(refused.trailing_metadata())
    # To a client that does not read no status can be sent. The call is then dropped as it is,
    # which resets the stream.
    async with asyncio.timeout(STATUS_S):
        await context.abort(refused.code, refused.text)


async def fail(context: Context, call: str) -> None:
    """End a call after an error of ours, within an `except` block. Always raises."""
    incident = secrets.token_hex(4)
    _log.exception("incident %s in %s", incident, call)
    await context.abort(grpc.StatusCode.INTERNAL, f"{INTERNAL_TEXT} {incident}")


class Guard(grpc.aio.ServerInterceptor):
    """Looks at who makes a call, and wraps the handler of all that have one request message."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        call = handler_call_details.method
        access = CALLS.get(call)
        if access is None:
            return None  # then grpc says that there is no such call
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        try:
            authorise(access, handler_call_details.invocation_metadata or (), self._tokens)
        except Refused as refused:
            return _refusing(handler, refused)
        if handler.request_streaming:
            return handler  # streams guard themselves
        parse = handler.request_deserializer or bytes
        write = handler.response_serializer
        if handler.response_streaming:
            guard: Callable[..., Any] = _guard_stream
            if inspect.iscoroutinefunction(handler.unary_stream):
                guard = _guard_unary  # it writes its messages itself, as health's Watch does
            stream = guard(handler.unary_stream, parse, call)
            return grpc.unary_stream_rpc_method_handler(stream, response_serializer=write)
        unary = _guard_unary(handler.unary_unary, parse, call)
        return grpc.unary_unary_rpc_method_handler(unary, response_serializer=write)


def _refusing(handler: Handler, refused: Refused) -> Handler:
    """A handler of the same kind that says no before it reads anything."""

    async def deny(_: object, context: Context) -> None:
        await refuse(context, refused)

    kinds = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }
    made: Handler = kinds[handler.request_streaming, handler.response_streaming](deny)
    return made


def _guard_unary(
    handle: Callable[[Any, Context], Any], parse: Callable[[bytes], Any], call: str
) -> Callable[[bytes, Context], Awaitable[Any]]:
    async def guarded(data: bytes, context: Context) -> Any:
        try:
            answer = handle(_parsed(parse, data), context)
            return await answer if isinstance(answer, Awaitable) else answer
        except Refused as refused:
            await refuse(context, refused)
        except grpc.aio.AbortError:
            raise
        except Exception:
            await fail(context, call)

    return guarded


def _guard_stream(
    handle: Callable[[Any, Context], AsyncIterator[Any]],
    parse: Callable[[bytes], Any],
    call: str,
) -> Callable[[bytes, Context], AsyncIterator[Any]]:
    async def guarded(data: bytes, context: Context) -> AsyncIterator[Any]:
        try:
            async for message in handle(_parsed(parse, data), context):
                yield message
        except Refused as refused:
            await refuse(context, refused)
        except grpc.aio.AbortError:
            raise
        except Exception:
            await fail(context, call)

    return guarded


def _parsed(parse: Callable[[bytes], Any], data: bytes) -> Any:
    try:
        return parse(data)
    except DecodeError:
        raise invalid("MALFORMED", "the request could not be read") from None
