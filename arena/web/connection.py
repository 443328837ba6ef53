"""A connection of uvicorn's that can be handed over once an answer has begun."""

import asyncio
from typing import Any, Final

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

EXTENSION: Final = "arena.connection"
"""Under this name a request's scope has its connection, among its extensions."""


class _HandedOver(ConnectionError):
    pass


class Connection(H11Protocol):
    """Reads requests as uvicorn does, until it is handed over."""

    def __init__(self, *given: Any, **named: Any) -> None:
        """As uvicorn makes it."""
        super().__init__(*given, **named)
        self._site = self.app
        self.app = self._asked

    async def _asked(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("extensions", {})[EXTENSION] = self
        await self._site(scope, receive, send)

    def hand_over(self, protocol: asyncio.Protocol) -> bool:
        """Let `protocol` have what this stands on, after all that was sent; False if that is gone.

        To uvicorn it looks as if whoever asked had left, so that it forgets the request.
        """
        transport = self.transport
        if transport.is_closing():
            return False
        self.connection_lost(_HandedOver())
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        return True
