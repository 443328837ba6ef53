"""Files that are on the disk when a call says so: grown at the end, or written in one go.

Callers write `disk.sync_data` and so on, and never import the functions by name: so a test
that puts a failing disk in their place here does so for all callers at once.
"""

import fcntl
import os
from collections.abc import Callable, Iterable
from pathlib import Path

sync_data: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
"""Brings a file's content to the disk; not every system can leave its other data out."""


def append_only(path: Path, mode: int = 0o600) -> int:
    """Open a file to be written at its end, and make it if there is none."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, mode)


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data`, in one go if the system takes it."""
    written = os.write(fd, data)
    while written < len(data):
        written += os.write(fd, data[written:])


def write_whole(path: Path, pieces: Iterable[bytes], partial: Path, mode: int = 0o666) -> None:
    """Write a file as a whole: there is all of it or none, and on return it is on the disk.

    It is written as `partial`, in the same folder, and then takes its name; a file that was
    left there is removed first, as it might be for others to read. `mode` is that of a new
    file, less the process's umask.

    Raises:
      OSError: if it cannot be written; then `path` is as it was, and `partial` is gone.
    """
    try:
        partial.unlink(missing_ok=True)
        fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(fd, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names of new files in a folder survive a power cut."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def lock(fd: int) -> bool:
    """Take a file's lock, until it is closed; False if another process has it.

    Raises:
      OSError: if files cannot be locked here, as on some network disks.
    """
    return _locked(fd, fcntl.LOCK_EX)


def is_locked(fd: int) -> bool:
    """Whether another process has a file's lock. `fd` is closed soon, as it shares the lock till then.

    Raises:
      OSError: if files cannot be locked here, as on some network disks.
    """
    return not _locked(fd, fcntl.LOCK_SH)


def _locked(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
