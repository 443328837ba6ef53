"""What every call passes: our own parsing, and no text of an error of ours.

gRPC for Python sends `str(exception)` to the client, and a parser's text for
bytes that it cannot read. Here a refusal keeps its words, and everything else
becomes a fixed text with an incident number that stands in the log.
"""

import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError

from arena.server.refusals import Refused, invalid

_log = logging.getLogger(__name__)
INTERNAL_TEXT: Final = "the arena made a mistake; it is logged as incident"

Handler = Any
"""grpc.RpcMethodHandler: a named tuple that grpc does not type."""
Context = grpc.aio.ServicerContext[Any, Any]


async def refuse(context: Context, refused: Refused) -> None:
    """End a call with a refusal. Always raises."""
    context.set_trailing_metadata(refused.trailing_metadata())
    await context.abort(refused.code, refused.text)


async def fail(context: Context, call: str) -> None:
    """End a call after an error of ours, within an `except` block. Always raises."""
    incident = secrets.token_hex(4)
    _log.exception("incident %s in %s", incident, call)
    await context.abort(grpc.StatusCode.INTERNAL, f"{INTERNAL_TEXT} {incident}")


class Guard(grpc.aio.ServerInterceptor):
    """Wraps the handler of every call that has one request message."""

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        handler = await continuation(handler_call_details)
        call = handler_call_details.method
        if handler is None or handler.request_streaming:
            return handler  # unknown calls are refused by grpc; streams guard themselves
        parse = handler.request_deserializer or bytes
        write = handler.response_serializer
        if handler.response_streaming:
            stream = _guard_stream(handler.unary_stream, parse, call)
            return grpc.unary_stream_rpc_method_handler(stream, response_serializer=write)
        unary = _guard_unary(handler.unary_unary, parse, call)
        return grpc.unary_unary_rpc_method_handler(unary, response_serializer=write)


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
