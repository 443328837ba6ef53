"""The table of all routes of the acting process, as an application."""

import time
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

import arena.web.path_numbers  # noqa: F401 - for the routes with numbers
from arena.web.acting import account, comparing, entering, organise, own_bots, webhooks
from arena.web.acting.arena_calls import SiteCalls
from arena.web.acting.guard import Act, Ask, Guard, Who, Wrong

ACTS: Final = (
    *account.ACTS,
    *own_bots.ACTS,
    *entering.ACTS,
    *comparing.ACTS,
    *webhooks.ACTS,
    *organise.ACTS,
)
"""Every route, with who may ask for it."""


def application(
    arena: SiteCalls, secret: str, now_s: Callable[[], float] = time.monotonic
) -> ASGIApp:
    """What the acting process serves; `secret` comes with each forwarded request, and `now_s` reads a clock."""
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
