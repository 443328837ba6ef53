"""The client's end of a WebSocket that `arena.web.sockets.bot` plays on a thread."""

import contextlib
import socket
import threading

from websockets.client import ClientProtocol
from websockets.protocol import State
from websockets.sync.connection import Connection
from websockets.uri import parse_uri

from arena.web.sockets.bot import play

HEAD = (
    b"GET /seat HTTP/1.1\r\nhost: arena.example\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
    b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n"
)
NOBODY = "unix:/nobody/answers/here"


@contextlib.contextmanager
def opened(limits, arena=NOBODY):
    """An open WebSocket with a bot's limits, at an arena."""
    here, there = socket.socketpair()
    thread = threading.Thread(target=play, args=(there, HEAD, arena, limits), daemon=True)
    thread.start()
    here.settimeout(10)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += here.recv(1)  # no byte of the first frame
    assert b" 101 " in answer.partition(b"\r\n")[0]
    here.settimeout(None)
    websocket = Connection(
        here,
        ClientProtocol(parse_uri("ws://arena.example/seat"), state=State.OPEN, max_size=None),
        ping_interval=None,
    )
    yield websocket
    websocket.close()
    thread.join(20)
    assert not thread.is_alive()
    there.close()
