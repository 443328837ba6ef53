"""Copies in memory of all files that bots read, so that reading leaves no trace.

The kernel keeps what was read from a disk, and the names that were looked up there. A later process
that reads the same file is faster, and so learns what an earlier one has read. A file system in
memory (tmpfs) has all its pages and names at all times. In a mount namespace of its own, the spawner
copies each path into such a file system, whole, before the first bot that may read it starts.

Instead of `/usr`, bots see the programs of scripts, what their own commands need, and the shared
libraries of all of these.
"""

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from arena.sandbox.spawner import kernel
from arena.sandbox.spawner.order import MB, SYSTEM, SpawnOrder
from arena.sandbox.spawner.shared_libraries import MAGIC, library_paths, needed

_AT: Final = "/sys/kernel"
"""The folder that the mount covers. It exists on each machine, and neither the spawner nor bubblewrap reads it."""
_TREE: Final = f"{_AT}/system"
_OPTIONS: Final = ("mode=755,noswap", "mode=755")
"""The options of the mount. Only root may forbid swapping, since Linux 6.4."""
_SHARE: Final = 2
"""The divisor of the available memory that gives the limit of the copies."""
_SKIPPED: Final = frozenset({"jmods", "src.zip"})
"""Parts of a JDK that no program needs while it runs; they are half of it."""
_CHUNK_BYTES: Final = 1 << 20
_LINKS: Final = 8

PROGRAMS: Final = frozenset(
    [
        "awk",
        "basename",
        "bash",
        "cat",
        "chmod",
        "cmp",
        "comm",
        "cp",
        "cut",
        "date",
        "dd",
        "dirname",
        "echo",
        "env",
        "expr",
        "false",
        "find",
        "grep",
        "head",
        "id",
        "kill",
        "ln",
        "ls",
        "mawk",
        "mkdir",
        "mktemp",
        "mv",
        "nice",
        "nohup",
        "nproc",
        "od",
        "printf",
        "pwd",
        "readlink",
        "realpath",
        "rm",
        "rmdir",
        "sed",
        "seq",
        "sh",
        "sleep",
        "sort",
        "stat",
        "tail",
        "tee",
        "test",
        "timeout",
        "touch",
        "tr",
        "true",
        "tty",
        "uname",
        "uniq",
        "wc",
        "xargs",
        "yes",
    ]
)
"""The programs of the system that every bot may run, if they are installed."""
_LIBRARIES: Final = ("libatomic.so.1", "libgcc_s.so.1", "libgomp.so.1", "libstdc++.so.6")
"""Libraries that programs load while they run, or that runtimes of C++ need."""
_FILES: Final = ("/usr/lib/locale/C.utf8", "/usr/share/zoneinfo")


class TooLarge(Exception):
    """Files do not fit into memory. The text says how large they are."""


@dataclass(slots=True)
class _Copy:
    at: str
    state: object
    """The state of the original when it was copied."""
    users: int = 0
    """The number of bots that run with it."""
    is_latest: bool = True


@dataclass(frozen=True, slots=True)
class HeldFiles:
    """The files of one bot, in memory until they are released."""

    sources: Mapping[str, str]
    """The copy of each visible path; paths of the system are in `system`."""
    etc: Sequence[str]
    """The visible part of /etc."""
    system: str = _TREE
    """A folder with the paths of the system and of /etc."""
    copies: tuple[_Copy, ...] = field(default=(), repr=False)


