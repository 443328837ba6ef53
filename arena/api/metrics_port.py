"""The HTTP port of an arena, with its metrics and its status.

A Starlette app on uvicorn's protocol, in the host loop. A connection has one request. Few may be open at a time, each for
a short time (`arena.api.admission.http_connections`).
"""

import asyncio
import os
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from uvicorn import Config
from uvicorn.server import ServerState

from arena.api.admission.http_connections import BoundedConnection, HttpLimits, Places
from arena.api.admission.own_names import OwnNames
from arena.api.metrics_page import metrics_page
from arena.api.metrics_source import MetricsSource
from arena.api.status import status_page
from arena.live.listen import CannotServe

LIMITS: Final = HttpLimits(of_address=8, remote=24, local=8, head_s=5.0, answer_s=5.0)
MAX_HEAD_BYTES: Final = 8_192
METRICS_PATH: Final = "/metrics"
STATUS_PATH: Final = "/status"
METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_HEADERS: Final = ((b"x-content-type-options", b"nosniff"), (b"connection", b"close"))


class MetricsPort:
    """Serves `GET /metrics` and `GET /status`. Lives in the host loop."""

    def __init__(self, source: MetricsSource) -> None:
        async def metrics(_: Request) -> Response:
            return Response(await metrics_page(source), media_type=METRICS_TYPE)

        async def status(_: Request) -> Response:
            return Response(await status_page(source), media_type="application/json")

        pages = f"there are the pages {METRICS_PATH} and {STATUS_PATH}\n"
        app = Router(
            [Route(METRICS_PATH, metrics), Route(STATUS_PATH, status)],
            redirect_slashes=False,
            default=PlainTextResponse(pages, 404),
        )
        self._config = Config(
            OwnNames(app),
            interface="asgi3",
            http=BoundedConnection,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",  # errors of the page are logged, those of clients are not
            access_log=False,
            proxy_headers=False,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
        self._state = ServerState()
        self._state.default_headers.extend(_HEADERS)
        self._places = Places(LIMITS)
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> str:
        """Listen, on a free port if it is 0; return the address of the metrics.

        Raises `CannotServe` if the address or port cannot be used.
        """
        self._config.load()
        try:
            self._server = await asyncio.get_running_loop().create_server(
                lambda: BoundedConnection(self._places, self._config, self._state, {}),
                host,
                port,
                backlog=LIMITS.local,
            )
        except OSError as error:
            why = os.strerror(error.errno) if error.errno and error.errno > 0 else "no such host"
            raise CannotServe(f"cannot serve metrics on {host}:{port}: {why}") from error
        bound = self._server.sockets[0].getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{bound}{METRICS_PATH}"

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in self._places.open_connections():
            connection.cut()
