"""The process of the bots' sockets: it gets connected sockets, and has only a channel to the arena."""

import contextlib
import hmac
import json
import logging
import socket
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Final

from arena.web.acting.guard import Buckets
from arena.web.sockets.passing import MOST_HEAD_BYTES

MOST_SOCKETS: Final = 256
"""The maximal number of simultaneous sockets; each has some threads."""
MOST_OF_ADDRESS: Final = 16
"""The maximal number of sockets of one address; for this machine only `MOST_SOCKETS` counts."""
BEGUN: Final = 32
"""The number of new sockets of one address in a burst, and in a minute."""
_CONTROL_S: Final = 1.0
_FD_BYTES: Final = 4_096

_log = logging.getLogger(__name__)


class SocketPlaces:
    """Counts open sockets by address."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        """Begin without sockets; `now_s` reads a clock, in seconds."""
        self._lock = Lock()
        self._open: Counter[str] = Counter()
        self._begun = Buckets(BEGUN, BEGUN / 60, now_s)

    def enter(self, visitor: str, *, local: bool) -> str:
        """Take a place; return why there is none, or an empty text if it is taken."""
        with self._lock:
            if not local and not self._begun.of(visitor).take():
                return f"more than {BEGUN} connections a minute came from your address"
            if not local and self._open[visitor] >= MOST_OF_ADDRESS:
                return f"{MOST_OF_ADDRESS} bots of your address are connected, which is the most"
            if self._open.total() >= MOST_SOCKETS:
                return f"{MOST_SOCKETS} bots are connected, which is the most"
            self._open[visitor] += 1
            return ""

    def leave(self, visitor: str) -> None:
        with self._lock:
            self._open[visitor] -= 1
            self._open += Counter()  # removes addresses without a socket


def serve(path: str, arena_socket: str, secret: str) -> None:
    """Serve until this process is ended.

    Args:
      path: The socket file to listen on, in a folder that only this user can open.
      arena_socket: The socket file of the arena.
      secret: The secret with each socket from the process of the pages; others are closed.
    """
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s")
    places = SocketPlaces()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as bound:
        Path(path).unlink(missing_ok=True)  # the file of a process that has ended
        bound.bind(path)
        bound.listen(128)
        while True:
            with contextlib.suppress(OSError, ValueError):
                client, given, head = _received(bound)
                if not hmac.compare_digest(given["secret"].encode(), secret.encode()):
                    client.close()
                    continue
                arguments = (client, head, f"unix:{arena_socket}", given, places)
                Thread(target=_served, args=arguments, daemon=True).start()


def _received(bound: socket.socket) -> tuple[socket.socket, dict[str, Any], bytes]:
    """Return the next socket, the data of the process of the pages about it, and the head of its request."""
    control, _ = bound.accept()
    with control:
        control.settimeout(_CONTROL_S)
        message, descriptors, _, _ = socket.recv_fds(control, MOST_HEAD_BYTES + _FD_BYTES, 1)
    given, _, head = message.partition(b"\n")
    (descriptor,) = descriptors
    return socket.socket(fileno=descriptor), json.loads(given), head


def _served(
    client: socket.socket, head: bytes, arena: str, given: dict[str, Any], places: SocketPlaces
) -> None:
    visitor, local = str(given["visitor"]), bool(given["local"])
    # This is not imported in the process of the pages, which imports this module to start the process.
    from arena.web.sockets.bot import SocketLimits, play, refuse

    client.settimeout(None)
    with client:
        if why := places.enter(visitor, local=local):
            refuse(client, why)
            return
        try:
            play(client, head, arena, SocketLimits(guests=local))
        except Exception:
            _log.exception("a bot's socket fails")
        finally:
            places.leave(visitor)
