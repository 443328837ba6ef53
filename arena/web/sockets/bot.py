"""One bot over a WebSocket: its first message, its lines, its limits, and the reasons for closing it."""

import contextlib
import json
import logging
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Thread
from typing import Annotated, Any, ClassVar, Final, cast

from websockets.exceptions import ConnectionClosed, ProtocolError
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.sync.connection import Connection

from arena import validation
from arena.token_bucket import TokenBucket
from cardarena._bot import Declaration
from cardarena._bot_process import BotProcess
from cardarena._bridge import Bridge
from cardarena._errors import PlayError, Refused, Unreachable
from cardarena._mode import Mode, Way
from cardarena._run import join

MOST_FRAME_BYTES: Final = 64 << 10
"""The longest message of a bot, which is also the arena's limit."""
MOST_CLOSE_BYTES: Final = 123
"""The maximal number of bytes of the reason for closing a WebSocket."""
CLOSE_S: Final = 2.0
"""The time in seconds for the answer to the close."""
GUEST: Final = "guest:"

_quiet = logging.getLogger("arena.web.sockets.quiet")
_quiet.setLevel(logging.CRITICAL + 1)  # errors of clients are reported to them, not in the log
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SocketLimits:
    """The limits and times of one socket."""

    guests: bool = False
    """Whether a guest may play, which only a guest from the arena's machine may."""
    hello_s: float = 10.0
    """The time in seconds for the first message."""
    idle_s: float = 3_600.0
    """The time in seconds from one message of the bot to the next."""
    ping_s: float = 20.0
    """The time in seconds between two pings, and for the answer to one."""
    lines: int = 1_024
    """The number of messages in a burst."""
    lines_per_s: float = 256.0
    burst_bytes: int = 1 << 20
    bytes_per_s: float = 64 << 10


@dataclass(frozen=True, kw_only=True)
class Hello:
    """The first message of a bot."""

    __pydantic_config__: ClassVar = validation.STRICT

    token: Annotated[str, validation.Limits(min_length=1, max_length=200)]
    games: list[str] = field(default_factory=list)
    """The games that it plays; empty for all."""
    version: Annotated[str, validation.Limits(max_length=64)] = ""
    max_matches: Annotated[int, validation.Limits(ge=1, le=64)] = 1
    ask_forced: bool = False
    """Whether it is also asked if only one move is legal."""


@dataclass(frozen=True, kw_only=True)
class _First:
    __pydantic_config__: ClassVar = validation.STRICT

    hello: Hello


