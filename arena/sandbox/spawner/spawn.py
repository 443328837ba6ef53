"""Starts a bot: the steps from a forked process to the bot's program in its sandbox.

A bot cannot undo any of them.
"""

import contextlib
import json
import os
import platform
import resource
import signal
from dataclasses import dataclass
from typing import Final, NoReturn

from arena.sandbox.spawner import kernel, landlock, priority
from arena.sandbox.spawner.bubblewrap import arguments, constants, of_etc
from arena.sandbox.spawner.control_group import ControlGroup
from arena.sandbox.spawner.memory_files import HeldFiles
from arena.sandbox.spawner.order import ADDRESSES, SYSTEM, Level, ResourceLimits, SpawnOrder
from arena.sandbox.spawner.seccomp import filter_program

GROUP: Final = 200_000
"""The group id of all bots; each bot has a separate user id if root runs the arena."""
_FAILED: Final = 127
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


class CannotSpawn(Exception):
    """A bot was not started. The text says why."""


@dataclass(slots=True)
class SpawnedProcess:
    """A started bot, with the data that the spawner needs."""

    pid: int
    """The process that waits for the bot: bubblewrap, or the keeper (see `_keep`)."""
    inside: int = -1
    """The first process of its process namespace, whose end kills all others; -1 at S1."""
    user: int = -1
    """The user id of the bot; -1 if it is the spawner's."""
    group: ControlGroup | None = None
    memory_bytes: int = 0
    """The limit of its memory."""
    files: HeldFiles | None = None


@dataclass(frozen=True, slots=True)
class SpawnMethod:
    """The method by which a bot is confined."""

    level: Level
    bwrap: str
    """The path of bubblewrap; not used at S1."""
    user: int = -1
    """The user id that runs the bot; -1 is the spawner's."""
    group: ControlGroup | None = None
    files: HeldFiles | None = None
    """The bot's files in memory; None if it reads the originals."""


def start(order: SpawnOrder, method: SpawnMethod, output: int) -> SpawnedProcess:
    """Start a bot whose output goes to an open file. Raises `CannotSpawn` if a step before its program fails."""
    if method.user < 0 and 0 in {os.getuid(), os.geteuid()}:
        raise CannotSpawn("a bot is never started as root")
    failed, failing = os.pipe2(os.O_CLOEXEC)
    waits, release = os.pipe2(os.O_CLOEXEC)
    info, informs = os.pipe2(os.O_CLOEXEC)
    namespaces = method.level is not Level.S1
    pid = os.fork()
    if pid == 0:
        _run_child(order, method, output, failing, waits, informs)
    for fd in (failing, waits, informs):
        os.close(fd)
    try:
        why = _read_all(failed).decode("utf-8", "replace")
        if why:
            os.waitpid(pid, 0)
            raise CannotSpawn(why)
        started = SpawnedProcess(
            pid,
            user=method.user,
            group=method.group,
            memory_bytes=order.limits.memory_bytes,
            files=method.files,
        )
        if namespaces:
            started.inside = _read_inside(info)
            if started.inside > 0 and method.user < 0:
                # The limit is set inside the user namespace, where the user's other processes do not count.
                with contextlib.suppress(OSError):
                    _limit(resource.RLIMIT_NPROC, order.limits.processes, started.inside)
            with contextlib.suppress(OSError):
                os.write(release, b"!")
    finally:
        for fd in (failed, release, info):
            os.close(fd)
    return started


def _read_inside(info: int) -> int:
    """Return the id of the first process in the sandbox; -1 if bubblewrap ended before it wrote one."""
    text = b""
    while b"}" not in text and (chunk := os.read(info, 4096)):
        text += chunk
    try:
        return int(json.loads(text)["child-pid"])
    except (ValueError, KeyError):
        return -1


def _read_all(fd: int) -> bytes:
    data = b""
    while chunk := os.read(fd, 4096):
        data += chunk
    return data


