"""Reads the reason of a refused stream, and the time that the client should wait.

gRPC carries the details of an error as a `google.rpc.Status` in the trailing metadata. It is read field by field,
because only `google.rpc.ErrorInfo` and `RetryInfo` matter, and their messages are in a package that a bot does not need
otherwise.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import (  # type: ignore[import-not-found]  # types-protobuf has none
    UnknownFieldSet,
)

STATUS_KEY: Final = "grpc-status-details-bin"
RETRY_INFO: Final = "google.rpc.RetryInfo"
ERROR_INFO: Final = "google.rpc.ErrorInfo"
MAX_RETRY_S: Final = 300.0
"""The longest time to wait, in seconds."""

_DETAILS: Final = 3
_RETRY_DELAY: Final = 1
_REASON: Final = 1
_BYTES: Final = 2


def retry_delay_s(metadata: Iterable[tuple[str, Any]] | None) -> float:
    """Return the seconds that an error asks a client to wait; 0 if it names none or cannot be read."""
    try:
        return min(MAX_RETRY_S, max(0.0, *_delays_s(metadata or ()), 0.0))
    except DecodeError:
        return 0.0


def error_reason(metadata: Iterable[tuple[str, Any]] | None) -> str:
    """Return the reason in an error; empty if it has none or cannot be read."""
    try:
        reasons = [
            reason
            for info in _details(metadata or (), ERROR_INFO)
            for reason in _fields(info, _REASON)
        ]
        return reasons[0].decode() if reasons else ""
    except (DecodeError, UnicodeDecodeError):
        return ""


def _delays_s(metadata: Iterable[tuple[str, Any]]) -> Iterator[float]:
    for info in _details(metadata, RETRY_INFO):
        for delay in _fields(info, _RETRY_DELAY):
            duration = Duration.FromString(delay)
            yield duration.seconds + duration.nanos / 1e9


def _details(metadata: Iterable[tuple[str, Any]], kind: str) -> Iterator[bytes]:
    """Return the details of one kind."""
    for key, value in metadata:
        if key != STATUS_KEY or not isinstance(value, bytes):
            continue
        for packed in _fields(value, _DETAILS):
            detail = AnyMessage.FromString(packed)
            if detail.type_url.rpartition("/")[2] == kind:
                yield detail.value


def _fields(message: bytes, number: int) -> Iterator[bytes]:
    """Return the bytes fields of a message with a number."""
    for field in UnknownFieldSet(Empty.FromString(message)):
        if field.field_number == number and field.wire_type == _BYTES:
            yield field.data