class _Close(Exception):
    """The socket is closed with this code and reason."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class _CountedFrames(ServerProtocol):
    """Limits frames that are no whole message: pings and pieces of messages. `_SocketSeat` counts messages."""

    def __init__(self, limits: SocketLimits) -> None:
        super().__init__(max_size=MOST_FRAME_BYTES, logger=_quiet)
        self._frames = TokenBucket(limits.lines, limits.lines_per_s, time.monotonic)

    def recv_frame(self, frame: Frame) -> None:
        is_whole = frame.fin and frame.opcode in (Opcode.TEXT, Opcode.BINARY)
        if not (is_whole or self._frames.take()):
            raise ProtocolError("too many frames a second")  # this closes the socket
        super().recv_frame(frame)


class _SocketSeat:
    """The bot in place of a process of the bridge: lines are sent to the socket and come from it."""

    def __init__(
        self, websocket: Connection, limits: SocketLimits, on_line: Callable[..., None], on_end: Any
    ) -> None:
        self.wrote = False
        self._websocket, self._limits = websocket, limits
        self._on_line, self._on_end = on_line, on_end
        self._lines = TokenBucket(limits.lines, limits.lines_per_s, time.monotonic)
        self._kilobytes = TokenBucket(
            limits.burst_bytes >> 10, limits.bytes_per_s / 1_024, time.monotonic
        )
        Thread(target=self._read, name="socket input", daemon=True).start()

    def send(self, line: bytes) -> None:
        """Send a line. A bot that does not read is closed because it does not answer pings."""
        with contextlib.suppress(ConnectionClosed):  # which the other thread reports
            self._websocket.send(line.decode().rstrip("\n"))

    def finish(self) -> None:
        """Do nothing: the socket is closed with the reason of the end."""

    close = finish

    def _read(self) -> None:
        try:
            while True:
                try:
                    line = self._websocket.recv(self._limits.idle_s)
                except TimeoutError:
                    self._end(CloseCode.NORMAL_CLOSURE, "idle for too long; connect again")
                    return
                line = line.encode() if isinstance(line, str) else line
                pieces = 1 + (len(line) >> 10)
                if not (self._lines.take() and all(self._kilobytes.take() for _ in range(pieces))):
                    self._end(CloseCode.POLICY_VIOLATION, "too many messages or bytes a second")
                    return
                self.wrote = True
                self._on_line(self, line)
        except ConnectionClosed:
            self._on_end(self, "closed its socket")
        except Exception:
            _log.exception("a message of a bot's socket fails")
            self._end(CloseCode.INTERNAL_ERROR, "an error of the site")

    def _end(self, code: CloseCode, reason: str) -> None:
        self._websocket.close(code, reason)
        self._on_end(self, f"was {reason}")


def play(client: socket.socket, head: bytes, arena: str, limits: SocketLimits) -> None:
    """Play with the bot at the other end of a socket until either end closes it.

    Args:
      client: The connected socket.
      head: The head of the request, which was read from it.
      arena: The arena's address, in the form of the SDK.
      limits: The limits of the bot.
    """
    with _opened(client, head, limits) as websocket:
        if websocket is None:
            return
        try:
            hello = _hello(websocket, limits)
            _play(websocket, hello, arena, limits)
            code, reason = CloseCode.GOING_AWAY, "the arena ended play"
        except _Close as closed:
            code, reason = closed.code, str(closed)
        except Refused as refused:
            code, reason = CloseCode.POLICY_VIOLATION, str(refused)
        except Unreachable:
            code, reason = CloseCode.TRY_AGAIN_LATER, "the arena does not answer; try again later"
        except PlayError as error:
            code, reason = CloseCode.POLICY_VIOLATION, str(error)
        except ConnectionClosed:
            return
        _say(websocket, reason)
        websocket.close(code, reason.encode()[:MOST_CLOSE_BYTES].decode(errors="ignore"))


def refuse(client: socket.socket, why: str) -> None:
    """Answer a request that gets no WebSocket."""
    body = f"{why[:1].upper()}{why[1:]}.\n".encode()
    with contextlib.suppress(OSError):
        client.settimeout(1.0)
        client.sendall(
            b"HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\ncontent-type: text/plain\r\n"
            b"content-length: %d\r\n\r\n%b" % (len(body), body)
        )


@contextlib.contextmanager
def _opened(
    client: socket.socket, head: bytes, limits: SocketLimits
) -> Iterator[Connection | None]:
    """Answer the request for a WebSocket; return None if it requests no known protocol."""
    # Without extensions: what is compressed may be a thousand times as long.
    protocol = _CountedFrames(limits)
    protocol.receive_data(head)
    for request in protocol.events_received():
        protocol.send_response(protocol.accept(cast("Any", request)))
    with contextlib.suppress(OSError):
        client.settimeout(limits.hello_s)
        for data in protocol.data_to_send():
            client.sendall(data)
        client.settimeout(None)
    if protocol.state is not State.OPEN:
        yield None
        return
    websocket = Connection(
        client,
        protocol,
        ping_interval=limits.ping_s,
        ping_timeout=limits.ping_s,
        close_timeout=CLOSE_S,
        max_queue=2,  # so that few messages are read and not handled
    )
    websocket.start_keepalive()
    try:
        yield websocket
    finally:
        websocket.close()


def _hello(websocket: Connection, limits: SocketLimits) -> Hello:
    """Return the first message of a bot.

    Raises:
      _Close: if it does not arrive, is invalid, or is that of a guest who may not play.
    """
    try:
        first = websocket.recv(limits.hello_s)
    except TimeoutError:
        raise _Close(CloseCode.POLICY_VIOLATION, "no hello came in time") from None
    try:
        hello = validation.validated(_First, json.loads(first)).hello
    except validation.InvalidInput as error:
        raise _Close(CloseCode.POLICY_VIOLATION, f"no hello: {error.problems[0]}") from None
    except (ValueError, RecursionError):
        raise _Close(CloseCode.POLICY_VIOLATION, "the first message is no JSON object") from None
    if hello.token.startswith(GUEST) and not limits.guests:
        raise _Close(CloseCode.POLICY_VIOLATION, "guests play from the arena's machine alone")
    return hello


def _play(websocket: Connection, hello: Hello, arena: str, limits: SocketLimits) -> None:
    """Play at the arena until that ends.

    Raises `PlayError` if the arena refuses the bot or does not answer, or the bot has closed its socket.
    """
    declaration = type(
        "SocketBot",
        (Declaration,),
        {
            "games": hello.games,
            "auto": not hello.ask_forced,
            "want_text": True,
            "version": hello.version,
            # The arena's own process would add the entropy, so it would not protect the bot.
            "adds_entropy": False,
        },
    )

    def say(text: str) -> None:
        _say(websocket, text)

    def start(_: Sequence[str], on_line: Any, on_end: Any) -> BotProcess:
        return cast("BotProcess", _SocketSeat(websocket, limits, on_line, on_end))

    bridge = Bridge(("socket",), per_match=False, say=say, start=cast("type[BotProcess]", start))
    join(
        declaration,
        Mode(Way.BATCH, 0, hello.max_matches, hello.max_matches),
        bridge,
        address=arena,
        token=hello.token,
        once=True,
        log=say,
    )


def _say(websocket: Connection, text: str) -> None:
    """Send a line for the bot's log."""
    with contextlib.suppress(ConnectionClosed):
        websocket.send(json.dumps({"log": text}))
