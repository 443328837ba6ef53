"""Closes connections that flood, which means that they send many bytes besides messages.

gRPC limits messages, calls and pings. It accepts any number of frames that carry no message (PRIORITY, WINDOW_UPDATE,
GOAWAY, unknown kinds, calls that are reset at once), and reads no other connection meanwhile: 4 s of them on one
connection delayed a bot by up to 6 s (`docs/decisions/0008-flooding-connections-are-closed.md`).

The kernel counts the bytes of each connection, and the arena knows those of messages. The difference has a budget; a
connection that exceeds it is closed. The only cost for a decision is the addition of a message's size. A check takes
some microseconds for each connection, and is made only while the process is busy.
"""

import contextlib
import ctypes
import errno
import ipaddress
import logging
import math
import os
import resource
import socket
import stat
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from arena import durable_files
from arena.api.admission.blocked_addresses import Block
from arena.live.limits import LOCAL, address_of
from arena.live.metrics import Traffic

BURST_BYTES: Final = 256 << 10
"""The number of bytes that a connection may send in a burst besides messages: a TLS handshake, headers, frames."""
SILENT_BURST_BYTES: Final = 96 << 10
"""The same before its first call is known. It includes the first message, which gRPC may read before it reports the call."""
BYTES_PER_S: Final = 64 << 10
"""The number of bytes a second that it may send besides messages."""
RECEIVE_BYTES: Final = 32 << 10
"""Receive buffer of a connection. gRPC reads a connection until its buffer is empty: with a larger one, others would
wait for megabytes of a connection that sends without end."""
CHECK_S: Final = 0.1
"""The time in seconds between two checks while the process is busy."""
ALERT_CHECK_S: Final = 0.02
"""The time in seconds between two checks for `ALERT_S` seconds after a connection was closed, as flooding clients reconnect."""
ALERT_S: Final = 10.0
COUNT_S: Final = 0.5
"""The time in seconds between two counts of descriptors; a count takes a millisecond for a thousand."""
FOR_A_CHECK: Final = 8
"""Spare descriptors that are freed for a check if no others are free."""
SHARE: Final = 1 / 50
"""The largest share of time for checks; with very many connections checks are rarer."""
BUSY: Final = 0.25
"""Processor use above which the process is busy; a harmful flood takes more."""
QUIET_S: Final = 15.0
"""The time in seconds between two checks while the process is not busy."""
FORGIVEN_S: Final = 60.0
"""The time in seconds after which a closed connection no longer counts against its address."""
STRIKES: Final = 3
"""Closed connections of one address within that time after which the address is blocked."""

_TCP_INFO_BYTES: Final = 136
_RECEIVED: Final = struct.Struct("=Q")
_RECEIVED_AT: Final = 128  # tcpi_bytes_received in Linux's struct tcp_info, since 4.1

_LIBC: Final = ctypes.CDLL(None)
_UNSPECIFIED: Final = bytes(16)
"""A `struct sockaddr` of the family AF_UNSPEC."""
MAX_DESCRIPTORS: Final = 65_536
"""More than the limit on streams (`arena.live.limits`) and their files."""
_DESCRIPTORS: Final = Path("/proc/self/fd")

_log = logging.getLogger(__name__)


def open_descriptors() -> int:
    """Return how many descriptors this process has open."""
    return len(os.listdir(_DESCRIPTORS))  # noqa: PTH208 - as below


