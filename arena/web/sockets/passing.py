"""Passes sockets that ask for a WebSocket from the process of the pages to that of the bots' sockets."""

import asyncio
import contextlib
import json
import socket
from collections.abc import Collection
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from arena.api.admission.http_connections import is_this_machine, visitor_of
from arena.api.admission.own_names import names_this_machine
from arena.web.acting.forwarding import AGAIN_S, START_S, ForwardedProcess
from arena.web.subscribers import EXTENSION, HandoverConnection

PATH: Final = "/seat"
"""The path at which bots request a WebSocket."""
MOST_HEAD_BYTES: Final = 16 << 10
_REFUSED: Final = {
    403: "A page of {origin} may not connect its reader's browser; the organiser may allow it by --bots-from.\n",
    421: "Tokens need an address with https, as others can read what is sent by http.\n",
    426: "This address is for bots, which speak WebSocket: see docs/websocket.md.\n",
    431: "The head of this request is too long.\n",
    503: "The process of the bots' sockets does not answer. Try again in a minute.\n",
}


class SocketPassing:
    """An application that passes on requests for `PATH`, and lets another application answer all others."""

    def __init__(
        self, app: ASGIApp, process: ForwardedProcess, origins: Collection[str] = ()
    ) -> None:
        """`origins` are the origins of other sites whose pages may connect, such as `https://bots.example`."""
        self._app, self._path, self._secret = app, process.path, process.secret
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the socket of a request on, or answer it."""
        if scope["type"] != "http" or scope["path"] != PATH:
            await self._app(scope, receive, send)
            return
        headers, visitor = Headers(scope=scope), visitor_of(scope["client"])
        local = is_this_machine(visitor) and names_this_machine(scope)
        scheme = {"ws": "http", "wss": "https"}.get(scope["scheme"], scope["scheme"])
        origin = headers.get("origin", "")
        head = _head(scope)
        if scope["method"] != "GET" or headers.get("upgrade", "").casefold() != "websocket":
            status = 426
        elif scheme != "https" and not local:
            status = 421
        elif origin and origin not in {f"{scheme}://{headers.get('host', '')}", *self._origins}:
            status = 403
        elif len(head) > MOST_HEAD_BYTES:
            status = 431
        else:
            given = {"secret": self._secret, "visitor": visitor, "local": local}
            status = await self._passed(
                scope["extensions"][EXTENSION], json.dumps(given).encode(), head
            )
        if status:
            text = _REFUSED[status].format(origin=origin[:100])
            ends = {"connection": "close", "cache-control": "no-store", "upgrade": "websocket"}
            await PlainTextResponse(text, status, ends)(scope, receive, send)

    async def _passed(self, connection: HandoverConnection, given: bytes, head: bytes) -> int:
        """Pass a socket on; return 0, or the status of the answer if it stays here."""
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + START_S
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as control:
            control.settimeout(0)  # no page waits for that process
            while True:
                try:
                    control.connect(str(self._path))
                    break
                except OSError:  # the process is starting, or its queue is full
                    if loop.time() > deadline_s:
                        return 503
                    await asyncio.sleep(AGAIN_S / 5)
            connection.hand_over(_Passed(control, given + b"\n" + head))
        return 0


class _Passed(asyncio.Protocol):
    """The connection of a socket that is passed on to another process."""

    def __init__(self, control: socket.socket, message: bytes) -> None:
        self._control, self._message = control, message

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the socket, and close it here, which leaves it open there."""
        assert isinstance(transport, asyncio.Transport)
        with contextlib.suppress(OSError):  # the client finds its socket closed, and connects again
            socket.send_fds(
                self._control, [self._message], [transport.get_extra_info("socket").fileno()]
            )
        transport.abort()


def _head(scope: Scope) -> bytes:
    """Return the head of a request as bytes. A WebSocket has no query, because proxies would log it."""
    lines = [b"GET " + scope["raw_path"] + b" HTTP/1.1"]
    lines += [name + b": " + value for name, value in scope["headers"]]
    return b"\r\n".join([*lines, b"", b""])
