"""The acting process: all its routes, which it serves on a socket file with a channel to the arena and nothing else."""

import asyncio
import logging
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Final

import grpc
import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

import arena.web.path_numbers  # noqa: F401 - for the routes with numbers
from arena.web.acting import account, comparing, entering, organise, own_bots, own_notes, webhooks
from arena.web.acting.arena_calls import SiteCalls
from arena.web.acting.guard import Act, Ask, Guard, Who, Wrong

GRACE_S = 2
ACTS: Final = (
    *account.ACTS,
    *own_bots.ACTS,
    *own_notes.ACTS,
    *entering.ACTS,
    *comparing.ACTS,
    *webhooks.ACTS,
    *organise.ACTS,
)
"""Every route, with who may ask for it."""


def application(
    arena: SiteCalls, secret: str, now_s: Callable[[], float] = time.monotonic
) -> ASGIApp:
    """Return the application of the acting process; `secret` is in each forwarded request, and `now_s` reads a clock."""
    guard = Guard(arena, secret, now_s)
    routes = [Route(act.path, _endpoint(guard, act), methods=[act.method]) for act in ACTS]
    nothing = _endpoint(guard, Act("GET", "", Who.ANYONE, _nothing))

    async def default(scope: Scope, receive: Receive, send: Send) -> None:
        response = await nothing(Request(scope, receive))
        await response(scope, receive, send)

    return Router(routes, redirect_slashes=False, default=default)


def _endpoint(guard: Guard, act: Act) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return await guard.answer(act, request)

    return answer


async def _nothing(ask: Ask) -> Response:
    raise Wrong(404, f"there is no page {ask.request.url.path[:100]}")


def serve(path: str, arena_socket: str, secret: str) -> None:
    """Serve until this process is ended.

    Args:
      path: The socket file to listen on, in a folder that only this user can open.
      arena_socket: The socket file of the arena.
      secret: The secret in each request of the process of the pages; other requests are refused.
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
        Path(path).unlink(missing_ok=True)  # the file of a process that has ended
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
