"""Errors that a client is told, with a reason that a program can branch on."""

from typing import Final

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from grpc_status.rpc_status import to_status

DOMAIN: Final = "cardarena"
MAX_TEXT_CHARS: Final = 400
"""Longer texts are cut."""


class Refused(Exception):
    """A call is refused. Code, reason and text are fit for whoever made it."""

    def __init__(self, code: grpc.StatusCode, reason: str, text: str) -> None:
        # Texts quote what was said, and trailing metadata has to fit a few kilobytes.
        self.text = text if len(text) <= MAX_TEXT_CHARS else text[: MAX_TEXT_CHARS - 1] + "…"
        super().__init__(self.text)
        self.code = code
        self.reason = reason

    def trailing_metadata(self) -> tuple[tuple[str, str | bytes], ...]:
        """The `google.rpc.ErrorInfo` of this refusal, as gRPC carries it."""
        detail = AnyMessage()
        detail.Pack(ErrorInfo(reason=self.reason, domain=DOMAIN))
        status = Status(code=self.code.value[0], message=self.text, details=[detail])
        return to_status(status).trailing_metadata


def not_found(reason: str, text: str) -> Refused:
    """Something that was named does not exist."""
    return Refused(grpc.StatusCode.NOT_FOUND, reason, text)


def invalid(reason: str, text: str) -> Refused:
    """Something that was said is wrong, whenever it is said."""
    return Refused(grpc.StatusCode.INVALID_ARGUMENT, reason, text)


def not_now(reason: str, text: str) -> Refused:
    """Something that was asked is not possible as things stand."""
    return Refused(grpc.StatusCode.FAILED_PRECONDITION, reason, text)
