"""A relay between client and endpoint that can cut connections and counts pings.

It forwards bytes at once. It reads the nine-byte header of each HTTP/2 frame (RFC 9113, section
4.1), because cuts are placed by bytes of DATA, and pings are frames. It cannot read TLS.
"""

import contextlib
import selectors
import socket
import struct
import threading
import time
from pathlib import Path
from typing import Any, Final

_FRAME_HEAD: Final = 9
_DATA: Final = 0x0
_PING: Final = 0x6
_ACK: Final = 0x1
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_AT_ONCE: Final = struct.pack("ii", 1, 0)
"""The value of SO_LINGER with which closing the socket sends RST instead of the remaining bytes."""
CUT_DELAY_S: Final = 0.1
"""The delay in seconds between the last byte before a cut and the cut.

If both arrive together, gRPC's C core may miss the cut until its next ping 20 s later.
"""
_READ_BYTES: Final = 1 << 16


class Frames:
    """Finds the HTTP/2 frames in one direction of a connection."""

    def __init__(self, *, preface: bool) -> None:
        """Begin at the first byte; a client sends the preface first."""
        self._skip = len(_PREFACE) if preface else 0
        self._head = b""
        self._body_left = 0
        self._kind = -1
        self.data_bytes = 0
        """Bytes of DATA so far."""
        self.pings = 0
        """Pings so far, without answers to pings."""

    def take(self, data: bytes, most_data_bytes: int | None = None) -> int:
        """Read more bytes; return how many may pass until `most_data_bytes` of DATA have passed."""
        at = 0
        while at < len(data):
            left = len(data) - at
            if self._skip:
                passed = min(self._skip, left)
                self._skip -= passed
            elif self._body_left:
                passed = min(self._body_left, left)
                if self._kind == _DATA and most_data_bytes is not None:
                    passed = min(passed, most_data_bytes - self.data_bytes)
                    if passed <= 0:
                        return at
                self._body_left -= passed
                self.data_bytes += passed if self._kind == _DATA else 0
            else:
                passed = min(_FRAME_HEAD - len(self._head), left)
                self._head += data[at : at + passed]
                if len(self._head) == _FRAME_HEAD:
                    self._begin_frame()
            at += passed
        return at

    def _begin_frame(self) -> None:
        self._body_left = int.from_bytes(self._head[:3], "big")
        self._kind = self._head[3]
        if self._kind == _PING and not self._head[4] & _ACK:
            self.pings += 1
        self._head = b""


class _Connection:
    """One connection of the client, forwarded in both directions by one thread.

    With two threads, a socket that one closes while the other reads it would stay open.
    """

    def __init__(self, client: socket.socket, endpoint: socket.socket, relay: "Relay") -> None:
        self._client = client
        self._endpoint = endpoint
        self._relay = relay
        self._up = Frames(preface=True)
        self._down = Frames(preface=False)
        self._ours, self._theirs = socket.socketpair()
        self.cut_at: int | None = None

    def start(self) -> None:
        threading.Thread(target=self._run, name="relay", daemon=True).start()

    def reset(self) -> None:
        with contextlib.suppress(OSError):
            self._ours.send(b"x")

    def _run(self) -> None:
        with selectors.DefaultSelector() as ready, contextlib.suppress(OSError):
            for end in (self._client, self._endpoint, self._theirs):
                ready.register(end, selectors.EVENT_READ)
            while self._forward([key.fileobj for key, _ in ready.select()], ready):
                pass
        for end in (self._client, self._endpoint):
            _reset(end)
        self._ours.close()
        self._theirs.close()

    def _forward(self, readable: list[Any], ready: selectors.BaseSelector) -> bool:
        """Forward the received bytes; return false if the connection is to be cut."""
        if self._theirs in readable:
            return False
        for source in readable:
            data = source.recv(_READ_BYTES)
            sink = self._endpoint if source is self._client else self._client
            if not data:
                ready.unregister(source)
                sink.shutdown(socket.SHUT_WR)
                if len(ready.get_map()) == 1:
                    return False
            passed = (
                self._from_client(data) if source is self._client else self._from_endpoint(data)
            )
            sink.sendall(data[:passed])
            if passed < len(data):
                time.sleep(CUT_DELAY_S)
                return False
        return True

    def _from_client(self, data: bytes) -> int:
        if self._relay.readable:
            before = self._up.pings
            self._up.take(data)
            self._relay.pings_s += [time.monotonic()] * (self._up.pings - before)
        return len(data)

    def _from_endpoint(self, data: bytes) -> int:
        return self._down.take(data, self.cut_at) if self._relay.readable else len(data)


class Relay:
    """Listens on a port or socket, and forwards each connection to the endpoint."""

    def __init__(
        self, endpoint_port: int, *, readable: bool, socket_file: Path | None = None
    ) -> None:
        """Begin to listen.

        Args:
          endpoint_port: The port of the endpoint, on this machine.
          readable: Whether frames can be read, as they cannot under TLS.
          socket_file: The path of the socket file; by default the relay listens on a port.
        """
        self.readable = readable
        self.pings_s: list[float] = []
        """When the client sent pings, by a monotonic clock."""
        self.dialled = False
        """Whether the client has ever connected."""
        self._endpoint_port = endpoint_port
        self._lock = threading.Lock()
        self._connections: list[_Connection] = []
        if socket_file is None:
            self._listener = socket.create_server(("127.0.0.1", 0))
            self.port: int = self._listener.getsockname()[1]
            self.address = f"127.0.0.1:{self.port}"
        else:
            self.port = 0
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(str(socket_file))
            self._listener.listen()
            self.address = f"unix:{socket_file}"
        threading.Thread(target=self._accept, name="relay", daemon=True).start()

    def cut_at(self, data_bytes: int) -> None:
        """Cut the newest connection after `data_bytes` of DATA were sent to the client on it."""
        with self._lock:
            self._connections[-1].cut_at = data_bytes

    def reset(self) -> None:
        """Cut all connections now, like a machine that fails."""
        with self._lock:
            for connection in self._connections:
                connection.reset()
            self._connections.clear()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.reset()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.dialled = True
            try:
                endpoint = socket.create_connection(("127.0.0.1", self._endpoint_port))
            except OSError:
                _reset(client)
                continue
            for end in (client, endpoint):
                if end.family != socket.AF_UNIX:
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = _Connection(client, endpoint, self)
            with self._lock:
                self._connections.append(connection)
            connection.start()


def _reset(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    with contextlib.suppress(OSError):
        connection.close()
