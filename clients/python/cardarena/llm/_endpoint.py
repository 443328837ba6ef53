"""Requests to an endpoint for chat completions, and their failures."""

import contextlib
import json
import queue
import re
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from http.client import BadStatusLine, HTTPException, RemoteDisconnected
from typing import Any, Final, TypedDict
from urllib.parse import urlsplit

from cardarena._dial import is_local
from cardarena._errors import Misconfigured, NoMove

MAX_REPLY_BYTES: Final = 4 << 20
_SHOWN: Final = 120
"""The number of characters of an endpoint's error that are shown."""
_PASSING: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""HTTP statuses after which the same request may succeed."""
_THOUGHT: Final = re.compile(r"<think>(.*?)(?:</think>|\Z)", re.DOTALL)


class Kind(StrEnum):
    """The kind of failure of a request for a move."""

    TRANSPORT = "transport"
    """The endpoint could not be reached, or answered with an error or with a text that is no completion."""
    HUNG = "hung"
    """There was no reply within the time for the request."""
    REFUSED = "refused"
    """The model or a filter of the endpoint refused to answer."""
    CUT = "cut"
    """The reply ended at the limit of output tokens before it named a move."""
    UNREADABLE = "unreadable"
    """The reply names no move."""
    ILLEGAL = "illegal"
    """The reply names a move that is not offered."""
    BUDGET = "budget"
    """The token budget of the match is used up, so no request was made."""
    LATE = "late"
    """Too little of the clock was left for a request."""


_SENTENCES: Final[Mapping[Kind, str]] = {
    Kind.TRANSPORT: "the request for a move failed",
    Kind.HUNG: "the model did not reply in time",
    Kind.REFUSED: "the model refused to answer",
    Kind.CUT: "the model's reply names no move",
    Kind.UNREADABLE: "the model's reply names no move",
    Kind.ILLEGAL: "the model named an illegal move",
    Kind.BUDGET: "the model was not asked",
    Kind.LATE: "the model was not asked",
}


class Failure(NoMove):
    """A model gave no move. The text is a sentence for the bot's owner, with the kind in brackets."""

    def __init__(self, kind: Kind, why: str, *, passes: bool = False, wait_s: float = 0.0) -> None:
        super().__init__(f"{_SENTENCES[kind]} ({kind}): {why}")
        self.kind: Final = kind
        self.why: Final = why
        self.passes: Final = passes
        """Whether the same request may succeed later."""
        self.wait_s: Final = wait_s
        """Time in seconds after which the endpoint wants to be asked again; 0 if it gives none."""


class Message(TypedDict):
    """A message of a chat."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a model."""

    text: str
    reasoning: str = ""
    """The model's reasoning, if the endpoint returns it separately."""
    finish: str = ""
    """The reason for the end of the reply: `stop`, `length`, `content_filter`."""
    refusal: str = ""
    input_tokens: int | None = None
    """The number of input tokens, counted by the endpoint; None if it does not report them."""
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint, and the model that it is asked for."""

    url: str
    """The address before `/chat/completions`, such as `http://localhost:11434/v1`."""
    model: str
    key: str = field(default="", repr=False)
    """The key, which is sent as a bearer token; empty for none."""
    max_output_tokens: int = 1024
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of each request, such as `temperature`."""

    def __post_init__(self) -> None:
        """Raise `Misconfigured` if the address is invalid, or would get the key in plain text."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Misconfigured(
                f"{self.url!r} is no endpoint: give the address before /chat/completions, such as "
                "http://localhost:11434/v1"
            )
        if self.key and parts.scheme == "http" and not is_local(parts.netloc):
            raise Misconfigured(
                f"the key of the endpoint {parts.netloc} would be sent in plain text: use https://"
            )

    def complete(self, messages: Sequence[Message], longest_s: float) -> Reply:
        """Return the model's reply to a chat.

        Raises:
          Failure: HUNG if there is none within `longest_s` seconds, TRANSPORT if the endpoint fails.
        """
        body = {"model": self.model, "messages": messages, "max_tokens": self.max_output_tokens}
        headers = {"Content-Type": "application/json", "User-Agent": "cardarena-llm"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            f"{self.url.rstrip('/')}/chat/completions",
            json.dumps({**body, **self.fields}).encode(),
            headers,
        )
        return _within(longest_s, lambda: _reply(_sent(request, longest_s)))


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A handler that follows no redirect, because it would send the key to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER: Final = urllib.request.build_opener(_NoRedirects)


def _within(longest_s: float, work: Callable[[], Reply]) -> Reply:
    """Do work on a thread, which is abandoned if it takes longer, because sockets have only timeouts of single reads."""
    done: queue.SimpleQueue[Reply | Exception] = queue.SimpleQueue()

    def attempt() -> None:
        try:
            done.put(work())
        except Exception as error:
            done.put(error)

    threading.Thread(target=attempt, name="cardarena-llm", daemon=True).start()
    try:
        result = done.get(timeout=max(0.0, longest_s))
    except queue.Empty:
        result = Failure(Kind.HUNG, f"no reply within {longest_s:.1f} s", passes=True)
    if isinstance(result, Exception):
        raise result
    return result


def _has_network() -> bool:
    """Return whether this process may make connections over a network; in the arena's sandbox it may not."""
    try:
        socket.socket(socket.AF_INET).close()
    except OSError:
        return False
    return True


