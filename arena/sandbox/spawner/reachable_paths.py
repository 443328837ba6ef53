"""Makes paths reachable for users that may not enter the folders above them.

`/root` is closed to other users, and with it a Python that is installed there. In a separate mount namespace, the
spawner covers such a folder with an empty one that all users may enter, and binds the paths that bots may see back into
it, read-only. Files that only root may read are copied. Other processes do not see these mounts.
"""

import os
import stat
from typing import Final

from arena.sandbox.spawner import kernel

_ENTER: Final = 0o001
_READ_ONLY: Final = kernel.MS_BIND | kernel.MS_REMOUNT | kernel.MS_RDONLY | kernel.MS_NOSUID


_OPEN: Final = "mode=755"
_STAGE: Final = "/dev/shm"  # noqa: S108 - covered by a mount in the spawner's own namespace
MAX_COPY_BYTES: Final = 64 << 20
"""The size limit of one copied file."""


class UnreachablePath(Exception):
    """A path cannot be shown to a bot. The text says why, and the cure."""


class ReachablePaths:
    """The paths that are reachable so far. Create it once, as root, before bots are started."""

    def __init__(self) -> None:
        """Move this process into a mount namespace of its own.

        Raises `OSError` if the kernel refuses, as in a chroot or a container.
        """
        kernel.unshare(kernel.CLONE_NEWNS)
        kernel.mount("none", "/", "none", kernel.MS_REC | kernel.MS_SLAVE)
        self._covered: dict[str, int] = {}
        """Descriptors of the covered folders, by their paths."""
        self._shown: dict[str, bool] = {}
        """The reachable paths, and whether they are writable."""
        self._opened: dict[str, tuple[int, object]] = {}
        """Paths that only root may read: a descriptor of the original, and its state when copied."""
        self._stage = ""
        self._count = 0

    def show(self, path: str, *, writable: bool = False) -> None:
        """Let all users enter the folders above a path; unless `writable`, also read it.

        Raises:
          UnreachablePath: if a folder stays closed, or a file is too large to copy.
          OSError: if the kernel refuses.
        """
        if path in self._opened:
            opened, before = self._opened[path]
            if _state_of(opened) != before:  # the bot has changed since the copy
                kernel.unmount(path)
                self._open_up(path)
            return
        if path in self._shown:
            return
        above = [folder for folder in self._covered if path.startswith(f"{folder}/")]
        if above and (writable or self._is_missing(path, max(above, key=len))):
            cover = max(above, key=len)
            self._bind(cover, path, writable=writable)
            for shown, is_writable in self._shown.items():
                if is_writable and shown.startswith(f"{path}/"):  # the folder has read-only paths
                    self._bind(cover, shown, writable=True)
        while (closed := closed_folder(path)) not in {None, path}:
            assert closed is not None
            self._cover(closed)
            self._bind(closed, path, writable=writable)
        if closed == path and not writable:
            self._open_up(path)
        self._shown[path] = writable

    def _is_missing(self, path: str, cover: str) -> bool:
        """Return whether a cover hides a path, or has it only as a folder above a bound one."""
        try:
            return os.lstat(path).st_dev == os.lstat(cover).st_dev
        except FileNotFoundError:
            return True

    def _open_up(self, path: str) -> None:
        """Let all users read a path of root's: mount copies of its files over it."""
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if path in self._opened:
            os.close(self._opened[path][0])
        self._opened[path] = (opened, _state_of(opened))
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
            raise UnreachablePath(f"{folder} stays closed to the users of bots")
        self._covered[folder] = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        kernel.mount("tmpfs", folder, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, _OPEN)
        for shown, writable in self._shown.items():
            if shown.startswith(f"{folder}/"):
                self._bind(folder, shown, writable=writable)

    def _bind(self, folder: str, path: str, *, writable: bool) -> None:
        """Bind a path of a covered folder to its place in the cover."""
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


def _state_of(opened: int) -> object:
    """Times and sizes of an open file, or of the files of an open folder, to detect changes."""
    inside = f"/proc/self/fd/{opened}"
    if not os.path.isdir(inside):
        status = os.stat(inside)
        return status.st_mtime_ns, status.st_size
    with os.scandir(inside) as entries:
        return {
            entry.name: (status.st_mtime_ns, status.st_size)
            for entry in entries
            for status in (entry.stat(follow_symlinks=False),)
        }


def _copy(source: str, target: str) -> None:
    """Copy a file of root's so that all users can read it, and execute it if root can.

    Raises `UnreachablePath` if it is larger than `MAX_COPY_BYTES`.
    """
    with open(source, "rb") as file:
        status = os.fstat(file.fileno())
        if status.st_size > MAX_COPY_BYTES:
            raise UnreachablePath(
                f"a file of {status.st_size >> 20} MB is not readable for other users than root, and"
                f" bots run as another: chmod -R o+rX {os.path.dirname(target)}"
            )
        with open(target, "wb") as copied:
            while chunk := file.read(1 << 20):
                copied.write(chunk)
            os.fchmod(copied.fileno(), 0o755 if status.st_mode & 0o100 else 0o644)


def closed_folder(path: str) -> str | None:
    """Return the uppermost folder that other users may not enter, or the path if they may not read it."""
    at = ""
    parts = [part for part in path.split("/") if part]
    for number, part in enumerate(parts, 1):
        at += f"/{part}"
        try:
            status = os.stat(at)
        except OSError:
            return None  # it does not exist
        wanted = _ENTER if number < len(parts) else 0o004
        if status.st_mode & wanted != wanted:
            return at
    return None
