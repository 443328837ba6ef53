"""The bytes of calls and their messages, counted for each connection.

gRPC names a connection by its peer, such as `ipv4:127.0.0.1:5000`.
"""

from typing import Final

MESSAGE_BYTES: Final = 128
"""Bytes added for each message: headers of frames and records, and window updates."""
CALL_BYTES: Final = 4_096
"""Bytes added for each call: its headers, which gRPC limits to this."""
SILENT_CALL_BYTES: Final = 1_024
"""Bytes subtracted for a call without a message. gRPC (1.75.1) leaks 50 to 200 bytes for each call that the client
cancels before it is answered, so such calls are limited."""


class TrafficAccount:
    """The bytes of messages received over one connection, for all its streams."""

    __slots__ = ("received_bytes",)

    def __init__(self) -> None:
        self.received_bytes = 0
        """Negative where calls ended without a message."""

    def opened(self) -> None:
        """A call begins; until its first message arrives it counts against the connection."""
        self.received_bytes -= SILENT_CALL_BYTES

    def spoke(self) -> None:
        """The first message of a call has arrived."""
        self.received_bytes += SILENT_CALL_BYTES + CALL_BYTES

    def received(self, size: int) -> None:
        """A message of so many bytes has arrived."""
        self.received_bytes += size + MESSAGE_BYTES


class Traffic:
    """The accounts of all connections. Used on the thread of the host loop."""

    def __init__(self) -> None:
        self._accounts: dict[str, TrafficAccount] = {}

    def account(self, peer: str) -> TrafficAccount:
        """The account of a connection, by gRPC's name of its peer; a call that begins is counted in it."""
        account = self._accounts.get(peer)
        if account is None:
            account = self._accounts[peer] = TrafficAccount()
        account.opened()
        return account

    def has_called(self, peer: str) -> bool:
        """Whether a connection has made a call, with or without a message."""
        return peer in self._accounts

    def explained_bytes(self, peer: str) -> int:
        """Bytes of a connection that were messages; negative where calls ended without one."""
        account = self._accounts.get(peer)
        return 0 if account is None else account.received_bytes

    def peers(self) -> set[str]:
        """All peers with an account. May be called on any thread, as `forget`."""
        return set(self._accounts)

    def forget(self, peers: set[str]) -> None:
        """Forget the accounts of connections that have ended."""
        for peer in peers:
            self._accounts.pop(peer, None)
