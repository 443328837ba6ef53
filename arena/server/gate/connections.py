"""Connections that send much which is no message are cut.

gRPC limits messages, calls and pings. Of frames that cost it time and come to nothing
(PRIORITY, WINDOW_UPDATE, GOAWAY, kinds that HTTP/2 does not know, calls that are reset
before they say anything) it takes as many as a peer sends, and while it takes them it
reads nobody else's answers: 4 s of them on one connection kept a bot waiting for up to
6 s (`docs/decisions/0008-connections-are-watched-not-fronted.md`).

The kernel counts the bytes of each connection, and the arena knows those that became
messages. The rest has a budget, and who exceeds it loses the connection. Nothing of this
is on the way of a decision but the addition of a message's size; no copy is made and no
process stands between. A look costs some microseconds a connection, and is taken only
while the process is busy.
"""

import contextlib
import ctypes
import errno
import ipaddress
import logging
import math
import os
import socket
import stat
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import quote

from arena.replay import disk
from arena.server.gate.limits import LOCAL, address_of
from arena.server.gate.shut_out import ShutOut
from arena.server.gate.traffic import Traffic

BURST_BYTES: Final = 256 << 10
"""What a connection may send at once beside messages: a TLS handshake, headers, frames."""
STRANGER_BYTES: Final = 32 << 10
"""What it may send at once before its first call."""
BYTES_PER_S: Final = 64 << 10
"""And how much each second."""
RECEIVE_BYTES: Final = 32 << 10
"""What the kernel takes in of a connection before gRPC reads it. gRPC reads on until nothing is left: of
one that sends without end, others had to wait for megabytes."""
LOOK_S: Final = 0.1
"""From one look at busy connections to the next."""
ALERT_LOOK_S: Final = 0.02
"""The same for some time after a connection was cut: who floods comes again."""
ALERT_S: Final = 10.0
CROWD_LOOK_S: Final = 0.5
"""From one count of descriptors to the next: the system lists them all, a millisecond for a thousand."""
FOR_A_LOOK: Final = 8
"""Spare descriptors that are given up if there are none to look with."""
SHARE: Final = 1 / 50
"""Of the time may be spent on looking; with very many connections looks are rarer."""
BUSY: Final = 0.25
"""Processors in use that make a process busy. No flood that matters takes less."""
QUIET_S: Final = 15.0
"""From one look to the next while the process is not busy."""
FORGIVEN_S: Final = 60.0
"""A peer's address is watched for so long after its last connection was cut."""
STRIKES: Final = 3
"""Connections of one address that are cut within that time before all its new ones are."""

_TCP_INFO_BYTES: Final = 136
_RECEIVED: Final = struct.Struct("=Q")
_RECEIVED_AT: Final = 128  # tcpi_bytes_received in Linux's struct tcp_info, since 4.1

_LIBC: Final = ctypes.CDLL(None)
_NOBODY: Final = bytes(16)
"""A `struct sockaddr` of the family AF_UNSPEC."""
_DESCRIPTORS: Final = Path("/proc/self/fd")

_log = logging.getLogger(__name__)


def open_descriptors() -> int:
    """How many descriptors this process has open."""
    return len(os.listdir(_DESCRIPTORS))  # noqa: PTH208 - as below


class Connection(Protocol):
    """A connection of somebody with the arena, while it is looked at."""

    @property
    def peer(self) -> str:
        """As gRPC names it, such as `ipv4:127.0.0.1:5000`."""
        ...

    @property
    def received_bytes(self) -> int:
        """That the kernel took from it so far."""
        ...

    def cut(self) -> None:
        """End it, both ways."""
        ...


Connections = Callable[[], contextlib.AbstractContextManager[Iterator[Connection]]]


@dataclass(slots=True)
class _Known:
    beside_bytes: int = 0
    """What it had sent beside messages at the last look; less than nothing where these were
    overestimated."""
    level_bytes: float = 0.0
    """Of a bucket that what it sends beside messages fills, and time empties."""
    cut: bool = False


