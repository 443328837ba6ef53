"""The process of people's seats: it has a folder for replays, and calls the arena for submitted bots, without a key."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.types import ASGIApp

from arena.web.acting.process import serve_application
from arena.web.play.seats import Seats
from arena.web.play.server import PlayPages


def serve(path: str, given: str, secret: str) -> None:
    """Serve until this process is ended.

    Args:
      path: The socket file to listen on, in a folder that only this user can open.
      given: As JSON, the folder that gets the replays, and the socket file of the arena.
      secret: Comes with each request of the process of the pages; others are refused.
    """

    @asynccontextmanager
    async def made() -> AsyncIterator[ASGIApp]:
        folder, arena_socket = json.loads(given)
        pages = PlayPages(Seats(Path(folder), arena_socket=arena_socket), secret)
        pages.keep_time()
        yield pages.application()

    serve_application(path, made)
