"""Making paths reachable for a user who may not enter the folders above them.

Root's own folder is closed to everybody else, and with it a Python that lies there. In a view of
the file systems that the jailer has to itself, such a folder is covered by an empty one that all
may enter, and what a bot may see is put back in its place, read-only. What is root's alone is copied.
Nobody else sees that.
"""

import os
import stat
from typing import Final

from arena.jailer import kernel

_ENTER: Final = 0o001
_READ_ONLY: Final = kernel.MS_BIND | kernel.MS_REMOUNT | kernel.MS_RDONLY | kernel.MS_NOSUID


_OPEN: Final = "mode=755"
_STAGE: Final = "/dev/shm"  # noqa: S108 - covered, in a view of the file systems that is ours alone
MAX_COPY_BYTES: Final = 64 << 20
"""Of one file."""


class Unreachable(Exception):
    """A path cannot be shown to a bot. The text says why, and what mends it."""


class Reach:
    """What has been made reachable so far. Made once, by root, before anything is started."""

    def __init__(self) -> None:
        """Leave the file systems' common view.

        Raises:
          OSError: if the kernel does not let us.
        """
        kernel.unshare(kernel.CLONE_NEWNS)
        kernel.mount("none", "/", "none", kernel.MS_REC | kernel.MS_SLAVE)
        self._covered: dict[str, int] = {}
        """The folders that lie under a cover, open, by their paths."""
        self._shown: dict[str, bool] = {}
        """The paths, and whether they may be written."""
        self._opened: dict[str, tuple[int, object]] = {}
        """Those that were root's alone, open as they were, and how they looked."""
        self._stage = ""
        self._count = 0

    def show(self, path: str, *, writable: bool = False) -> None:
        """Have all users reach a path, if they may then read it.

        Raises:
          Unreachable: if they could not.
          OSError: if the kernel does not let us.
        """
        if path in self._opened:
            opened, was = self._opened[path]
            if _looks(opened) != was:  # the bot was changed since it was copied
                kernel.unmount(path)
                self._open_up(path)
            return
        if path in self._shown:
            return
        above = [each for each in self._covered if path.startswith(f"{each}/")]
        if above and self._is_missing(path, max(above, key=len)):
            cover = max(above, key=len)
            self._put_back(cover, path, writable=writable)
            for shown, was in self._shown.items():
                if was and shown.startswith(f"{path}/"):  # what may be read is in it now
                    self._put_back(cover, shown, writable=was)
        while (closed := closed_folder(path)) not in {None, path}:
            assert closed is not None
            self._cover(closed)
            self._put_back(closed, path, writable=writable)
        if closed == path and not writable:
            self._open_up(path)
        self._shown[path] = writable

    def _is_missing(self, path: str, cover: str) -> bool:
        """Whether a path is not to be seen under a cover, or only as a way to what lies in it."""
        try:
            return os.lstat(path).st_dev == os.lstat(cover).st_dev
        except FileNotFoundError:
            return True

    def _open_up(self, path: str) -> None:
        """Have all users read what is root's alone: by another folder, and copies of files."""
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if path in self._opened:
            os.close(self._opened[path][0])
        self._opened[path] = (opened, _looks(opened))
        if not os.path.isdir(path):
            if not self._stage:
                kernel.mount("tmpfs", _STAGE, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, _OPEN)
                self._stage = _STAGE
            self._count += 1
            copied = f"{self._stage}/{self._count}"
            _copy(path, copied)
            kernel.mount(copied, path, "none", kernel.MS_BIND)
            return
        inside = f"/proc/self/fd/{opened}"
        kernel.mount("tmpfs", path, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, _OPEN)
        for name in os.listdir(inside):
            source, target = f"{inside}/{name}", f"{path}/{name}"
            kind = os.lstat(source).st_mode
            if stat.S_ISLNK(kind):
                os.symlink(os.readlink(source), target)
            elif stat.S_ISDIR(kind):
                os.mkdir(target, 0o755)
                kernel.mount(source, target, "none", kernel.MS_BIND)
                if kind & 0o005 != 0o005:
                    self._open_up(target)
            elif stat.S_ISREG(kind):
                _copy(source, target)
        kernel.mount("none", path, "none", _READ_ONLY)

    def _cover(self, folder: str) -> None:
        if folder in self._covered:
            raise Unreachable(f"{folder} cannot be entered by the user of the jail")
        self._covered[folder] = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        kernel.mount("tmpfs", folder, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, _OPEN)
        for shown, writable in self._shown.items():
            if shown.startswith(f"{folder}/"):
                self._put_back(folder, shown, writable=writable)

    def _put_back(self, folder: str, path: str, *, writable: bool) -> None:
        """Bind what lies at a path under the cover of a folder to its old place."""
        beneath = os.path.relpath(path, folder)
        source = f"/proc/self/fd/{self._covered[folder]}/{beneath}"
        if not os.path.exists(source):
            return
        if os.path.isdir(source):
            os.makedirs(path, mode=0o755, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDONLY | os.O_CLOEXEC, 0o644))
        kernel.mount(source, path, "none", kernel.MS_BIND | kernel.MS_REC)
        if not writable:
            kernel.mount("none", path, "none", _READ_ONLY)


def _looks(opened: int) -> object:
    """What changes when an open file does, or a file in an open folder."""
    inside = f"/proc/self/fd/{opened}"
    if not os.path.isdir(inside):
        found = os.stat(inside)
        return found.st_mtime_ns, found.st_size
    with os.scandir(inside) as entries:
        return {
            each.name: (found.st_mtime_ns, found.st_size)
            for each in entries
            for found in (each.stat(follow_symlinks=False),)
        }


def _copy(source: str, target: str) -> None:
    """Copy a file of root's for all to read; it may be run if it could be.

    Raises:
      Unreachable: if it is too large for that.
    """
    with open(source, "rb") as file:
        found = os.fstat(file.fileno())
        if found.st_size > MAX_COPY_BYTES:
            raise Unreachable(
                f"a file of {found.st_size >> 20} MB is not readable for other users than root, and"
                f" bots run as another: chmod -R o+rX {os.path.dirname(target)}"
            )
        with open(target, "wb") as copied:
            while chunk := file.read(1 << 20):
                copied.write(chunk)
            os.fchmod(copied.fileno(), 0o755 if found.st_mode & 0o100 else 0o644)


def closed_folder(path: str) -> str | None:
    """The uppermost folder above a path, or the path, that others may not enter or read."""
    at = ""
    parts = [each for each in path.split("/") if each]
    for number, part in enumerate(parts, 1):
        at += f"/{part}"
        try:
            found = os.stat(at)
        except OSError:
            return None  # it does not exist, so there is nothing to show
        wanted = _ENTER if number < len(parts) else 0o004
        if found.st_mode & wanted != wanted:
            return at
    return None
