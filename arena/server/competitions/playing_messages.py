"""What the arena and the processes that play for it say to each other: a line of JSON each, over two pipes."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

import trio

from arena.games.catalogue import UnknownGame
from arena.server.orders import DealSetOrder, deal_set_message, order_of_message
from arena.wire.terms import OtherRules
from cardarena.v1 import journal_pb2

MOST_LINE_BYTES: Final = 2**24
"""A line that is longer is none of these."""


class BadLine(ValueError):
    """A line is none of these messages."""


class Failed(StrEnum):
    """Why a match could not be played to its end."""

    COMMAND = "command"
    """A bot of it cannot be launched any more."""
    STORE = "store"
    """Its result cannot be recorded."""
    INTERNAL = "internal"
    """An error of the process itself; its log has more."""


@dataclass(frozen=True, slots=True)
class Play:
    """To a process: have a match played, or join it."""

    number: int
    """Names the request, so that it can be answered."""
    competition: str
    order: DealSetOrder
    match: str


@dataclass(frozen=True, slots=True)
class Ready:
    """From a process: it plays."""

    pid: int
    holds: tuple[str, ...]
    """Deal-sets that it has begun and not published: nobody else can go on with them."""


@dataclass(frozen=True, slots=True)
class Ended:
    """From a process: the outcome of a match is in the store, or `failed` says why it is not."""

    number: int
    is_held: bool = False
    """Whether the process holds the deal-set still."""
    failed: Failed | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Counted:
    """From a process, every second: how it fares."""

    matches: int
    """In play."""
    decisions: int
    """Since the process began."""


Message: TypeAlias = Play | Ready | Ended | Counted


def line_of(message: Message) -> bytes:
    """A message as a line."""
    if isinstance(message, Play):
        order = deal_set_message(message.order).SerializeToString()
        body: dict[str, Any] = {
            "number": message.number,
            "competition": message.competition,
            "order": base64.b64encode(order).decode(),
            "match": message.match,
        }
    else:
        body = asdict(message)
    return json.dumps({type(message).__name__: body}).encode() + b"\n"


def message_of(line: bytes) -> Message:
    """The message of a line.

    Raises:
      BadLine: if it is none, or an order that cannot be played here.
    """
    try:
        ((name, body),) = json.loads(line).items()
        return _READ[name](body)
    except (ValueError, KeyError, TypeError, AttributeError, UnknownGame, OtherRules) as error:
        raise BadLine(f"no message of a playing process: {error}") from error


class Lines:
    """The lines of a stream."""

    def __init__(self, stream: trio.abc.ReceiveStream) -> None:
        self._stream = stream
        self._rest = bytearray()

    async def next(self) -> bytes:
        """The next line, without its end; empty once the stream has ended or is broken.

        Raises:
          BadLine: if it is longer than `MOST_LINE_BYTES`.
        """
        while (end := self._rest.find(b"\n")) < 0:
            if len(self._rest) > MOST_LINE_BYTES:
                raise BadLine("no message of a playing process: its line has no end")
            try:
                more = await self._stream.receive_some()
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return b""
            if not more:
                return b""
            self._rest += more
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line


def _play(body: Mapping[str, Any]) -> Play:
    kept = journal_pb2.OrderedDealSet.FromString(base64.b64decode(body["order"]))
    return Play(body["number"], body["competition"], order_of_message(kept), body["match"])


def _ended(body: Mapping[str, Any]) -> Ended:
    failed = body["failed"]
    return Ended(body["number"], body["is_held"], failed and Failed(failed), body["why"])


def _ready(body: Mapping[str, Any]) -> Ready:
    return Ready(body["pid"], tuple(body["holds"]))


def _counted(body: Mapping[str, Any]) -> Counted:
    return Counted(body["matches"], body["decisions"])


_READ: Final[Mapping[str, Callable[[Mapping[str, Any]], Message]]] = {
    "Play": _play,
    "Ready": _ready,
    "Ended": _ended,
    "Counted": _counted,
}
