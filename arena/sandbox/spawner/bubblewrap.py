"""The arguments of bubblewrap for a bot. Bubblewrap executes them in order."""

import glob
import os
from collections.abc import Iterator, Mapping
from typing import Final

from arena.sandbox.spawner.memory_files import HeldFiles
from arena.sandbox.spawner.order import SCRATCH, SOCKET, SYSTEM, ResourceLimits, SpawnOrder

_OF_ETC: Final = (
    "/etc/alternatives",
    "/etc/java*",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
)
"""The visible part of /etc: the settings for finding programs and libraries, and those of Java."""
_HOST_NAME: Final = "arena"
_READ_BY_OTHERS: Final = 0o004


def arguments(
    order: SpawnOrder,
    *,
    filter_fd: int,
    constant_fds: Mapping[str, int],
    block_fd: int,
    info_fd: int,
    files: HeldFiles | None = None,
) -> Iterator[str]:
    """Yield the arguments of bubblewrap before the bot's command.

    Args:
      constant_fds: Open files with the texts of `constants`.
      block_fd: Bubblewrap starts nothing before it can read a byte here; -1 for none.
      info_fd: Receives JSON with the id of the first process in the sandbox; -1 for none.
      files: The bot's files in memory; None if it reads the originals.
    """
    scratch_bytes = str(order.limits.scratch_bytes)
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL")
    yield from ("--hostname", _HOST_NAME, "--die-with-parent", "--clearenv")
    system = "" if files is None else files.system
    yield from ("--ro-bind", f"{system}/usr", "/usr")
    for path in SYSTEM[1:]:
        if os.path.islink(path):  # on systems that have merged these folders into /usr
            yield from ("--symlink", os.readlink(path), path)
        else:
            yield from ("--ro-bind-try", f"{system}{path}", path)
    for path in of_etc() if files is None else files.etc:
        yield from ("--ro-bind-try", f"{system}{path}", path)
    yield from _proc(constant_fds)
    yield from ("--dev", "/dev", "--size", scratch_bytes, "--tmpfs", "/dev/shm")  # noqa: S108
    # Terminals store what is written to them.
    yield from ("--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts", "--remount-ro", "/dev")
    # First, because it would hide files that are bound below it.
    yield from ("--size", scratch_bytes, "--tmpfs", SCRATCH)
    sources = {path: path for path in order.visible} if files is None else files.sources
    for path, source in sources.items():
        yield from ("--ro-bind-try", source, path)
    if order.writable:
        yield from ("--bind", order.writable, order.writable)
    if order.socket:
        yield from ("--ro-bind", order.socket, SOCKET)
    # The root of the sandbox is a file system in memory without a size limit.
    yield from ("--remount-ro", "/", "--chdir", order.directory or SCRATCH)
    for name, value in order.environment.items():
        yield from ("--setenv", name, value)
    yield from ("--seccomp", str(filter_fd))
    if block_fd >= 0:
        yield from ("--block-fd", str(block_fd))
    if info_fd >= 0:
        yield from ("--info-fd", str(info_fd))


def _proc(constant_fds: Mapping[str, int]) -> Iterator[str]:
    yield from ("--proc", "/proc")
    for path in _of_the_machine():
        if os.path.isdir(path):
            yield from ("--tmpfs", path, "--remount-ro", path)
        else:
            yield from ("--ro-bind", os.devnull, path)  # the sandbox can open no devices there
    for path, fd in constant_fds.items():
        yield from ("--ro-bind-data", str(fd), path)
    yield from ("--remount-ro", "/proc")


def constants(limits: ResourceLimits) -> dict[str, bytes]:
    """Return the files in /proc that show a bot the same machine at all times: its memory and processors.

    Node.js takes the size of its heap from the one, and the number of processors from the other.
    """
    kib = limits.memory_bytes >> 10
    names = ("cpu", *(f"cpu{number}" for number in range(len(os.sched_getaffinity(0)))))
    return {
        "/proc/meminfo": f"MemTotal: {kib} kB\nMemFree: {kib} kB\n".encode(),
        "/proc/stat": "".join(f"{name}{' 0' * 10}\n" for name in names).encode(),
    }


def _of_the_machine() -> list[str]:
    """Return the files and folders in /proc that all users may read and that belong to no process.

    They have counts over all processes of the machine, by which one bot could signal to another.
    """
    with os.scandir("/proc") as entries:
        return sorted(
            entry.path
            for entry in entries
            if not (entry.name.isdigit() or entry.is_symlink())
            and entry.stat().st_mode & _READ_BY_OTHERS
        )


def of_etc() -> list[str]:
    """Return the paths in /etc that bots may read."""
    return [path for pattern in _OF_ETC for path in sorted(glob.glob(pattern))]