class ConnectionWatch:
    """Looks at connections, and cuts those that flood.

    Runs on a thread of its own, as a flood may keep the arena's loop waiting.
    """

    def __init__(
        self,
        connections: Connections,
        traffic: Traffic,
        *,
        most: int | None = None,
        shut_out: ShutOut | None = None,
        now_s: Callable[[], float] = time.monotonic,
        cpu_s: Callable[[], float] = time.process_time,
        descriptors: Callable[[], int] = open_descriptors,
    ) -> None:
        """Watch, once started.

        Args:
          connections: Shows all of them.
          traffic: What became messages.
          most: That there may be; with more, the oldest that never made a call are cut.
          shut_out: Keeps addresses from connecting at all; without it their new connections are cut.
          now_s: Real time.
          cpu_s: The processor time that the arena has used.
          descriptors: How many the arena has open.
        """
        self._connections = connections
        self._traffic = traffic
        self.most = most
        """That there may be, if that is limited."""
        self._shut_out = shut_out
        self._out: list[str] = []
        """Addresses that are shut out."""
        self._descriptors = descriptors
        self._now_s = now_s
        self._cpu_s = cpu_s
        self._known: dict[str, _Known] = {}
        self._strikes: Counter[str] = Counter()
        self._struck_s: dict[str, float] = {}
        self._looked_s = self._busy_s = now_s()
        self._counted_s = -math.inf
        self._used_s = cpu_s()
        self._alert_until_s = -math.inf
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="connections", daemon=True)
        self.open = 0
        """Connections at the last look."""
        self.cut = 0
        """Connections that were cut so far."""

    def start(self) -> None:
        """Look from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        pause_s = LOOK_S
        while not self._stop.wait(pause_s):
            began_s = self._now_s()
            try:
                self.look_if_busy()
            except OSError as error:
                # To look takes descriptors, too.
                if error.errno != errno.EMFILE or not disk.spare.give_up(FOR_A_LOOK):
                    _log.exception("connections cannot be looked at")
            except Exception:  # whatever it was: nobody else looks
                _log.exception("connections cannot be looked at")
            ended_s = self._now_s()
            least_s = ALERT_LOOK_S if ended_s < self._alert_until_s else LOOK_S
            pause_s = max(least_s, (ended_s - began_s) / SHARE)

    def look_if_busy(self) -> None:
        """Look at the connections if much is done, or if it is long ago that they were."""
        now_s, used_s = self._now_s(), self._cpu_s()
        busy = used_s - self._used_s > BUSY * (now_s - self._busy_s)
        self._busy_s, self._used_s = now_s, used_s
        if busy or now_s - self._looked_s >= QUIET_S or self._is_crowded(now_s):
            self.look()

    def _is_crowded(self, now_s: float) -> bool:
        if self.most is None or now_s - self._counted_s < CROWD_LOOK_S:
            return False
        self._counted_s = now_s
        return self._descriptors() > self.most

    def look(self) -> None:
        """Look at all connections, and cut those that have exceeded their budget."""
        now_s = self._now_s()
        passed_s, self._looked_s = now_s - self._looked_s, now_s
        self._forgive(now_s)
        # Who had an account before all connections were looked at, and has none now, is gone.
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
        disk.spare.refill()
        self._shut_out_those_who_flood()

    def _make_room(self, number: int) -> None:
        """Cut so many connections of those who never made a call, the oldest first.

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
        _log.warning("there are too many connections: silent ones were cut", extra=fields)

    def _judge(self, connection: Connection, now_s: float, passed_s: float) -> None:
        known = self._known.setdefault(connection.peer, _Known())
        if known.cut:
            return
        explained = self._traffic.explained_bytes(connection.peer)
        beside = connection.received_bytes - explained
        filled = known.level_bytes + beside - known.beside_bytes - BYTES_PER_S * passed_s
        known.level_bytes, known.beside_bytes = max(0.0, filled), beside
        address = address_of(connection.peer)
        # Its first message may be on its way, and as long as messages are.
        called = self._traffic.has_called(connection.peer)
        burst_bytes = BURST_BYTES if called else STRANGER_BYTES
        if known.level_bytes <= burst_bytes and self._strikes[address] < STRIKES:
            return
        known.cut = True
        self.cut += 1
        self._alert_until_s = now_s + ALERT_S
        if address != LOCAL:  # where honest bots may live beside
            self._strikes[address] += 1
            self._struck_s[address] = now_s
        connection.cut()
        fields = {"peer": connection.peer, "bytes": beside}
        _log.warning("a connection that floods was cut", extra=fields)

    def _forgive(self, now_s: float) -> None:
        for address, at_s in list(self._struck_s.items()):
            if now_s - at_s > FORGIVEN_S:
                del self._struck_s[address], self._strikes[address]

    def _shut_out_those_who_flood(self) -> None:
        out = [address for address, cuts in self._strikes.items() if cuts >= STRIKES]
        if self._shut_out is None or out == self._out:
            return
        if not self._shut_out(out):
            self._shut_out = None
            return
        fields = {"addresses": out}
        _log.warning("addresses are shut out, as they flooded again and again", extra=fields)
        self._out = out


