"""The words by which bubblewrap is told what a cell consists of, in the order it does them."""

import glob
import os
from collections.abc import Iterator
from typing import Final

from arena.jailer.cell import SCRATCH, SOCKET, Cell

_SYSTEM: Final = ("/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin")
"""Links to folders of /usr where systems have merged them, else folders of their own."""
_OF_ETC: Final = (
    "/etc/alternatives",
    "/etc/java*",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
)
"""What programs need to find programs and libraries, and Java its settings. The rest stays out."""
_HOST_NAME: Final = "arena"


def arguments(cell: Cell, *, filter_fd: int, block_fd: int, info_fd: int) -> list[str]:
    """What bubblewrap reads before the command, which it takes from its own arguments alone.

    Args:
      cell: What it makes.
      filter_fd: An open file with the seccomp filter.
      block_fd: Nothing is started before a byte can be read there; -1 for none.
      info_fd: Gets JSON with the id of the process inside; -1 for none.
    """
    return list(_arguments(cell, filter_fd, block_fd, info_fd))


def _arguments(cell: Cell, filter_fd: int, block_fd: int, info_fd: int) -> Iterator[str]:
    scratch_bytes = str(cell.limits.scratch_bytes)
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL")
    yield from ("--hostname", _HOST_NAME, "--die-with-parent", "--new-session", "--clearenv")
    yield from ("--ro-bind", "/usr", "/usr")
    for path in _SYSTEM:
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        else:
            yield from ("--ro-bind-try", path, path)
    for path in of_etc():
        yield from ("--ro-bind-try", path, path)
    yield from ("--proc", "/proc", "--remount-ro", "/proc")
    yield from ("--dev", "/dev", "--size", scratch_bytes, "--tmpfs", "/dev/shm")  # noqa: S108
    yield from ("--remount-ro", "/dev")
    # Before what is bound beneath it, which it would hide.
    yield from ("--size", scratch_bytes, "--tmpfs", SCRATCH)
    for path in cell.visible:
        yield from ("--ro-bind-try", path, path)
    if cell.writable:
        yield from ("--bind", cell.writable, cell.writable)
    if cell.socket:
        yield from ("--ro-bind", cell.socket, SOCKET)
    # What bubblewrap puts all this in is a file system in memory, which has no bound.
    yield from ("--remount-ro", "/", "--chdir", SCRATCH)
    for name, value in cell.environment.items():
        yield from ("--setenv", name, value)
    yield from ("--seccomp", str(filter_fd))
    if block_fd >= 0:
        yield from ("--block-fd", str(block_fd))
    if info_fd >= 0:
        yield from ("--info-fd", str(info_fd))


def of_etc() -> list[str]:
    """What bots see of the system's settings."""
    return [path for each in _OF_ETC for path in sorted(glob.glob(each))]
