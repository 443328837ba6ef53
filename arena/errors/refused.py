"""Refusals of calls: errors with a reason for programs and a text for people."""

from typing import Final

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_status.rpc_status import to_status

from arena.errors import refusal

DOMAIN: Final = "cardarena"
DRAINING: Final = "DRAINING"
"""The reason of refusals by an arena that is about to end."""
BOT_NOT_AVAILABLE: Final = "BOT_NOT_AVAILABLE"
"""The reason of refusals of a match because of one of its bots."""
MAX_DETAIL_CHARS: Final = 280
"""The length above which details are shortened, because they quote the client and trailing metadata have room for a few kilobytes."""
MAX_LIST_CHARS: Final = 1_500
"""The same for details that list all problems of a text."""


class Refused(Exception):
    """A call is refused. The client receives the status, the reason and the text."""

    def __init__(
        self,
        reason: str,
        detail: str = "",
        *,
        late: bool = False,
        retry_s: float = 0.0,
        max_chars: int = MAX_DETAIL_CHARS,
    ) -> None:
        """Refuse for a reason in the table of `arena.errors`, which has the status and the sentence.

        Args:
          reason: The reason on the wire, such as `UNKNOWN_BOT`.
          detail: What is refused, as the end of the sentence.
          late: Whether a message did not arrive in time: the status is DEADLINE_EXCEEDED.
          retry_s: Time in seconds after which the client may try again; 0 is unknown.
          max_chars: The length above which the detail is shortened.
        """
        row = refusal(reason)
        self.detail = detail
        if len(detail) > max_chars:
            detail = detail[: max_chars - 1] + "…"
        self.text = row.message(detail)
        super().__init__(self.text)
        self.code = grpc.StatusCode[row.statuses[late]]
        self.reason = reason
        self.retry_s = retry_s

    def trailing_metadata(self) -> tuple[tuple[str, str | bytes], ...]:
        """Return the `google.rpc.ErrorInfo` and `RetryInfo` of this refusal, as trailing metadata of gRPC."""
        details = [AnyMessage()]
        details[0].Pack(ErrorInfo(reason=self.reason, domain=DOMAIN))
        if self.retry_s:
            delay = Duration()
            delay.FromMilliseconds(round(self.retry_s * 1000))
            details.append(AnyMessage())
            details[1].Pack(RetryInfo(retry_delay=delay))
        status = Status(code=self.code.value[0], message=self.text, details=details)
        return to_status(status).trailing_metadata