class _Tcp:
    """A connection by a second descriptor of its socket."""

    def __init__(self, own: socket.socket) -> None:
        host, port = own.getpeername()[:2]
        self._own = own
        self.peer = peer_of(host, port)

    @property
    def received_bytes(self) -> int:
        info = self._own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
        received: int = _RECEIVED.unpack_from(info, _RECEIVED_AT)[0]
        return received

    def cut(self) -> None:
        # To connect to nothing is to reset: what lies unread is dropped, and the peer told. A
        # shutdown would leave gRPC to read on, and the connection with whoever still sends.
        _LIBC.connect(self._own.fileno(), _NOBODY, len(_NOBODY))


def peer_of(host: str, port: int) -> str:
    """The name that gRPC has for a peer, from its IP address and port."""
    if ":" not in host:
        return f"ipv4:{host}:{port}"
    mapped = ipaddress.IPv6Address(host).ipv4_mapped
    if mapped is not None:  # on a socket that takes both
        return f"ipv4:{mapped}:{port}"
    return "ipv6:" + quote(f"[{host}]:{port}", safe=":")


def of_this_process(port: int) -> Connections:
    """The TCP connections of this process that came to a port, as the kernel knows them."""

    @contextlib.contextmanager
    def connections() -> Iterator[Iterator[Connection]]:
        yield _established(port)

    return connections


def listening(port: int) -> Iterator[socket.socket]:
    """The sockets of this process that listen on a port, each as a second one that lasts until the next."""
    for own in _sockets(port):
        if own.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            yield own


def bound_buffers(port: int) -> None:
    """Have connections to a port of this process, which listens there, take in no more than `RECEIVE_BYTES` unread.

    Those that are open already stay as they are.
    """
    for own in listening(port):
        own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)


def _established(port: int) -> Iterator[Connection]:
    for own in _sockets(port):
        try:
            yield _Tcp(own)
        except OSError:
            continue  # it listens, or was just closed


def _sockets(port: int) -> Iterator[socket.socket]:
    for name in os.listdir(_DESCRIPTORS):  # noqa: PTH208 - as looks go, paths are dear
        # It may be closed, and another be opened in its place, at any moment: so all is asked
        # of a descriptor of our own. It is closed before the next, or the peer would not hear
        # that gRPC has closed the connection.
        try:
            fd = int(name)
            if not stat.S_ISSOCK(os.fstat(fd).st_mode):
                continue
            own = socket.socket(fileno=os.dup(fd))
        except OSError:
            continue
        with own:
            if own.family not in (socket.AF_INET, socket.AF_INET6):
                continue
            with contextlib.suppress(OSError):  # it was just closed
                if own.getsockname()[1] == port:
                    yield own


def can_be_watched() -> bool:
    """Whether this system tells what is needed: Linux does."""
    return hasattr(socket, "TCP_INFO") and _DESCRIPTORS.is_dir()
