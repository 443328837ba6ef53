"""How a cell is made of a new process: step by step, none of which can be undone by the bot."""

import contextlib
import json
import os
import platform
import resource
import signal
from dataclasses import dataclass
from typing import Final, NoReturn

from arena.jailer import kernel, landlock
from arena.jailer.bubblewrap import arguments, of_etc
from arena.jailer.cell import ADDRESSES, Cell, Level, Limits
from arena.jailer.control_group import ControlGroup
from arena.jailer.seccomp import filter_program

GROUP: Final = 200_000
"""The group of all bots; their users are their own."""
_FAILED: Final = 127
_READABLE: Final = (
    "/usr",
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/sbin",
)
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


class CannotStart(Exception):
    """A cell was not made. The text says why."""


@dataclass(slots=True)
class Started:
    """A process in its cell, as the jailer knows it."""

    pid: int
    """Of the process that waits for the bot: bubblewrap's, or the keeper's."""
    inside: int = -1
    """Of the first process of its own process ids, which ends all of them; -1 without such."""
    user: int = -1
    """Its own; -1 if it is the jailer's."""
    group: ControlGroup | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """What cells are made with."""

    level: Level
    bwrap: str
    """The program; not needed for S1."""
    user: int = -1
    """Who runs the bot; -1 is who runs the jailer."""
    group: ControlGroup | None = None


def start(cell: Cell, way: Way, output: int) -> Started:
    """Start a bot whose output goes to an open file.

    Raises:
      CannotStart: if that fails before its program is reached.
    """
    if way.user < 0 and 0 in {os.getuid(), os.geteuid()}:
        raise CannotStart("a bot is never started as root")
    failed, failing = os.pipe2(os.O_CLOEXEC)
    waits, release = os.pipe2(os.O_CLOEXEC)
    told, tells = os.pipe2(os.O_CLOEXEC)
    namespaces = way.level is not Level.S1
    pid = os.fork()
    if pid == 0:
        _within_child(cell, way, output, failing, waits if namespaces else -1, tells)
    for each in (failing, waits, tells):
        os.close(each)
    try:
        why = _read_all(failed).decode("utf-8", "replace")
        if why:
            os.waitpid(pid, 0)
            raise CannotStart(why)
        started = Started(pid, user=way.user, group=way.group)
        if namespaces:
            started.inside = _inside(told)
            if started.inside > 0 and way.user < 0:
                # Only in there are they counted apart from all that this user runs.
                with contextlib.suppress(OSError):
                    _limit(resource.RLIMIT_NPROC, cell.limits.processes, started.inside)
            with contextlib.suppress(OSError):
                os.write(release, b"!")
    finally:
        for each in (failed, release, told):
            os.close(each)
    return started


def _inside(told: int) -> int:
    """The id of the first process in the cell; -1 if bubblewrap ended before it told."""
    text = b""
    while b"}" not in text and (chunk := os.read(told, 4096)):
        text += chunk
    try:
        return int(json.loads(text)["child-pid"])
    except (ValueError, KeyError):
        return -1


def _read_all(fd: int) -> bytes:
    found = b""
    while chunk := os.read(fd, 4096):
        found += chunk
    return found


def _within_child(
    cell: Cell, way: Way, output: int, failing: int, waits: int, tells: int
) -> NoReturn:
    """What the new process does until it is another program."""
    try:
        os.setsid()
        for number in (signal.SIGPIPE, signal.SIGTERM, signal.SIGCHLD, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        if way.group is not None:
            way.group.enter()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        own_user = way.user >= 0
        bounded(cell.limits, own_user=own_user)
        if way.level is Level.S1 and not own_user:
            # Beside all else that this user runs: without namespaces nobody counts them apart.
            most = tasks_of(os.getuid()) + cell.limits.processes
            _limit(resource.RLIMIT_NPROC, most)
        if way.user >= 0:
            os.setgroups([])
            os.setresgid(GROUP, GROUP, GROUP)
            os.setresuid(way.user, way.user, way.user)
        if way.level is Level.S1:
            _keep(cell, failing)
        _become_bwrap(cell, way, waits, tells)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(failing, f"{error}".encode() or b"it failed")
    os._exit(_FAILED)


def bounded(limits: Limits, *, own_user: bool) -> None:
    """Put the limits on this process, and on all that it starts."""
    _limit(resource.RLIMIT_DATA, limits.memory_bytes)
    _limit(resource.RLIMIT_AS, ADDRESSES * limits.memory_bytes)
    _limit(resource.RLIMIT_NOFILE, limits.files)
    _limit(resource.RLIMIT_FSIZE, limits.file_bytes)
    _limit(resource.RLIMIT_CPU, limits.cpu_s)
    _limit(resource.RLIMIT_CORE, 0)
    if own_user:
        _limit(resource.RLIMIT_NPROC, limits.processes)


def tasks_of(user: int) -> int:
    """How many processes and threads a user has."""
    found = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == user:
                    found += len(os.listdir(f"/proc/{name}/task"))
    return found


def _limit(which: int, most: int, pid: int = 0) -> None:
    _, hard = resource.prlimit(pid, which)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.prlimit(pid, which, (most, most))


def _become_bwrap(cell: Cell, way: Way, waits: int, tells: int) -> NoReturn:
    if 0 in os.getresuid():
        raise CannotStart("bubblewrap is never started as root")
    for each in (waits, tells):
        os.set_inheritable(each, True)
    told = arguments(
        cell,
        filter_fd=_in_memory("filter", filter_program(platform.machine())),
        block_fd=waits,
        info_fd=tells,
    )
    # What is in its arguments, as the bot's token, everybody could read in the list of processes.
    words = _in_memory("arguments", b"".join(os.fsencode(each) + b"\0" for each in told))
    os.execve(way.bwrap, ["bwrap", "--args", str(words), "--", *cell.argv], {})


def _in_memory(name: str, content: bytes) -> int:
    """An open file with this content, which a program that is started keeps."""
    file = os.memfd_create(name, 0)
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _keep(cell: Cell, failing: int) -> NoReturn:
    """Start the bot behind Landlock, and wait for it: the keeper of all that it leaves behind."""
    kernel.adopt_orphans()
    kernel.die_with_parent(signal.SIGUSR1)
    bot = os.fork()
    if bot == 0:
        try:
            _become_bot(cell)
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.write(failing, f"{error}".encode() or b"it failed")
        os._exit(_FAILED)
    os.close(failing)

    def pass_on(number: int, _: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(bot, number)

    def end_all(*_: object) -> None:
        _end_all()
        os._exit(128 + signal.SIGKILL)

    signal.signal(signal.SIGTERM, pass_on)
    signal.signal(signal.SIGUSR1, end_all)
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == bot:
            break
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    _end_all()
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _end_all() -> None:
    """End whatever descends from this process, until nothing does."""
    me = os.getpid()
    while True:
        with open(f"/proc/{me}/task/{me}/children", encoding="ascii") as file:
            left = [int(each) for each in file.read().split()]
        if not left:
            return
        for each in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        for _ in left:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(-1, 0)


def _become_bot(cell: Cell) -> NoReturn:
    os.setsid()
    kernel.die_with_parent(signal.SIGKILL)
    if cell.folder:
        os.chdir(cell.folder)
    program = filter_program(platform.machine())
    landlock.confine(
        (*_READABLE, *of_etc(), *cell.visible),
        tuple(filter(None, (cell.folder, cell.writable))),
        _DEVICES,
    )
    kernel.filter_calls(program)
    os.execve(cell.argv[0], list(cell.argv), dict(cell.environment))
