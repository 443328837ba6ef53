"""Starts the acting process and that of people's seats, and forwards requests to them.

Each listens on a socket file. Bodies and times are limited. The process of bots' sockets is started in the same way
(`arena.web.sockets`).
"""

import asyncio
import contextlib
import logging
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Final

import h11
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.api.admission.http_connections import visitor_of
from arena.process_pool import PoolClosed, ProcessPool
from arena.web.acting.visits import MOST_BODY_BYTES, SCHEME, SECRET, VISITOR
from arena.web.page_places import Full, PagePlaces

ACTING: Final = frozenset({"signin", "signout", "register", "me", "organise"})
"""The first parts of the paths that are forwarded to the acting process."""
PLAY: Final = frozenset({"play"})
"""The first parts of the paths that are forwarded to the process of people's seats."""
PIECE_S: Final = 10.0
"""The longest time between two pieces of a body, in seconds."""
AGAIN_S: Final = 0.5
"""Seconds between the end of a process and its next start."""
START_S: Final = 10.0
"""Seconds for which a request waits for a process to start."""
_PIECE_BYTES: Final = 64 << 10
_OF_CONNECTIONS: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"te",
        b"transfer-encoding",
        b"upgrade",
        b"proxy-connection",
        b"expect",
    }
)
_WITHOUT_BODY: Final = ("GET", "HEAD")
"""The methods whose bodies are dropped."""
_ANSWERS: Final = {
    400: "This request cannot be read: nothing of it was done.\n",
    408: "The request took too long: nothing of it was done.\n",
    413: f"This is larger than {MOST_BODY_BYTES >> 20} MB: nothing of it was done.\n",
    502: "What acts on this site does not answer. Try again in a minute.\n",
    503: "Too many requests of yours are open at once. Try again in a minute.\n",
}

_log = logging.getLogger(__name__)


