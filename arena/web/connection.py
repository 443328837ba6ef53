"""A uvicorn connection that can switch to another protocol after the head of a response."""

import asyncio
from typing import Final

from starlette.types import Receive, Scope, Send

from arena.server.admission.http_connections import BoundedConnection

EXTENSION: Final = "arena.connection"
"""The key of the connection in the `extensions` of a request's scope."""


class _HandedOver(ConnectionError):
    pass


class HandoverConnection(BoundedConnection):
    """An HTTP connection of uvicorn, until it is handed over."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application find the connection in the scope."""
        scope.setdefault("extensions", {})[EXTENSION] = self
        await super().answer(scope, receive, send)

    def hand_over(self, protocol: asyncio.Protocol) -> bool:
        """Give the transport to `protocol`; False if it is closing.

        Bytes that were sent before go out first. To uvicorn this looks like a disconnect, so it
        drops the request.
        """
        transport = self.transport
        if transport.is_closing():
            return False
        self.connection_lost(_HandedOver())
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        return True
