"""Files that are on the disk when a call returns: appended to, or written as a whole.

Callers write `durable_files.sync_data` and so on instead of importing functions by name, so
that a test can replace a function for all callers.
"""

import contextlib
import errno
import fcntl
import logging
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

_log = logging.getLogger(__name__)

SYNCS_AT_ONCE: Final = 8

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
"""The permissions of all users except a file's owner."""

sync_data: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
"""Writes a file's content to the disk; some systems write its metadata as well."""


class Unwritten(Exception):
    """A record that must be kept cannot be written, for example on a full disk. All play must stop."""


class Spare:
    """File descriptors that are reserved for the files of this module.

    When connections have used all other descriptors, one of these is released for each file.
    Used on any thread.
    """

    def __init__(self) -> None:
        self._number = 0
        self._held: list[int] = []

    def hold(self, number: int) -> None:
        """Reserve `number` descriptors from now on, or as many as are available."""
        self._number = number
        with contextlib.suppress(OSError):
            while len(self._held) < number:
                self._held.append(os.open(os.devnull, os.O_RDONLY))
        while len(self._held) > number:
            os.close(self._held.pop())

    def refill(self) -> None:
        """Reserve released descriptors again, as many as are available."""
        self.hold(self._number)

    def give_up(self, number: int = 1) -> bool:
        """Release `number` descriptors, or all that are left; return false if none is left."""
        given = 0
        with contextlib.suppress(IndexError):
            while given < number:
                os.close(self._held.pop())
                given += 1
        return given > 0


spare: Final = Spare()
"""The `Spare` of this process. It reserves nothing until `hold` is called."""


def _opened(path: Path, flags: int, mode: int = 0o666) -> int:
    while True:
        try:
            return os.open(path, flags, mode)
        except OSError as error:
            # Another thread may take the released descriptor first, so this is repeated.
            if error.errno != errno.EMFILE or not spare.give_up():
                raise


def append_only(path: Path, mode: int = 0o600) -> int:
    """Open a file for appending; it is created if it does not exist.

    `mode` is that of a new file, less the process's umask. If it permits only the owner, an existing file is restricted
    too, see `keep_private`.
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
    """Make a folder for its owner only; an existing one is restricted."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    keep_private(path)


def keep_private(path: Path) -> None:
    """Remove the permissions of all users except the owner of a file or folder.

    Files of this module are private from the start. If one has become readable for others, for example by a copy, a
    warning is logged, because others may have read it.

    Raises `OSError` if it belongs to another user, or does not exist.
    """
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & _OTHERS:
        path.chmod(mode & ~_OTHERS)
        fields = {"path": str(path), "mode": f"{mode:o}"}
        _log.warning("others could open a secret file", extra=fields)


def write_whole(path: Path, pieces: Iterable[bytes], partial: Path, mode: int = 0o666) -> None:
    """Write a file as a whole or not at all; on return it is on the disk.

    It is written as `partial` in the same folder and then renamed. An old `partial` is removed
    first, as others might be able to read it. `mode` is that of a new file, less the process's
    umask.

    Raises `OSError` if it cannot be written; then `path` is unchanged, and `partial` is removed.
    """
    staged = StagedFile(partial, path)
    write_partial(staged, pieces, mode)
    sync_and_publish([staged])


class StagedFile(NamedTuple):
    """A file that is written under another name in the same folder, until it is published."""

    partial: Path
    path: Path


def write_partial(staged: StagedFile, pieces: Iterable[bytes], mode: int = 0o666) -> None:
    """Write a file that `sync_all` brings to the disk, and `publish` gives its name.

    Raises `OSError` if it cannot be written; then `partial` is removed.
    """
    partial, flags = staged.partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        try:
            fd = _opened(partial, flags, mode)
        except FileExistsError:
            partial.unlink()
            fd = _opened(partial, flags, mode)
        with os.fdopen(fd, "wb") as file:
            file.writelines(pieces)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def sync_and_publish(staged: Sequence[StagedFile]) -> None:
    """Bring files to the disk, and give them their names, in this order.

    Raises `OSError` if one cannot be written or renamed; then no partial file is left.
    """
    try:
        sync_all(staged)
        publish(staged)
    except BaseException:
        discard(staged)
        raise


def sync_all(staged: Sequence[StagedFile]) -> None:
    """Bring the contents of files to the disk, several at a time: the file system writes these together.

    Raises `OSError` if one cannot be written.
    """
    if len(staged) == 1:
        sync(staged[0].partial)
    elif staged:
        with ThreadPoolExecutor(min(len(staged), SYNCS_AT_ONCE)) as threads:
            list(threads.map(sync, [partial for partial, _ in staged]))


def publish(staged: Sequence[StagedFile]) -> None:
    """Give files their names, in this order; on return the names are on the disk.

    A file that already has its name is left unchanged.

    Raises `OSError` if one cannot be renamed; then its partial file stays, as do those after it.
    """
    for partial, path in staged:
        try:
            partial.replace(path)
        except FileNotFoundError:
            if not path.exists():
                raise
    for folder in dict.fromkeys(path.parent for _, path in staged):
        sync(folder)


def discard(staged: Iterable[StagedFile]) -> None:
    """Remove the partial files of files that are not published."""
    for partial, _ in staged:
        partial.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Make the content of a file survive a power cut, or the names of new files in a folder."""
    fd = _opened(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@contextlib.contextmanager
def folder_locked(folder: Path) -> Iterator[bool]:
    """Hold a folder's lock, under which its files are removed, or copied as a whole; yield false if another process has it.

    If the file system has no locks, the lock counts as held.
    """
    fd = _opened(folder, os.O_RDONLY)
    try:
        try:
            held = lock(fd)
        except OSError:
            held = True
        yield held
    finally:
        os.close(fd)


def lock(fd: int) -> bool:
    """Lock a file until it is closed; return False if another process has the lock.

    Raises `OSError` if the file system has no locks, as some network disks.
    """
    return _locked(fd, fcntl.LOCK_EX)


def is_locked(fd: int) -> bool:
    """Return whether another process has a file's lock. Close `fd` soon: it shares the lock until then.

    Raises `OSError` if the file system has no locks, as some network disks.
    """
    return not _locked(fd, fcntl.LOCK_SH)


def _locked(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
