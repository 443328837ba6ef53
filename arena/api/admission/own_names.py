"""Refuses requests for another host name than this machine's, on ports that are for this machine only.

Another site can make its own host name resolve to 127.0.0.1 (DNS rebinding). A browser on this machine then asks this
port in the name of that site, and the site reads the answer. Its requests carry that name as `Host`.
"""

import ipaddress

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_REFUSED = "this port is for this machine: ask http://localhost or http://127.0.0.1\n"


class OwnNames:
    """Passes on requests to a loopback address only if they name it by an address or as localhost."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _asks_loopback(scope) and not names_this_machine(scope):
            await PlainTextResponse(_REFUSED, 421)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _asks_loopback(scope: Scope) -> bool:
    server = scope.get("server")
    return server is not None and server[1] is not None and _is_loopback(server[0])


def names_this_machine(scope: Scope) -> bool:
    """Return whether a request names its host by an address or as localhost; a request without a host, as in HTTP/1.0, comes from no browser."""
    host = Headers(scope=scope).get("host", "localhost").casefold()
    name = host.rpartition("]")[0].lstrip("[") if "]" in host else host.partition(":")[0]
    return name.rstrip(".") == "localhost" or _is_address(name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
