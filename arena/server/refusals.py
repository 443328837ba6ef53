"""Errors that a client is told, with a reason that a program can branch on."""

from typing import Final

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_status.rpc_status import to_status

DOMAIN: Final = "cardarena"
DRAINING: Final = "DRAINING"
"""The reason of what an arena refuses because it is about to close."""
MAX_TEXT_CHARS: Final = 400
"""Longer texts are cut."""


class Refused(Exception):
    """A call is refused. Its caller may see code, reason and text."""

    def __init__(
        self, code: grpc.StatusCode, reason: str, text: str, *, retry_s: float = 0.0
    ) -> None:
        """`retry_s` is the time after which the same may be possible; 0 is unknown."""
        # Texts quote what was said, and trailing metadata has to fit a few kilobytes.
        self.text = text if len(text) <= MAX_TEXT_CHARS else text[: MAX_TEXT_CHARS - 1] + "…"
        super().__init__(self.text)
        self.code = code
        self.reason = reason
        self.retry_s = retry_s

    def trailing_metadata(self) -> tuple[tuple[str, str | bytes], ...]:
        """The `google.rpc.ErrorInfo` of this refusal, and when to retry, as gRPC carries them."""
        details = [AnyMessage()]
        details[0].Pack(ErrorInfo(reason=self.reason, domain=DOMAIN))
        if self.retry_s:
            delay = Duration()
            delay.FromMilliseconds(round(self.retry_s * 1000))
            details.append(AnyMessage())
            details[1].Pack(RetryInfo(retry_delay=delay))
        status = Status(code=self.code.value[0], message=self.text, details=details)
        return to_status(status).trailing_metadata


def not_found(reason: str, text: str) -> Refused:
    """Something that was named does not exist."""
    return Refused(grpc.StatusCode.NOT_FOUND, reason, text)


def invalid(reason: str, text: str) -> Refused:
    """The request itself is wrong, and would be at any time."""
    return Refused(grpc.StatusCode.INVALID_ARGUMENT, reason, text)


def not_now(reason: str, text: str) -> Refused:
    """Something that was asked is not possible as things stand."""
    return Refused(grpc.StatusCode.FAILED_PRECONDITION, reason, text)


def busy(text: str, retry_s: float) -> Refused:
    """Something that is possible at other times, as after `retry_s`, is too much just now."""
    return Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "BUSY", text, retry_s=retry_s)


def suspended() -> Refused:
    """The arena has stopped in the midst of matches, as by Ctrl-C or on a full disk."""
    text = "the arena has stopped; matches in play go on when it is back"
    return Refused(grpc.StatusCode.UNAVAILABLE, "SUSPENDED", text)


def draining() -> Refused:
    """The arena is about to close."""
    text = "the arena is closing and takes nothing new"
    return Refused(grpc.StatusCode.UNAVAILABLE, DRAINING, text)
