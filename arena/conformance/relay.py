"""A way between client and endpoint that can be cut, and on which pings are seen.

It passes bytes on as they come. Of HTTP/2 it reads the nine bytes before each frame
(RFC 9113, section 4.1), as what is cut is counted in bytes of DATA, and pings are
frames of their own. Of TLS it reads nothing.
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
"""Of SO_LINGER: a socket closed so sends RST instead of what is left to send."""
APART_S: Final = 0.1
"""Between the last byte of a message that is cut and the cut. Where both are seen at once, gRPC's C
core reads the byte and may miss the cut until its next ping, 20 s later."""
_READ_BYTES: Final = 1 << 16


class Frames:
    """Finds the frames in one direction of a connection, as its bytes come."""

    def __init__(self, *, preface: bool) -> None:
        """Begins at the first byte; a client's first ones are the preface."""
        self._skip = len(_PREFACE) if preface else 0
        self._head = b""
        self._body_left = 0
        self._kind = -1
        self.data_bytes = 0
        """Bytes of DATA so far."""
        self.pings = 0
        """Pings so far, answers to pings not counted."""

    def take(self, data: bytes, most_data_bytes: int | None = None) -> int:
        """Reads on; gives how many bytes there are until so many bytes of DATA have passed."""
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


class _Way:
    """One connection of the client, passed on in both directions by one thread.

    One alone: a socket that is closed while another thread reads it is not closed.
    """

    def __init__(self, client: socket.socket, behind: socket.socket, relay: "Relay") -> None:
        self._client = client
        self._behind = behind
        self._relay = relay
        self._up = Frames(preface=True)
        self._down = Frames(preface=False)
        self._ours, self._theirs = socket.socketpair()
        self.cut_at: int | None = None

    def start(self) -> None:
        """Begins to pass bytes on."""
        threading.Thread(target=self._run, name="relay", daemon=True).start()

    def reset(self) -> None:
        """Cuts it."""
        with contextlib.suppress(OSError):
            self._ours.send(b"x")

    def _run(self) -> None:
        with selectors.DefaultSelector() as ready, contextlib.suppress(OSError):
            for each in (self._client, self._behind, self._theirs):
                ready.register(each, selectors.EVENT_READ)
            while self._passes_on([key.fileobj for key, _ in ready.select()], ready):
                pass
        for each in (self._client, self._behind):
            _reset(each)
        self._ours.close()
        self._theirs.close()

    def _passes_on(self, readable: list[Any], ready: selectors.BaseSelector) -> bool:
        """Passes on what has come; false if the connection is to be cut."""
        if self._theirs in readable:
            return False
        for source in readable:
            data = source.recv(_READ_BYTES)
            sink = self._behind if source is self._client else self._client
            if not data:
                ready.unregister(source)
                sink.shutdown(socket.SHUT_WR)
                if len(ready.get_map()) == 1:
                    return False
            passed = self._heard(data) if source is self._client else self._said(data)
            sink.sendall(data[:passed])
            if passed < len(data):
                time.sleep(APART_S)
                return False
        return True

    def _heard(self, data: bytes) -> int:
        if self._relay.readable:
            before = self._up.pings
            self._up.take(data)
            self._relay.pings_s += [time.monotonic()] * (self._up.pings - before)
        return len(data)

    def _said(self, data: bytes) -> int:
        return self._down.take(data, self.cut_at) if self._relay.readable else len(data)


class Relay:
    """Listens on a port of its own, and passes each connection on to the endpoint behind."""

    def __init__(
        self, behind_port: int, *, readable: bool, socket_file: Path | None = None
    ) -> None:
        """Begins to listen.

        Args:
          behind_port: The port of the endpoint, on this machine.
          readable: Whether frames can be read, as they cannot under TLS.
          socket_file: Where to listen; without it, on a port.
        """
        self.readable = readable
        self.pings_s: list[float] = []
        """When the client has sent pings, by a monotonic clock."""
        self.dialled = False
        """Whether the client has ever come here."""
        self._behind_port = behind_port
        self._lock = threading.Lock()
        self._ways: list[_Way] = []
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
        """Cuts the newest connection as soon as the client was sent so many bytes of DATA on it."""
        with self._lock:
            self._ways[-1].cut_at = data_bytes

    def reset(self) -> None:
        """Cuts all connections now, as when a machine is gone."""
        with self._lock:
            for way in self._ways:
                way.reset()
            self._ways.clear()

    def close(self) -> None:
        """Stops listening, and cuts what is left."""
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
                behind = socket.create_connection(("127.0.0.1", self._behind_port))
            except OSError:
                _reset(client)
                continue
            for each in (client, behind):
                if each.family != socket.AF_UNIX:
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            way = _Way(client, behind, self)
            with self._lock:
                self._ways.append(way)
            way.start()


def _reset(each: socket.socket) -> None:
    with contextlib.suppress(OSError):
        each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    with contextlib.suppress(OSError):
        each.close()