class _Refusal(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class ForwardedProcess:
    """A process to which requests are forwarded; it is restarted when it ends, until `close`."""

    def __init__(self, given: Path | str, module: str = "arena.web.acting.process") -> None:
        """Start nothing yet.

        Args:
          given: The resources of the process: the arena's socket, or a JSON list of a folder and
            the socket.
          module: Has the function `serve` of the process.
        """
        self._folder = tempfile.mkdtemp(prefix="arena-acting-")  # only for this user
        self.path: Final = Path(self._folder) / "acting.sock"
        self.secret: Final = secrets.token_hex(16)
        """Comes with each forwarded request, and with no other one."""
        # In a deep folder the path uses a descriptor of this process.
        self._given = str(given).replace("/proc/self/", f"/proc/{os.getpid()}/")
        self._module = module
        self._pool = ProcessPool(1, niceness=0)

    async def run(self) -> None:
        serve = import_module(self._module).serve  # its packages are not loaded by pages
        while True:
            try:
                call = self._pool.submit(serve, str(self.path), self._given, self.secret)
                await asyncio.wrap_future(call)
            except PoolClosed:
                return
            except Exception:
                _log.exception("a process of pages has ended", extra={"module_name": self._module})
            await asyncio.sleep(AGAIN_S)

    def close(self) -> None:
        self._pool.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class Forwarding:
    """An application that forwards paths to a process, and passes all others on to another application."""

    def __init__(
        self, app: ASGIApp, process: ForwardedProcess, parts: frozenset[str] = ACTING
    ) -> None:
        """`parts` are the first parts of the paths that are forwarded; `app` answers all others."""
        self._app, self._path, self._secret = app, process.path, process.secret
        self._parts = parts
        self._places = PagePlaces()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"][1:].partition("/")[0] not in self._parts:
            await self._app(scope, receive, send)
            return
        began = False

        async def sent(message: Message) -> None:
            nonlocal began
            began = True
            await send(message)

        try:
            visitor = visitor_of(scope["client"])
            # A request body occupies a place; answers may last, as feeds do.
            turn = (
                self._places.place(visitor)
                if scope["method"] != "GET"
                else contextlib.nullcontext()
            )
            async with turn:
                await self._forward(scope, visitor, receive, sent)
        except (_Refusal, Full, OSError, h11.ProtocolError) as error:
            if began:
                raise
            status = (
                error.status
                if isinstance(error, _Refusal)
                else 503
                if isinstance(error, Full)
                else 400
                if isinstance(error, h11.LocalProtocolError)  # a client's that h11 does not send on
                else 502
            )
            if status == 502:
                _log.warning("a request cannot be forwarded", extra={"why": str(error)})
            headers = {"cache-control": "no-store", "connection": "close"}
            await PlainTextResponse(_ANSWERS[status], status, headers)(scope, receive, send)

    async def _forward(self, scope: Scope, visitor: str, receive: Receive, send: Send) -> None:
        headers = self._head(scope, visitor)
        with await self._connected() as connection:
            client = h11.Connection(h11.CLIENT)
            target = scope["raw_path"] + (
                b"?" + scope["query_string"] if scope["query_string"] else b""
            )
            request = h11.Request(method=scope["method"], target=target, headers=headers)
            is_read = await _sent(connection, client.send(request))
            async for piece in _pieces(receive):
                if is_read and scope["method"] not in _WITHOUT_BODY:
                    is_read = await _sent(connection, client.send(h11.Data(data=piece)))
            if is_read:
                await _sent(connection, client.send(h11.EndOfMessage()))
            await _answer(client, connection, send)

    async def _connected(self) -> socket.socket:
        """Return a connection to the process, which may be starting."""
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + START_S
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.settimeout(0)
                await loop.sock_connect(connection, str(self._path))
            except BaseException as error:
                connection.close()
                if not isinstance(error, OSError) or loop.time() > deadline_s:
                    raise
                await asyncio.sleep(AGAIN_S / 5)
            else:
                return connection

    def _head(self, scope: Scope, visitor: str) -> list[tuple[bytes, bytes]]:
        """Return the headers of the forwarded request. Only this process knows the visitor and the scheme."""
        added = {SECRET: self._secret, VISITOR: visitor, SCHEME: scope["scheme"]}
        names = {name.encode() for name in added}
        kept = [
            (name, value)
            for name, value in scope["headers"]
            if name not in _OF_CONNECTIONS and name not in names and name != b"content-length"
        ]
        has_body = scope["method"] not in _WITHOUT_BODY
        framing = [(b"transfer-encoding", b"chunked")] if has_body else []
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MOST_BODY_BYTES:
            raise _Refusal(413)
        return [
            *kept,
            *((name.encode(), value.encode()) for name, value in added.items()),
            *framing,
            (b"connection", b"close"),
        ]


async def _pieces(receive: Receive) -> AsyncIterator[bytes]:
    """Yield the pieces of a body.

    Raises:
      _Refusal: if it is too long or too slow.
      OSError: if the client has gone.
    """
    left, more = MOST_BODY_BYTES, True
    while more:
        try:
            async with asyncio.timeout(PIECE_S):
                message = await receive()
        except TimeoutError:
            raise _Refusal(408) from None
        if message["type"] == "http.disconnect":
            raise ConnectionResetError("the client has gone")
        piece, more = message.get("body", b""), message.get("more_body", False)
        left -= len(piece)
        if left < 0:
            raise _Refusal(413)
        if piece:
            yield piece


async def _sent(connection: socket.socket, data: bytes | None) -> bool:
    """Send bytes, and return whether the process still reads: it may have answered before the end of a body."""
    try:
        await asyncio.get_running_loop().sock_sendall(connection, data or b"")
    except ConnectionError:
        return False
    return True


async def _answer(client: h11.Connection, connection: socket.socket, send: Send) -> None:
    """Pass on an answer piece by piece."""
    loop = asyncio.get_running_loop()
    while True:
        event = client.next_event()
        if event is h11.NEED_DATA:
            client.receive_data(await loop.sock_recv(connection, _PIECE_BYTES))
        elif isinstance(event, h11.Response):
            left_out = _OF_CONNECTIONS | {b"date"}
            headers = [(name, value) for name, value in event.headers if name not in left_out]
            await send(
                {"type": "http.response.start", "status": event.status_code, "headers": headers}
            )
        elif isinstance(event, h11.Data):
            await send({"type": "http.response.body", "body": bytes(event.data), "more_body": True})
        elif isinstance(event, h11.EndOfMessage):
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        elif isinstance(event, h11.ConnectionClosed):
            raise ConnectionResetError("the process has ended")