class MemoryFiles:
    """The copies of one spawner. Create it in a mount namespace in which this process may mount."""

    def __init__(self, etc: Sequence[str]) -> None:
        """Mount the file system; nothing is copied yet.

        Args:
          etc: The paths in /etc that bots may read.

        Raises `OSError` if the kernel refuses.
        """
        _mount()
        self._etc = etc
        self._copies: dict[str, _Copy] = {}
        """The latest copy of each original, the one that was used last at the end."""
        self._of_system: set[str] = set()
        """Paths of the system that bots have asked for."""
        self._copied_of_system: set[str] = set()
        """What the tree of the system has, without links above."""
        self._count = 0
        os.mkdir(_TREE)

    def hold(self, order: SpawnOrder) -> HeldFiles:
        """Copy the files that a bot may read, unless they are already copied.

        Raises `TooLarge` if it does not fit, and `OSError` if it cannot be stored.
        """
        self._require_base()
        copies: dict[str, _Copy] = {}
        try:
            for path in order.visible:
                if not os.path.exists(path):
                    continue
                if is_of_system(path):
                    self._require_of_system(path, order)
                else:
                    copies[path] = self._held(path, order)
            if is_of_system(order.argv[0]):
                self._require_of_system(order.argv[0], order)
        except BaseException:
            self._release(copies.values())
            raise
        sources = {path: copies[path].at for path in sorted(copies)}
        for outer, at in sources.items():
            for inner in sources:
                if inner.startswith(f"{outer}/"):
                    _make_place(f"{at}{inner[len(outer) :]}", is_folder=os.path.isdir(inner))
        return HeldFiles(sources, self._etc, copies=tuple(copies.values()))

    def close(self) -> None:
        kernel.unmount(_AT)

    def release(self, held: HeldFiles) -> None:
        """Release the files of a bot that has ended. Copies of changed files are removed."""
        self._release(held.copies)

    def _release(self, copies: Iterable[_Copy]) -> None:
        for copy in copies:
            copy.users -= 1
            if not copy.users and not copy.is_latest:
                _remove(copy.at)

    def _held(self, path: str, order: SpawnOrder) -> _Copy:
        original = os.path.realpath(path)
        state = _state_of(original) if path in order.fresh else None
        copy = self._copies.pop(original, None)
        if copy is not None and copy.state != state:
            copy.is_latest = False
            if not copy.users:
                _remove(copy.at)
            copy = None
        if copy is None:
            self._make_room(original, order.omitted)
            self._count += 1
            copy = _Copy(f"{_AT}/{self._count}", state)
            try:
                libraries = set(_copied(original, copy.at, order.omitted))
            except BaseException:
                _remove(copy.at)
                raise
            self._require_libraries(libraries)
        self._copies[original] = copy
        copy.users += 1
        return copy

    def _make_room(self, original: str, omitted: Sequence[str]) -> None:
        """Remove copies that no bot uses until a path fits. Raises `TooLarge` if it does not fit then."""
        size_bytes = size_of(original, omitted)
        unused = [item for item in self._copies.items() if not item[1].users]
        while size_bytes > (free_bytes := _room_bytes() // _SHARE):
            if not unused:
                raise TooLarge(
                    f"{original} has {size_bytes // MB} MB, and {free_bytes // MB} MB of memory are"
                    " free for files of bots"
                )
            name, copy = unused.pop(0)
            del self._copies[name]
            _remove(copy.at)

    def _require_base(self) -> None:
        """Copy the files of the system that every bot sees, unless they are already copied."""
        if self._copied_of_system:
            return
        for path in SYSTEM[1:]:
            if os.path.isdir(path) and not os.path.islink(path):
                os.makedirs(f"{_TREE}{path}", exist_ok=True)
        for folder in ("/usr/bin", "/bin"):
            for name in sorted(PROGRAMS):
                self._copy_of_system(f"{folder}/{name}")
        self._require_libraries({*_LIBRARIES})
        for path in (*_FILES, *self._etc):
            self._copy_of_system(path)

    def _require_of_system(self, path: str, order: SpawnOrder) -> None:
        if path not in self._of_system:
            self._make_room(os.path.realpath(path), order.omitted)
            for part in (path, *_with_program(os.path.realpath(path))):
                self._copy_of_system(part, order.omitted)
            self._of_system.add(path)

    def _require_libraries(self, names: set[str]) -> None:
        for name in sorted(names):
            path = name if name.startswith("/") else library_paths().get(name, "")
            if path and is_of_system(path):
                self._copy_of_system(path)

    def _copy_of_system(self, path: str, omitted: Sequence[str] = ()) -> None:
        """Copy a path into the tree of the system, with the links that lead to it, and its libraries."""
        for _ in range(_LINKS):
            path = f"{os.path.realpath(os.path.dirname(path))}/{os.path.basename(path)}"
            target = f"{_TREE}{path}"
            if path in self._copied_of_system or not os.path.lexists(path):
                return
            self._copied_of_system.add(path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if not os.path.islink(path):
                try:
                    libraries = set(_copied(path, target, omitted))
                except OSError:
                    self._copied_of_system.discard(path)
                    raise
                self._require_libraries(libraries)
                return
            with contextlib.suppress(FileExistsError):
                os.symlink(os.readlink(path), target)
            path = os.path.join(os.path.dirname(path), os.readlink(path))
            if not is_of_system(path) and not path.startswith("/etc/"):
                return


def is_of_system(path: str) -> bool:
    """Return whether a path is in the folders of system programs and libraries."""
    return any(path == folder or path.startswith(f"{folder}/") for folder in SYSTEM)


def enter_namespace() -> None:
    """Move this process, of a user that is not root, into a namespace in which it may mount.

    Raises `OSError` if the kernel refuses. This process is unchanged then.
    """
    pid = os.fork()  # some systems confine the process that asks, and then refuse its calls
    if pid == 0:
        try:
            _enter()
            _mount()
        except OSError as error:
            os._exit(error.errno or errno.EPERM)
        except BaseException:
            os._exit(errno.EPERM)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if code := os.waitstatus_to_exitcode(status):
        raise OSError(abs(code), os.strerror(abs(code)))
    _enter()


def _enter() -> None:
    user, group = os.getuid(), os.getgid()
    kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    kernel.mount("none", "/", "none", kernel.MS_REC | kernel.MS_SLAVE)


def _mount() -> None:
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOATIME
    for options in _OPTIONS:
        try:
            kernel.mount("bots", _AT, "tmpfs", flags, options)
        except OSError as error:
            if error.errno != errno.EINVAL or options == _OPTIONS[-1]:
                raise
        else:
            return


def _with_program(program: str) -> Iterator[str]:
    """Yield the folders of the system that belong to a program by their names, such as /usr/lib/ruby to ruby."""
    folder, name = os.path.split(program)
    if os.path.basename(folder) != "bin" or not os.path.isfile(program):
        return
    above = os.path.dirname(folder)
    if above not in {*SYSTEM, "/", "/usr/local"}:
        yield above  # a separate installation, such as /usr/lib/jvm/java-17
        return
    stem = name.rstrip("0123456789.-")
    for parent in (f"{above}/lib", f"{above}/share", *_multiarch(f"{above}/lib")):
        with contextlib.suppress(OSError), os.scandir(parent) as entries:
            for entry in entries:
                rest = entry.name.removeprefix(stem)
                if rest != entry.name and not rest.removeprefix("js").strip("0123456789.-"):
                    yield entry.path


def _multiarch(folder: str) -> Iterator[str]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        yield from (entry.path for entry in entries if entry.name.endswith("-linux-gnu"))


def _walk(path: str, omitted: Sequence[str]) -> Iterator[tuple[str, os.stat_result]]:
    try:
        status = os.lstat(path)
    except OSError:
        return
    yield path, status
    if stat.S_ISDIR(status.st_mode) and path not in omitted:
        with contextlib.suppress(PermissionError):
            for name in sorted(os.listdir(path)):
                if name not in _SKIPPED:
                    yield from _walk(f"{path}/{name}", omitted)


def _state_of(path: str) -> object:
    """Return a state that changes whenever a file below a path changes."""
    return hash(
        tuple(
            (inner, status.st_ino, status.st_ctime_ns, status.st_size)
            for inner, status in _walk(path, ())
        )
    )


def size_of(path: str, omitted: Sequence[str]) -> int:
    """Return the size of the files below a path in memory, in bytes."""
    return sum(status.st_size + 4096 & ~4095 for _, status in _walk(path, omitted))


def available_bytes() -> int:
    """Return the memory of the machine that programs could still use."""
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:"))


def _room_bytes() -> int:
    """Return the memory that this process could still use, within the limit of its container."""
    room = available_bytes()
    # A container sees the group of its own at the root.
    with contextlib.suppress(OSError, ValueError):
        used, most = (int(_text(f"/sys/fs/cgroup/memory.{name}")) for name in ("current", "max"))
        counts = dict(line.split() for line in _text("/sys/fs/cgroup/memory.stat").splitlines())
        files = int(counts["inactive_file"]) + int(counts["active_file"])
        room = min(room, most - used + files)
    return room


def _text(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read()


def _copied(path: str, target: str, omitted: Sequence[str]) -> Iterator[str]:
    """Copy a path and all below it; yield the names of the shared libraries that its files need.

    Times of files are kept, because Python compares them with those in compiled modules.
    """
    folders = []
    for source, status in _walk(path, omitted):
        to = f"{target}{source[len(path) :]}"
        mode = stat.S_IMODE(status.st_mode) & 0o777
        if stat.S_ISDIR(status.st_mode):
            with contextlib.suppress(FileExistsError):
                os.mkdir(to)
            folders.append((to, mode))
        elif stat.S_ISLNK(status.st_mode):
            with contextlib.suppress(FileExistsError):
                os.symlink(os.readlink(source), to)
        elif stat.S_ISREG(status.st_mode):
            # Existing copies may be in use. Files that this user cannot read are skipped, because bots cannot read them
            # either.
            with contextlib.suppress(FileExistsError, FileNotFoundError, PermissionError):
                yield from _copy_file(source, to, mode, status)
    for to, mode in reversed(folders):
        os.chmod(to, mode)


def _copy_file(path: str, target: str, mode: int, found: os.stat_result) -> list[str]:
    """Copy a file; return the names of the shared libraries that it needs."""
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        written = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            chunk = os.read(opened, _CHUNK_BYTES)
            libraries = needed(opened) if chunk.startswith(MAGIC) else []
            while chunk:
                os.write(written, chunk)
                chunk = os.read(opened, _CHUNK_BYTES)
            os.fchmod(written, mode)
            os.utime(written, ns=(found.st_mtime_ns, found.st_mtime_ns))
        except BaseException:
            os.unlink(target)
            raise
        finally:
            os.close(written)
    finally:
        os.close(opened)
    return libraries


def _make_place(path: str, *, is_folder: bool) -> None:
    """Make a file or folder at a path, on which bubblewrap can bind a path whose surroundings are omitted."""
    if not os.path.lexists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if is_folder:
            os.mkdir(path)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_RDONLY | os.O_CLOEXEC, 0o644))


def _remove(path: str) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path)
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
