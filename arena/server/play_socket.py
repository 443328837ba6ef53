"""The socket of sandboxed bots: a file in the data folder that serves the play service only.

A sandboxed bot has no network and reaches the arena by this socket. If it served all services, a bot could order
matches, and make any call where guests are accepted.
"""

import contextlib
import os
from pathlib import Path
from typing import Final

import grpc

from arena.server.listen import UNIX, CannotServe, owner_only_files

FOLDER: Final = "run"
NAME: Final = "play.sock"
_LONGEST: Final = 107
"""Longest path of a socket, in bytes."""


class PlaySocket:
    """The socket file on which a server listens for sandboxed bots."""

    def __init__(self, data: Path) -> None:
        """`data` is the data folder; nothing listens before `listen`."""
        self.path: Final = data.absolute() / FOLDER / NAME
        self._folder = -1

    def listen(self, server: grpc.aio.Server) -> None:
        """Have a server that is not started yet listen there. An old socket file is replaced.

        Raises:
          CannotServe: if that is not possible.
        """
        try:
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
            self.path.parent.chmod(0o700)
            self.path.unlink(missing_ok=True)
            self._folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
            with owner_only_files():
                bound = server.add_insecure_port(f"{UNIX}{self._short()}")
            if bound == 0:
                raise CannotServe(f"cannot listen on {self.path}")
        except (OSError, RuntimeError) as error:
            raise CannotServe(f"cannot listen on {self.path}: {error}") from error

    def close(self) -> None:
        """Remove the socket file."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    def _short(self) -> str:
        """The path, or a shorter one of the same file."""
        if len(os.fsencode(self.path)) <= _LONGEST:
            return str(self.path)
        return f"/proc/self/fd/{self._folder}/{NAME}"
