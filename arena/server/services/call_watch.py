"""Sees how every call ends, for who watches the arena."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final

import grpc
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from arena.server.gate.calls import Context
from arena.server.watch import Watch

STATUS_KEY: Final = "grpc-status-details-bin"
UNKNOWN_CALL: Final = "unknown"
"""Stands for calls that do not exist: what clients make up is no label."""


class CallWatch(grpc.aio.ServerInterceptor):
    """Sees how every call ends. Has to be the outermost interceptor."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        handler = await continuation(handler_call_details)
        if handler is None:
            self._watch.called(UNKNOWN_CALL, grpc.StatusCode.UNIMPLEMENTED.name, "", "")
            return None
        call = handler_call_details.method
        for kind in _KINDS:
            behaviour = getattr(handler, kind)
            if inspect.isasyncgenfunction(behaviour):
                return handler._replace(**{kind: self._watched_stream(behaviour, call)})
            if inspect.iscoroutinefunction(behaviour):
                return handler._replace(**{kind: self._watched(behaviour, call)})
        return handler  # one that runs in a thread; there are none

    def _watched(self, behave: Callable[..., Awaitable[Any]], call: str) -> Callable[..., Any]:
        async def watched(request: Any, context: Context) -> Any:
            cancelled = False
            try:
                return await behave(request, context)
            except asyncio.CancelledError:
                cancelled = True
                raise
            finally:
                self._ended(call, context, cancelled=cancelled)

        return watched

    def _watched_stream(
        self, behave: Callable[..., AsyncIterator[Any]], call: str
    ) -> Callable[..., AsyncIterator[Any]]:
        async def watched(request: Any, context: Context) -> AsyncIterator[Any]:
            cancelled = False
            try:
                async for message in behave(request, context):
                    yield message
            except (asyncio.CancelledError, GeneratorExit):
                cancelled = True
                raise
            finally:
                self._ended(call, context, cancelled=cancelled)

        return watched

    def _ended(self, call: str, context: Context, *, cancelled: bool) -> None:
        if cancelled:
            self._watch.called(call, grpc.StatusCode.CANCELLED.name, "", "")
            return
        said: Any = context.code()  # a StatusCode, its number, or nothing if all is well
        code = _CODES.get(said or 0, "UNKNOWN")
        reason = "" if code == "OK" else _reason(context)
        self._watch.called(call, code, reason, context.peer())


_KINDS: Final = ("unary_unary", "unary_stream", "stream_unary", "stream_stream")
_CODES: Final[Mapping[Any, str]] = {
    spelling: code.name for code in grpc.StatusCode for spelling in (code, code.value[0])
}


def _reason(context: Context) -> str:
    """Why a call was refused, from what it is told itself."""
    for key, value in context.trailing_metadata() or ():
        if key == STATUS_KEY and isinstance(value, bytes):
            info = ErrorInfo()
            for detail in Status.FromString(value).details:
                if detail.Unpack(info):
                    return info.reason
    return ""
