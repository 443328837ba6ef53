"""Counts how every call ends, for the metrics."""

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, Final

import grpc
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from arena.live.limits import Context
from arena.live.metrics import Metrics

STATUS_KEY: Final = "grpc-status-details-bin"
UNKNOWN_CALL: Final = "unknown"
"""The label of all calls that do not exist: names that clients invent must not become labels."""


class CallMetrics(grpc.aio.ServerInterceptor):
    """The interceptor that counts how every call ends. It has to be the outermost one."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        handler = await continuation(handler_call_details)
        if handler is None:
            self._metrics.called(UNKNOWN_CALL, grpc.StatusCode.UNIMPLEMENTED.name, "", "")
            return None
        call = handler_call_details.method
        for kind in _KINDS:
            behave = getattr(handler, kind)
            if inspect.isasyncgenfunction(behave) or inspect.iscoroutinefunction(behave):
                return handler._replace(**{kind: self._counted(behave, call)})
        return handler  # handlers that run in a thread are not used

    def _counted(self, behave: Callable[..., Any], call: str) -> Callable[..., Any]:
        if inspect.isasyncgenfunction(behave):

            async def stream(request: Any, context: Context) -> AsyncIterator[Any]:
                with self._ending(call, context):
                    async for message in behave(request, context):
                        yield message

            return stream

        async def whole(request: Any, context: Context) -> Any:
            with self._ending(call, context):
                return await behave(request, context)

        return whole

    @contextlib.contextmanager
    def _ending(self, call: str, context: Context) -> Iterator[None]:
        """Count how a call ends that is served within the block."""
        cancelled = False
        try:
            yield
        except (asyncio.CancelledError, GeneratorExit):
            cancelled = True
            raise
        finally:
            self._ended(call, context, cancelled=cancelled)

    def _ended(self, call: str, context: Context, *, cancelled: bool) -> None:
        if cancelled:
            self._metrics.called(call, grpc.StatusCode.CANCELLED.name, "", "")
            return
        status: Any = context.code()  # a StatusCode, its number, or nothing after success
        code = _CODES.get(status or 0, "UNKNOWN")
        reason = "" if code == "OK" else _reason(context)
        self._metrics.called(call, code, reason, context.peer())


_KINDS: Final = ("unary_unary", "unary_stream", "stream_unary", "stream_stream")
_CODES: Final[Mapping[Any, str]] = {
    spelling: code.name for code in grpc.StatusCode for spelling in (code, code.value[0])
}


def _reason(context: Context) -> str:
    """Return why a call was refused, from the metadata that its client is sent."""
    for key, value in context.trailing_metadata() or ():
        if key == STATUS_KEY and isinstance(value, bytes):
            info = ErrorInfo()
            for detail in Status.FromString(value).details:
                if detail.Unpack(info):
                    return info.reason
    return ""
