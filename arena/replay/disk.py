"""Files that only grow, and what is sure to be on the disk of them."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

sync_data: Final[Callable[[int], None]] = getattr(os, "fdatasync", os.fsync)
"""Brings a file's content to the disk; not every system can leave its other data out."""


def append_only(path: Path, mode: int = 0o600) -> int:
    """Open a file to be written at its end, and make it if there is none."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, mode)


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data`, in one go if the system takes it."""
    written = os.write(fd, data)
    while written < len(data):
        written += os.write(fd, data[written:])
