"""The acting process: serves its pages on a socket file, with a channel to the arena and nothing else."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import grpc
import uvicorn
from starlette.types import ASGIApp

from arena.web.acting.arena_calls import SiteCalls
from arena.web.acting.routes import application

GRACE_S = 2


def serve(path: str, arena_socket: str, secret: str) -> None:
    """Serve until this process is ended.

    Args:
      path: The socket file to listen on, in a folder that only this user can open.
      arena_socket: The socket file of the arena.
      secret: Comes with each request of the process of the pages; others are refused.
    """

    @asynccontextmanager
    async def made() -> AsyncIterator[ASGIApp]:
        address = f"unix:{arena_socket}"
        async with grpc.aio.insecure_channel(address) as channel:
            with grpc.insecure_channel(address) as uploads:
                yield application(SiteCalls(channel, uploads), secret)

    serve_application(path, made)


def serve_application(path: str, made: Callable[[], AbstractAsyncContextManager[ASGIApp]]) -> None:
    """Serve an application, which is made on the loop, on a socket file until this process is ended."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s")
    with socket.socket(socket.AF_UNIX) as bound:
        Path(path).unlink(missing_ok=True)  # of a process that has ended
        bound.bind(path)
        bound.listen(128)

        async def main() -> None:
            async with made() as app:
                server = uvicorn.Server(
                    uvicorn.Config(
                        app,
                        interface="asgi3",
                        ws="none",
                        lifespan="off",
                        log_config=None,
                        access_log=False,
                        server_header=False,
                        proxy_headers=False,
                        timeout_graceful_shutdown=GRACE_S,
                    )
                )
                await server.serve(sockets=[bound])

        asyncio.run(main())
