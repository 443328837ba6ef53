"""The process of people's seats: it has a folder for replays, and nothing of the arena."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.types import ASGIApp

from arena.web.acting.process import serve_application
from arena.web.play.seats import Seats
from arena.web.play.server import PlayPages


def serve(path: str, folder: str, secret: str) -> None:
    """Serve until this process is ended.

    Args:
      path: The socket file to listen on, in a folder that only this user can open.
      folder: Gets the replays.
      secret: Comes with each request of the process of the pages; others are refused.
    """

    @asynccontextmanager
    async def made() -> AsyncIterator[ASGIApp]:
        pages = PlayPages(Seats(Path(folder)), secret)
        pages.keep_time()
        yield pages.application()

    serve_application(path, made)
