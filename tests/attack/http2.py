"""HTTP/2 by hand, to say what no well-behaved client would.

Only what attacks need: frames are made without any state, headers are literals
that are not indexed (RFC 7541, 6.2.2), and of what comes back only the frames'
heads are looked at. Sockets block; each attack has a process of its own.
"""

import contextlib
import socket
import struct
import time
from dataclasses import dataclass
from enum import IntEnum

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
END_STREAM = 0x1
END_HEADERS = 0x4
ACK = 0x1
INITIAL_WINDOW_SIZE = 0x4
CANCEL = 0x8
PLAY = "/cardarena.v1.PlayService/Play"
_HEAD = struct.Struct(">BHBBI")
HEAD_BYTES = 9


class Frame(IntEnum):
    """Types of frames, RFC 9113 section 6."""

    DATA = 0x0
    HEADERS = 0x1
    PRIORITY = 0x2
    RST_STREAM = 0x3
    SETTINGS = 0x4
    PING = 0x6
    GOAWAY = 0x7
    WINDOW_UPDATE = 0x8
    CONTINUATION = 0x9


@dataclass(frozen=True)
class Seen:
    """A frame that came back."""

    kind: int
    flags: int
    stream: int
    body: bytes

    @property
    def ends_stream(self):
        """Whether its stream is over with it."""
        ends = self.kind in (Frame.DATA, Frame.HEADERS) and self.flags & END_STREAM
        return bool(ends) or self.kind == Frame.RST_STREAM


def frame(kind, *, flags=0, stream=0, body=b""):
    """A frame as bytes."""
    size = len(body)
    return _HEAD.pack(size >> 16, size & 0xFFFF, kind, flags, stream) + body


def settings(**values):
    """A SETTINGS frame; `window` is the initial size of a stream's window."""
    body = b""
    if "window" in values:
        body = struct.pack(">HI", INITIAL_WINDOW_SIZE, values["window"])
    return frame(Frame.SETTINGS, body=body)


def _literal(text):
    data = text.encode()
    assert len(data) < 127
    return bytes([len(data)]) + data


def header_block(path, **more):
    """The headers of a gRPC call, as HPACK."""
    headers = {
        ":method": "POST",
        ":scheme": "http",
        ":path": path,
        ":authority": "arena",
        "te": "trailers",
        "content-type": "application/grpc",
        **more,
    }
    return b"".join(b"\x00" + _literal(key) + _literal(value) for key, value in headers.items())


def call(stream, path=PLAY, **more):
    """The frame that opens a call."""
    body = header_block(path, **more)
    return frame(Frame.HEADERS, flags=END_HEADERS, stream=stream, body=body)


def message(data, *, compressed=False):
    """A gRPC message: a flag, its size, and the message."""
    return struct.pack(">BI", compressed, len(data)) + data


def said(stream, data, **how):
    """The frames that say a message on a stream."""
    whole = message(data, **how)
    pieces = [whole[at : at + 16_384] for at in range(0, len(whole), 16_384)]
    return b"".join(frame(Frame.DATA, stream=stream, body=piece) for piece in pieces)


def reset(stream):
    """The frame that gives a stream up."""
    return frame(Frame.RST_STREAM, stream=stream, body=struct.pack(">I", CANCEL))


class Wire:
    """A connection that was opened as HTTP/2 wants it, unless it is `silent`."""

    def __init__(self, address, *, silent=False, source="", patience_s=10.0, **values):
        if address.startswith("unix:"):
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.settimeout(patience_s)
            self._socket.connect(address.removeprefix("unix:"))
        else:
            host, _, port = address.rpartition(":")
            bound = (source, 0) if source else None
            self._socket = socket.create_connection((host, int(port)), patience_s, bound)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(10)
        self._buffer = b""
        self.closed = False
        """Whether the arena has closed the connection, or can take no more."""
        if not silent:
            self.send(PREFACE + settings(**values) + frame(Frame.SETTINGS, flags=ACK))

    def send(self, data):
        """Send bytes, for as long as there is somebody to take them."""
        try:
            self._socket.sendall(data)
        except OSError:
            self.closed = True

    def frames(self, wait_s):
        """The frames that came, waiting for the first at most so long."""
        found = []
        self._socket.settimeout(max(wait_s, 1e-4))
        with contextlib.suppress(TimeoutError, BlockingIOError):
            try:
                while data := self._socket.recv(1 << 16):
                    self._buffer += data
                    self._socket.settimeout(1e-4)
                self.closed = True
            except ConnectionError:
                self.closed = True
        self._socket.settimeout(10)
        while len(self._buffer) >= HEAD_BYTES:
            high, low, kind, flags, stream = _HEAD.unpack_from(self._buffer)
            end = HEAD_BYTES + (high << 16 | low)
            if len(self._buffer) < end:
                break
            found.append(Seen(kind, flags, stream, self._buffer[HEAD_BYTES:end]))
            self._buffer = self._buffer[end:]
        return found

    def wait_for(self, true, patience_s):
        """The first frame that is so; None if the connection ends or none comes in time."""
        end_s = time.monotonic() + patience_s
        while not self.closed and (left_s := end_s - time.monotonic()) > 0:
            for seen in self.frames(left_s):
                if true(seen):
                    return seen
        return None

    def wait_closed(self, patience_s):
        """Wait for the connection's end; false if it does not come."""
        self.wait_for(lambda _: False, patience_s)
        return self.closed

    def fileno(self):
        """The connection's file."""
        return self._socket.fileno()

    def close(self):
        """Hang up without a word."""
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
