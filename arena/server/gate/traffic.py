"""What connections send that the arena asked for, or at least understands: messages of calls.

gRPC names a connection by its peer, such as `ipv4:127.0.0.1:5000`.
"""

from typing import Final

MESSAGE_BYTES: Final = 128
"""Beside a message's own bytes: heads of frames and records, and window updates in return."""
CALL_BYTES: Final = 4_096
"""Beside a call's messages: its headers, which gRPC limits to this."""
SILENT_CALL_BYTES: Final = 1_024
"""What a call without a message counts for that is neither. Of each call that is given up before anybody
answers it gRPC keeps some 50 to 200 bytes for good (1.75.1), so there may not be many."""


class Account:
    """What came over one connection and was a message. The streams of it share one."""

    __slots__ = ("received_bytes",)

    def __init__(self) -> None:
        self.received_bytes = 0
        """Less than nothing, where calls came to nothing."""

    def opened(self) -> None:
        """A call begins; until its first message it is none that the arena asked for."""
        self.received_bytes -= SILENT_CALL_BYTES

    def spoke(self) -> None:
        """The first message of a call is here."""
        self.received_bytes += SILENT_CALL_BYTES + CALL_BYTES


class Traffic:
    """The accounts of all connections. Lives on the thread of the host loop."""

    def __init__(self) -> None:
        self._accounts: dict[str, Account] = {}

    def account(self, peer: str) -> Account:
        """The account of a connection, by gRPC's name of its peer; a call is noted in it."""
        account = self._accounts.get(peer)
        if account is None:
            account = self._accounts[peer] = Account()
        account.opened()
        return account

    def has_called(self, peer: str) -> bool:
        """Whether a connection made a call, if only one that said nothing so far."""
        return peer in self._accounts

    def explained_bytes(self, peer: str) -> int:
        """What became messages of calls on a connection; less than nothing, where calls came to nothing."""
        account = self._accounts.get(peer)
        return 0 if account is None else account.received_bytes

    def peers(self) -> set[str]:
        """All that have an account. May be called on any thread, as `forget`."""
        return set(self._accounts)

    def forget(self, peers: set[str]) -> None:
        """Forget the accounts of connections that have ended."""
        for peer in peers:
            self._accounts.pop(peer, None)
