"""The socket of jailed bots: a file in the data folder, behind which there is the play service alone.

A jailed bot has no network, and this one way to the arena. Were the whole server there, a bot
could order matches, and where guests are let in call everything.
"""

import contextlib
import os
from pathlib import Path
from typing import Final

import grpc

from arena.server.listen import UNIX, CannotServe, made_for_its_owner

FOLDER: Final = "run"
NAME: Final = "play.sock"
_LONGEST: Final = 107
"""Bytes of a path that the system lets a socket have."""


class PlaySocket:
    """Where a server listens for jailed bots."""

    def __init__(self, data: Path) -> None:
        """Listens nowhere yet."""
        self.path: Final = data.absolute() / FOLDER / NAME
        self._folder = -1

    def listen(self, server: grpc.aio.Server) -> None:
        """Have a server, not started yet, listen there. What lies there is of one that is gone.

        Raises:
          CannotServe: if that is not possible.
        """
        try:
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
            self.path.parent.chmod(0o700)
            self.path.unlink(missing_ok=True)
            self._folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
            with made_for_its_owner():
                bound = server.add_insecure_port(f"{UNIX}{self._short()}")
            if bound == 0:
                raise CannotServe(f"cannot listen on {self.path}")
        except (OSError, RuntimeError) as error:
            raise CannotServe(f"cannot listen on {self.path}: {error}") from error

    def close(self) -> None:
        """Take the file away."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    def _short(self) -> str:
        """The path, or a shorter one to the same place."""
        if len(os.fsencode(self.path)) <= _LONGEST:
            return str(self.path)
        return f"/proc/self/fd/{self._folder}/{NAME}"
