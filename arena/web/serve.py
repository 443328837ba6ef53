"""`arena web` itself: the site under uvicorn, until a signal."""

import contextlib
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from arena.web.app import Web, application
from arena.web.arena_source import ArenaSource
from arena.web.connection import Connection
from arena.web.hall import Hall
from arena.web.live import LivePages

GRACE_S = 5
"""How long answers that are being sent may take after a signal."""
KEEP_ALIVE_S = 15
MOST_CONNECTIONS = 4_000
NICENESS = 10
"""Pages give way to an arena on the same machine: a player's turn goes before a picture."""


class _Lazy:
    """The site, with what is live made on the loop that serves it."""

    def __init__(self, web: Web, data: Path) -> None:
        self._web = web
        self._data = data
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None:
            pages = LivePages(self._web, Hall(ArenaSource(self._data)))
            self._app = application(self._web, pages.routes())
        await self._app(scope, receive, send)


class CannotServePages(Exception):
    """It cannot listen. The text says why."""


def serve(
    data: Path,
    host: str,
    port: int,
    listening: Callable[[str], None],
    lifeline: int | None = None,
) -> None:
    """Serve the pages of a folder until SIGINT or SIGTERM; `listening` is told the address.

    It also ends when `lifeline` does, a pipe's descriptor, whose other end is held by who started
    it: a pipe ends with its holder, however that came.

    Raises:
      CannotServePages: if the address cannot be listened on.
    """
    os.setpriority(os.PRIO_PROCESS, 0, max(NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))
    bound = _bound(host, port)
    with contextlib.closing(bound):
        taken = bound.getsockname()
        shown = f"[{taken[0]}]" if ":" in taken[0] else taken[0]
        web = Web(data)
        config = uvicorn.Config(
            _Lazy(web, data),
            interface="asgi3",
            http=Connection,
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=GRACE_S,
            backlog=1024,
            limit_concurrency=MOST_CONNECTIONS,
        )
        server = uvicorn.Server(config)
        # Before anybody is told of the address, and may end this process. uvicorn has handlers of its
        # own while it runs, and raises a signal again once it has stopped.
        for ends in (signal.SIGINT, signal.SIGTERM):
            signal.signal(ends, lambda *_: _stop(server))
        with contextlib.closing(web):
            listening(f"{shown}:{taken[1]}")
            if lifeline is not None:
                Thread(target=_end_with, args=(lifeline,), daemon=True).start()
            server.run(sockets=[bound])


def _stop(server: uvicorn.Server) -> None:
    """Have it end, or not begin. An exception may come anywhere, between a coroutine and its loop too."""
    server.should_exit = True


def _end_with(lifeline: int) -> None:
    """End this process as SIGTERM does once the lifeline is cut, and at once where that is not enough."""
    # Not by a file, whose lock this thread would hold when the interpreter ends, which is fatal then.
    while os.read(lifeline, 1):
        pass
    signal.raise_signal(signal.SIGTERM)
    time.sleep(2 * GRACE_S)
    os._exit(1)


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise CannotServePages(f"cannot listen on {host}: {error.strerror}") from None
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(1024)
    except OSError as error:
        bound.close()
        raise CannotServePages(f"cannot listen on {host}:{port}: {error.strerror}") from None
    return bound
