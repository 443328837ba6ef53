"""Ports of this machine that other programs have taken."""

import contextlib
import socket


@contextlib.contextmanager
def taken_port():
    """A port at which a socket listens."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(1)
        yield server.getsockname()[1]
