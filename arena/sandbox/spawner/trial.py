"""Finds the best sandbox level of this machine: starts a program in each, which tries to escape.

An installed bubblewrap proves nothing, because systems often forbid its namespaces.
"""

import contextlib
import os
import select
import shutil
import signal
import time
from dataclasses import dataclass, replace
from typing import Final

from arena.sandbox.spawner import landlock
from arena.sandbox.spawner.control_group import ControlGroups, NoGroups
from arena.sandbox.spawner.memory_files import HeldFiles
from arena.sandbox.spawner.order import TRIAL_S, Level, SpawnOrder
from arena.sandbox.spawner.spawn import CannotSpawn, SpawnedProcess, SpawnMethod, start

_DENIED: Final = b"sandboxed"

ATTEMPT: Final = """
import fcntl, os, socket, sys
def denied(attempt, *args):
    try:
        attempt(*args)
    except OSError:
        return
    sys.exit(f"the sandbox does not hold: {attempt.__name__}{args}")
denied(open, "/etc/passwd")
spawner = %d
if spawner > 9:  # a process of the sandbox itself may have a lower id
    denied(os.kill, spawner, 0)
    denied(os.listdir, f"/proc/{spawner}/fd")
denied(open, "/usr/arena-trial", "w")
denied(open, "/proc/loadavg")
denied(fcntl.flock, os.open("/usr", os.O_RDONLY), fcntl.LOCK_SH)
denied(socket.socket, socket.AF_INET)
denied(os.setuid, 0) if os.getuid() else sys.exit("it runs as root")
print("sandboxed")
"""
"""A program that tries what a sandbox must deny, and prints whether it is denied. Its argument is the spawner's id."""


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The result of the trial."""

    level: Level
    bwrap: str
    groups: ControlGroups | None
    missing: tuple[tuple[Level, str], ...]
    """The better levels, each with the reason why it is not available, and the cure if known."""


def try_levels(
    order: SpawnOrder,
    *,
    user: int,
    most: Level,
    unreachable: str = "",
    files: HeldFiles | None = None,
) -> TrialResult:
    """Find the best available level, at most `most`.

    Args:
      order: A Python and the files that it needs; its arguments are replaced.
      user: The user id that runs bots; -1 is the one of this process.
      most: The highest level to try.
      unreachable: Why that user cannot reach the files of bots, which rules out all levels; empty
        if it can.
      files: Its files in memory; None to read the originals.
    """
    attempt = ATTEMPT % os.getpid()
    order = replace(order, argv=(order.argv[0], "-I", "-S", "-c", attempt))
    bwrap = shutil.which("bwrap") or ""
    missing: list[tuple[Level, str]] = [(Level.S3, _NOT_ASKED), (Level.S2, _NOT_ASKED)]
    if most is not Level.S1:
        why = unreachable or (
            _outcome(order, SpawnMethod(Level.S2, bwrap, user, files=files)) if bwrap else _NO_BWRAP
        )
        if not why:
            groups, why = _groups() if most is Level.S3 else (None, _NOT_ASKED)
            if groups is not None:
                return TrialResult(Level.S3, bwrap, groups, ())
            return TrialResult(Level.S2, bwrap, None, ((Level.S3, why),))
        missing = [(Level.S3, "it needs what S2 needs"), (Level.S2, why)]
    why = unreachable or _why_no_landlock()
    why = why or _outcome(order, SpawnMethod(Level.S1, bwrap, user))
    if not why:
        return TrialResult(Level.S1, bwrap, None, tuple(missing))
    return TrialResult(Level.S0, bwrap, None, (*missing, (Level.S1, why)))


def _groups() -> tuple[ControlGroups | None, str]:
    """Return control groups, or why they cannot be used."""
    try:
        return ControlGroups.of_this_process(), ""
    except NoGroups as none:
        return None, str(none)


def _why_no_landlock() -> str:
    version = landlock.version()
    if version >= landlock.LEAST_VERSION:
        return ""
    return (
        f"Landlock has version {version} here, and {landlock.LEAST_VERSION} is needed"
        " (Linux 6.12 or newer)"
    )


def _outcome(order: SpawnOrder, method: SpawnMethod) -> str:
    """Return an empty text if the sandbox confines the program; otherwise the problem, with its cure if known."""
    reads, writes = os.pipe2(os.O_CLOEXEC)
    try:
        try:
            started = start(order, method, writes)
        except CannotSpawn as error:
            return with_cure(str(error))
        finally:
            os.close(writes)
        output = _read_until(reads, time.monotonic() + TRIAL_S)
    finally:
        os.close(reads)
    end(started)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(started.pid, 0)
    if output.strip() == _DENIED:
        return ""
    return with_cure(output.decode("utf-8", "replace").strip() or "the trial run printed nothing")


def _read_until(reads: int, deadline_s: float) -> bytes:
    output = b""
    while (left_s := deadline_s - time.monotonic()) > 0:
        ready, _, _ = select.select([reads], [], [], left_s)
        if not ready:
            break
        chunk = os.read(reads, 4096)
        if not chunk:
            break
        output += chunk
    return output


def end(started: SpawnedProcess) -> None:
    """Kill a bot and all processes that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if started.inside > 0:
            os.kill(started.inside, signal.SIGKILL)  # the kernel kills its namespace
        else:
            os.kill(started.pid, signal.SIGUSR1)  # the keeper kills all
    if started.group is not None:
        started.group.kill()


_NOT_ASKED: Final = "it was not requested"
_NO_BWRAP: Final = (
    "bubblewrap is not installed: apt install bubblewrap (Fedora: dnf install bubblewrap)"
)
_SYSCTLS: Final = (
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        (
            "AppArmor lets only programs with a profile make user namespaces: sudo sysctl"
            " kernel.apparmor_restrict_unprivileged_userns=0, or the profile of docs/sandbox.md"
        ),
    ),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "only root may make user namespaces: sudo sysctl kernel.unprivileged_userns_clone=1",
    ),
    (
        "/proc/sys/user/max_user_namespaces",
        "0",
        "this system allows no user namespaces: sudo sysctl user.max_user_namespaces=10000",
    ),
)
_CONTAINERS: Final = (
    (
        "/.dockerenv",
        (
            "Docker forbids it in its containers: docker run --security-opt seccomp=unconfined"
            " --security-opt systempaths=unconfined --security-opt apparmor=unconfined, or the"
            " profile of docs/sandbox.md"
        ),
    ),
    (
        "/run/.containerenv",
        (
            "podman forbids it in its containers: podman run --security-opt seccomp=unconfined"
            " --security-opt unmask=ALL, or the profile of docs/sandbox.md"
        ),
    ),
)


def with_cure(why: str) -> str:
    """Return the first line of the reason why a level is not available, with its cure if known."""
    first = why.splitlines()[0][:200] if why else ""
    if "namespace" in first or "uid map" in first or "mount" in first or "permitted" in first:
        for path, value, line in _SYSCTLS:
            with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
                if file.read().strip() == value:
                    return f"{first}: {line}"
        for path, line in _CONTAINERS:
            if os.path.exists(path):
                return f"{first}: {line}"
    if "Unknown option" in first or "unknown option" in first:
        return f"{first}: bubblewrap 0.8.0 or newer is needed"
    return first