def _run_child(
    order: SpawnOrder, method: SpawnMethod, output: int, failing: int, waits: int, informs: int
) -> NoReturn:
    """Run the forked process until it executes another program."""
    try:
        os.setsid()
        priority.put_below(0)
        for number in (signal.SIGPIPE, signal.SIGTERM, signal.SIGCHLD, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        if method.group is not None:
            method.group.enter()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        own_user = method.user >= 0
        _set_limits(order.limits, own_user=own_user)
        if method.level is Level.S1 and not own_user:
            # Without a user namespace the kernel counts all processes of this user.
            most = _tasks_of(os.getuid()) + order.limits.processes
            _limit(resource.RLIMIT_NPROC, most)
        if own_user:
            os.setgroups([])
            os.setresgid(GROUP, GROUP, GROUP)
            os.setresuid(method.user, method.user, method.user)
        if method.level is Level.S1:
            _keep(order, failing)
        _become_bwrap(order, method, waits, informs)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(failing, f"{error}".encode() or b"it failed")
    os._exit(_FAILED)


def _set_limits(limits: ResourceLimits, *, own_user: bool) -> None:
    _limit(resource.RLIMIT_DATA, limits.memory_bytes)
    _limit(resource.RLIMIT_AS, ADDRESSES * limits.memory_bytes)
    _limit(resource.RLIMIT_NOFILE, limits.files)
    _limit(resource.RLIMIT_FSIZE, limits.file_bytes)
    _limit(resource.RLIMIT_CPU, limits.cpu_s)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NICE, 0)
    _limit(resource.RLIMIT_RTPRIO, 0)
    if own_user:
        _limit(resource.RLIMIT_NPROC, limits.processes)


def _tasks_of(user: int) -> int:
    """Return the number of processes and threads of a user."""
    number = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == user:
                    number += len(os.listdir(f"/proc/{name}/task"))
    return number


def _limit(which: int, most: int, pid: int = 0) -> None:
    _, hard = resource.prlimit(pid, which)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.prlimit(pid, which, (most, most))


def _become_bwrap(order: SpawnOrder, method: SpawnMethod, waits: int, informs: int) -> NoReturn:
    if 0 in os.getresuid():
        raise CannotSpawn("bubblewrap is never started as root")
    for fd in (waits, informs):
        os.set_inheritable(fd, True)
    given = arguments(
        order,
        filter_fd=_in_memory("filter", filter_program(platform.machine())),
        constant_fds={
            path: _in_memory("constant", text) for path, text in constants(order.limits).items()
        },
        block_fd=waits,
        info_fd=informs,
        files=method.files,
    )
    # The arguments are in a file, because they have the bot's token and every user can read arguments in the list of
    # processes.
    words = _in_memory("arguments", b"".join(os.fsencode(word) + b"\0" for word in given))
    os.execve(method.bwrap, ["bwrap", "--args", str(words), "--", *order.argv], {})


def _in_memory(name: str, content: bytes) -> int:
    """Return an open file in memory with this content, which stays open across exec."""
    file = os.memfd_create(name, 0)
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _keep(order: SpawnOrder, failing: int) -> NoReturn:
    """Start the bot under Landlock, and wait for it as its keeper.

    The keeper adopts the bot's orphans and kills them when the bot has ended.
    """
    kernel.adopt_orphans()
    kernel.die_with_parent(signal.SIGUSR1)
    bot = os.fork()
    if bot == 0:
        try:
            _become_bot(order)
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
    me = os.getpid()
    while True:
        with open(f"/proc/{me}/task/{me}/children", encoding="ascii") as file:
            left = [int(pid) for pid in file.read().split()]
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for _ in left:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(-1, 0)


def _become_bot(order: SpawnOrder) -> NoReturn:
    os.setpgid(0, 0)
    kernel.die_with_parent(signal.SIGKILL)
    if order.directory or order.folder:
        os.chdir(order.directory or order.folder)
    program = filter_program(platform.machine())
    landlock.confine(
        (*SYSTEM, *of_etc(), *order.visible),
        tuple(filter(None, (order.folder, order.writable))),
        _DEVICES,
    )
    kernel.filter_calls(program)
    os.execve(order.argv[0], list(order.argv), dict(order.environment))
