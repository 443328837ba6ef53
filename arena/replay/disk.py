"""Files that are on the disk when a call says so: grown at the end, or written in one go.

Callers write `disk.sync_data` and so on, and never import the functions by name: so a test
that puts a failing disk in their place here does so for all callers at once.
"""

import contextlib
import errno
import fcntl
import logging
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

_log = logging.getLogger(__name__)

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
"""What a mode says of everybody but a file's owner."""

sync_data: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
"""Brings a file's content to the disk; not every system can leave its other data out."""


class Spare:
    """Descriptors that are held back for the files of this module.

    Whatever else a process opens, as connections of strangers: when there are no more
    descriptors, one of these is given up for each file. Used on any thread.
    """

    def __init__(self) -> None:
        self._number = 0
        self._held: list[int] = []

    def hold(self, number: int) -> None:
        """Hold back so many from now on, or as many of them as there are."""
        self._number = number
        with contextlib.suppress(OSError):
            while len(self._held) < number:
                self._held.append(os.open(os.devnull, os.O_RDONLY))
        while len(self._held) > number:
            os.close(self._held.pop())

    def refill(self) -> None:
        """Take back what was given up, as far as there is room again."""
        self.hold(self._number)

    def give_up(self, number: int = 1) -> bool:
        """Let go of so many, or all that are left; false if none is."""
        given = 0
        with contextlib.suppress(IndexError):
            while given < number:
                os.close(self._held.pop())
                given += 1
        return given > 0


spare: Final = Spare()
"""Of this process. It holds nothing until it is told to."""


def _opened(path: Path, flags: int, mode: int = 0o666) -> int:
    while True:
        try:
            return os.open(path, flags, mode)
        except OSError as error:
            # Somebody else may be quicker to take what was given up, so until nothing is left.
            if error.errno != errno.EMFILE or not spare.give_up():
                raise


def append_only(path: Path, mode: int = 0o600) -> int:
    """Open a file to be written at its end, and make it if there is none.

    `mode` is that of a new file, less the process's umask. One that is for its owner alone is
    made so if it is there already, see `keep_private`.
    """
    fd = _opened(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, mode)
    try:
        if not mode & _OTHERS:
            keep_private(path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def private_folder(path: Path) -> None:
    """Make a folder for its owner alone, if there is none; one that is there is kept so."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    keep_private(path)


def keep_private(path: Path) -> None:
    """Take from all but its owner whatever they may do with a file or a folder.

    What is made here is private from its first moment. So this finds what somebody has opened
    to others since, as by a copy; it cannot know who has read it meanwhile, and says so.

    Raises:
      OSError: if it belongs to another user, or is not there.
    """
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & _OTHERS:
        path.chmod(mode & ~_OTHERS)
        fields = {"path": str(path), "mode": f"{mode:o}"}
        _log.warning("others could open what is secret", extra=fields)


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
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        try:
            fd = _opened(partial, flags, mode)
        except FileExistsError:
            partial.unlink()
            fd = _opened(partial, flags, mode)
        with os.fdopen(fd, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names of new files in a folder survive a power cut."""
    fd = _opened(folder, os.O_RDONLY)
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