def raised_descriptor_limit() -> int:
    """Raise the limit of open descriptors as far as the system and `MAX_DESCRIPTORS` allow, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    wanted = MAX_DESCRIPTORS if hard == unlimited else min(hard, MAX_DESCRIPTORS)
    if soft != unlimited and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return MAX_DESCRIPTORS if soft == unlimited else soft


class ClientConnection:
    """A TCP connection with a client, by a duplicate of its socket that is valid during a check."""

    def __init__(self, tcp: socket.socket) -> None:
        """Raises `OSError` if the socket is not connected."""
        host, port = tcp.getpeername()[:2]
        self._socket = tcp
        self.peer = peer_of(host, port)
        """Its name in gRPC, such as `ipv4:127.0.0.1:5000`."""

    @property
    def received_bytes(self) -> int:
        """Bytes that the kernel has received from it."""
        info = self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
        received: int = _RECEIVED.unpack_from(info, _RECEIVED_AT)[0]
        return received

    def cut(self) -> None:
        # Connecting to AF_UNSPEC resets the connection and drops unread bytes. After a shutdown alone, gRPC would
        # continue to read while the peer sends.
        _LIBC.connect(self._socket.fileno(), _UNSPECIFIED, len(_UNSPECIFIED))


Connections = Callable[[], contextlib.AbstractContextManager[Iterator[ClientConnection]]]


@dataclass(slots=True)
class _Known:
    beside_bytes: int = 0
    """The number of bytes besides messages at the last check; negative if those of messages were overestimated."""
    level_bytes: float = 0.0
    """Level of a leaky bucket that bytes besides messages fill."""
    cut: bool = False


class ConnectionMonitor:
    """Checks connections, and closes those that flood.

    It runs on a separate thread, because a flood may delay the arena's loop.
    """

    def __init__(
        self,
        connections: Connections,
        traffic: Traffic,
        *,
        most: int | None = None,
        block: Block | None = None,
        now_s: Callable[[], float] = time.monotonic,
        cpu_s: Callable[[], float] = time.process_time,
        descriptors: Callable[[], int] = open_descriptors,
    ) -> None:
        """Check connections from `start` on.

        Args:
          traffic: The bytes of their messages.
          most: Limit on their number; above it, the oldest that never made a call are closed.
          block: Blocks addresses; without it their new connections are closed.
          cpu_s: The processor time that the arena has used, in seconds.
          descriptors: Counts the open descriptors of the process.
        """
        self._connections = connections
        self._traffic = traffic
        self.most = most
        """Limit on the number of connections, if there is one."""
        self._block = block
        self._blocked: list[str] = []
        self._descriptors = descriptors
        self._now_s = now_s
        self._cpu_s = cpu_s
        self._known: dict[str, _Known] = {}
        self._strikes: Counter[str] = Counter()
        self._struck_s: dict[str, float] = {}
        self._checked_s = self._busy_s = now_s()
        self._counted_s = -math.inf
        self._used_s = cpu_s()
        self._alert_until_s = -math.inf
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="connections", daemon=True)
        self.open = 0
        """Open connections at the last check."""
        self.cut = 0
        """How many connections were closed."""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        pause_s = CHECK_S
        while not self._stop.wait(pause_s):
            began_s = self._now_s()
            try:
                self.check_if_busy()
            except OSError as error:
                # A check needs descriptors, too.
                if error.errno != errno.EMFILE or not durable_files.spare.give_up(FOR_A_CHECK):
                    _log.exception("connections cannot be checked")
            except Exception:  # the thread must continue after any error
                _log.exception("connections cannot be checked")
            ended_s = self._now_s()
            least_s = ALERT_CHECK_S if ended_s < self._alert_until_s else CHECK_S
            pause_s = max(least_s, (ended_s - began_s) / SHARE)

    def check_if_busy(self) -> None:
        """Check the connections if the process is busy, or the last check is long ago."""
        now_s, used_s = self._now_s(), self._cpu_s()
        busy = used_s - self._used_s > BUSY * (now_s - self._busy_s)
        self._busy_s, self._used_s = now_s, used_s
        if busy or now_s - self._checked_s >= QUIET_S or self._is_crowded(now_s):
            self.check()

    def _is_crowded(self, now_s: float) -> bool:
        if self.most is None or now_s - self._counted_s < COUNT_S:
            return False
        self._counted_s = now_s
        return self._descriptors() > self.most

    def check(self) -> None:
        """Check all connections, and close those that have exceeded their budget."""
        now_s = self._now_s()
        passed_s, self._checked_s = now_s - self._checked_s, now_s
        self._forgive(now_s)
        # A peer that had an account before this check, and has no connection now, has ended.
        before = self._traffic.peers()
        seen: set[str] = set()
        with self._connections() as connections:
            for connection in connections:
                seen.add(connection.peer)
                self._judge(connection, now_s, passed_s)
        self._known = {peer: known for peer, known in self._known.items() if peer in seen}
        self.open = len(seen)
        self._traffic.forget(before - seen)
        if self.most is not None and len(seen) > self.most:
            self._make_room(len(seen) - self.most)
        durable_files.spare.refill()
        self._block_repeated_floods()

    def _make_room(self, number: int) -> None:
        """Close `number` connections that never made a call, the oldest first.

        A bot makes its call as soon as it has a connection.
        """
        silent = [
            peer
            for peer, known in self._known.items()
            if not known.cut and not self._traffic.has_called(peer)
        ]
        doomed = set(silent[:number])
        with self._connections() as connections:
            for connection in connections:
                if connection.peer in doomed:
                    self._known[connection.peer].cut = True
                    self.cut += 1
                    connection.cut()
        fields = {"connections": len(doomed), "most": self.most}
        _log.warning("too many connections: connections without a call were closed", extra=fields)

    def _judge(self, connection: ClientConnection, now_s: float, passed_s: float) -> None:
        known = self._known.setdefault(connection.peer, _Known())
        if known.cut:
            return
        explained = self._traffic.explained_bytes(connection.peer)
        beside = connection.received_bytes - explained
        filled = known.level_bytes + beside - known.beside_bytes - BYTES_PER_S * passed_s
        known.level_bytes, known.beside_bytes = max(0.0, filled), beside
        address = address_of(connection.peer)
        called = self._traffic.has_called(connection.peer)
        burst_bytes = BURST_BYTES if called else SILENT_BURST_BYTES
        if known.level_bytes <= burst_bytes and self._strikes[address] < STRIKES:
            return
        known.cut = True
        self.cut += 1
        self._alert_until_s = now_s + ALERT_S
        if address != LOCAL:  # which others use as well
            self._strikes[address] += 1
            self._struck_s[address] = now_s
        connection.cut()
        fields = {"peer": connection.peer, "bytes": beside}
        _log.warning("a flooding connection was closed", extra=fields)

    def _forgive(self, now_s: float) -> None:
        for address, at_s in list(self._struck_s.items()):
            if now_s - at_s > FORGIVEN_S:
                del self._struck_s[address], self._strikes[address]

    def _block_repeated_floods(self) -> None:
        blocked = [address for address, closed in self._strikes.items() if closed >= STRIKES]
        if self._block is None or blocked == self._blocked:
            return
        if not self._block(blocked):
            self._block = None
            return
        _log.warning("addresses are blocked for repeated floods", extra={"addresses": blocked})
        self._blocked = blocked


def peer_of(host: str, port: int) -> str:
    """Return the name of a peer in gRPC, by its IP address and port."""
    if ":" not in host:
        return f"ipv4:{host}:{port}"
    mapped = ipaddress.IPv6Address(host).ipv4_mapped
    if mapped is not None:  # on a socket for both versions of IP
        return f"ipv4:{mapped}:{port}"
    return "ipv6:" + quote(f"[{host}]:{port}", safe=":")


def of_this_process(port: int) -> Connections:
    """Yield the TCP connections to a port of this process, as the kernel lists them."""

    @contextlib.contextmanager
    def connections() -> Iterator[Iterator[ClientConnection]]:
        yield _established(port)

    return connections


def listening(port: int) -> Iterator[socket.socket]:
    """Yield the sockets of this process that listen on a port, each as a duplicate that is valid until the next."""
    for duplicate in _sockets(port):
        if duplicate.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            yield duplicate


def bound_buffers(port: int) -> None:
    """Limit the receive buffers of new connections to a port of this process to `RECEIVE_BYTES`."""
    for listener in listening(port):
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)


def _established(port: int) -> Iterator[ClientConnection]:
    for duplicate in _sockets(port):
        try:
            yield ClientConnection(duplicate)
        except OSError:
            continue  # a listening socket, or just closed


def _sockets(port: int) -> Iterator[socket.socket]:
    for name in os.listdir(_DESCRIPTORS):  # noqa: PTH208 - paths would be slow
        # A descriptor may be closed and reused at any moment, so a duplicate is examined. It is
        # closed before the next, or the peer would not see that gRPC has closed the connection.
        try:
            fd = int(name)
            if not stat.S_ISSOCK(os.fstat(fd).st_mode):
                continue
            duplicate = socket.socket(fileno=os.dup(fd))
        except OSError:
            continue
        with duplicate:
            if duplicate.family not in (socket.AF_INET, socket.AF_INET6):
                continue
            with contextlib.suppress(OSError):  # just closed
                if duplicate.getsockname()[1] == port:
                    yield duplicate


def can_be_monitored() -> bool:
    """Return whether the system shows connections and their bytes, as Linux does."""
    return hasattr(socket, "TCP_INFO") and _DESCRIPTORS.is_dir()