def _sent(request: urllib.request.Request, longest_s: float) -> bytes:
    try:
        with _OPENER.open(request, timeout=longest_s) as response:
            body: bytes = response.read(MAX_REPLY_BYTES + 1)
    except urllib.error.HTTPError as error:
        with error, contextlib.suppress(OSError, HTTPException):
            text = error.read(MAX_REPLY_BYTES).decode("utf-8", "replace")
            raise Failure(
                Kind.TRANSPORT,
                f"the endpoint answered {error.code}: {_error_text(text) or error.reason}",
                passes=error.code in _PASSING,
                wait_s=_retry_after_s(error.headers.get("Retry-After", "")),
            ) from None
        raise Failure(Kind.TRANSPORT, f"the endpoint answered {error.code}") from None
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, TimeoutError):
            raise Failure(Kind.HUNG, f"no reply within {longest_s:.1f} s", passes=True) from None
        if not _has_network():
            cure = "this bot has no network, as in a sandbox: run it with --sandbox off"
            raise Failure(Kind.TRANSPORT, f"the endpoint cannot be reached: {cure}") from None
        if isinstance(error, BadStatusLine) and not isinstance(error, RemoteDisconnected):
            raise Failure(
                Kind.TRANSPORT,
                "what listens there does not answer by HTTP: look at the port of --url",
            ) from None
        raise Failure(
            Kind.TRANSPORT, f"the endpoint cannot be reached: {reason}", passes=True
        ) from None
    if len(body) > MAX_REPLY_BYTES:
        raise Failure(Kind.TRANSPORT, f"the reply is longer than {MAX_REPLY_BYTES} bytes")
    return body


def _reply(body: bytes) -> Reply:
    try:
        answer = json.loads(body)
        choice = answer["choices"][0]
        message, usage = choice["message"], answer.get("usage") or {}
        text = message.get("content") or ""
        if not isinstance(text, str):
            raise TypeError
        thought = "\n".join(_THOUGHT.findall(text)).strip()
        reasoning = message.get("reasoning_content") or message.get("reasoning") or thought
        return Reply(
            _THOUGHT.sub("", text).strip(),
            str(reasoning),
            str(choice.get("finish_reason") or ""),
            str(message.get("refusal") or ""),
            _count(usage.get("prompt_tokens")),
            _count(usage.get("completion_tokens")),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        shown = body[:_SHOWN].decode("utf-8", "replace")
        raise Failure(
            Kind.TRANSPORT, f"the endpoint sent no completion: {shown!r}", passes=True
        ) from None


def _error_text(body: str) -> str:
    """Return the text of an endpoint's error, on one line."""
    with contextlib.suppress(ValueError, LookupError, TypeError):
        error = json.loads(body)["error"]
        body = str(error["message"] if isinstance(error, dict) else error)
    return " ".join(body.split())[:_SHOWN]


def _retry_after_s(header: str) -> float:
    return float(header) if re.fullmatch(r"\d{1,5}(\.\d{1,3})?", header) else 0.0


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None
