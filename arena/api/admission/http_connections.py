"""HTTP connections with a limited time and a limited number, for the pages and for the metrics port.

uvicorn waits for ever for the head of a request and for a client that reads nothing. Hypercorn's time limit begins
again with each byte, and it has no limit for an address. So both ports use this subclass of uvicorn's protocol.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from arena.api.admission.connections import peer_of
from arena.live.limits import LOCAL, address_of


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Numbers of open connections, and their times in seconds."""

    of_address: int
    """The number of connections of one address of another machine."""
    remote: int
    """The number of connections of all other machines together."""
    local: int
    """The number of connections of this machine, which others cannot use."""
    head_s: float
    """The time for the whole head of a request, from the connection or from the previous answer."""
    answer_s: float
    """The time until the client has read the answer."""


def visitor_of(client: tuple[str, int] | None) -> str:
    """Return the address that an HTTP client is counted under; a client of None uses a socket file."""
    return LOCAL if client is None else address_of(peer_of(*client))


def is_this_machine(visitor: str) -> bool:
    """Return whether a visitor, as `visitor_of` names it, is this machine."""
    return visitor == LOCAL


class Places:
    """The open connections of a port.

    If an address has too many connections, its longest unused one is closed. If all places of other machines are taken,
    the address with the most connections loses one.
    """

    def __init__(self, limits: HttpLimits) -> None:
        self.limits = limits
        self._of_address: dict[str, dict[BoundedConnection, None]] = {}

    def open_connections(self) -> list["BoundedConnection"]:
        return [
            connection for connections in self._of_address.values() for connection in connections
        ]

    def enter(self, address: str, connection: "BoundedConnection") -> None:
        """Add a connection, or note that a known one is in use; close another one if there are too many."""
        connections = self._of_address.setdefault(address, {})
        connections.pop(connection, None)
        connections[connection] = None
        if len(connections) > (self.limits.local if address == LOCAL else self.limits.of_address):
            next(iter(connections)).cut()
            return
        remote = [connections for at, connections in self._of_address.items() if at != LOCAL]
        if sum(map(len, remote)) > self.limits.remote:
            most: dict[BoundedConnection, None] = max(remote, key=len)
            next(iter(most)).cut()

    def leave(self, address: str, connection: "BoundedConnection") -> None:
        """Remove a connection, if it is still there."""
        connections = self._of_address.get(address, {})
        connections.pop(connection, None)
        if not connections:
            self._of_address.pop(address, None)


class BoundedConnection(H11Protocol):
    """An HTTP connection that is closed when its time or its place is used up."""

    def __init__(self, places: Places, *given: Any, **named: Any) -> None:
        """`places` has the limits; uvicorn passes the other arguments."""
        super().__init__(*given, **named)
        self._app, self.app = self.app, self.answer
        self._places = places
        self._address = ""
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place, and begin to wait for a request."""
        super().connection_made(transport)
        self._address = visitor_of(self.client)
        self._places.enter(self._address, self)
        self._limit(self._places.limits.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, unless this was the last."""
        if not self.transport.is_closing():
            self._limit(self._places.limits.head_s)
        super().on_response_complete()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request whose head is complete."""
        if self._deadline is not None:  # it may have been lost before this task began
            self._places.enter(self._address, self)
            self._limit(self._places.limits.answer_s)
        await self._app(scope, receive, send)

    def cut(self) -> None:
        self._leave()
        self.transport.abort()

    def _limit(self, seconds: float) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(seconds, self.cut)

    def _leave(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self._places.leave(self._address, self)
