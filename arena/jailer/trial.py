"""Which wall can be built here: each is built once, and a program behind it tries to get out.

That bubblewrap is installed proves nothing: its namespaces may be forbidden, and often are.
"""

import contextlib
import os
import select
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from arena.jailer import landlock
from arena.jailer.cell import TRIAL_S, Cell, Level
from arena.jailer.control_group import ControlGroups, NoGroups
from arena.jailer.reach import Unreachable
from arena.jailer.starting import CannotStart, Started, Way, start

_WALLED: Final = b"walled"

ATTEMPT: Final = """
import os, socket, sys
def denied(attempt, *args):
    try:
        attempt(*args)
    except OSError:
        return
    sys.exit(f"the wall does not hold: {attempt.__name__}{args}")
denied(open, "/etc/passwd")
jailer = %d
if jailer > 9:  # else processes of the cell itself may have that id
    denied(os.kill, jailer, 0)
    denied(os.listdir, f"/proc/{jailer}/fd")
denied(open, "/usr/arena-trial", "w")
denied(socket.socket, socket.AF_INET)
denied(os.setuid, 0) if os.getuid() else sys.exit("it runs as root")
print("walled")
"""
"""Tries what a wall has to deny, and tells if it does; it gets the id of the jailer."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the trial found."""

    level: Level
    bwrap: str
    groups: ControlGroups | None
    missing: tuple[tuple[Level, str], ...]
    """The better levels, each with why it is not to be had and what mends it."""


def try_levels(cell: Cell, *, user: int, most: Level, show: Callable[[str], None]) -> Verdict:
    """Find the best level that holds, none above `most`.

    Args:
      cell: A Python, and what it needs to be visible; what it runs is replaced.
      user: Who is to run bots; -1 is who runs this.
      most: The highest to try.
      show: Makes a path reachable for that user.
    """
    attempt = ATTEMPT % os.getpid()
    cell = replace(cell, argv=(cell.argv[0], "-I", "-S", "-c", attempt))
    bwrap = shutil.which("bwrap") or ""
    missing: list[tuple[Level, str]] = []
    why = _why_not_shown(cell, show)
    if most is not Level.S1:
        why_no_namespaces = why
        if not why:
            why_no_namespaces = _outcome(cell, Way(Level.S2, bwrap, user)) if bwrap else _NO_BWRAP
        if not why_no_namespaces:
            groups, why_no_groups = _groups() if most is Level.S3 else (None, _NOT_ASKED)
            if groups is not None:
                return Verdict(Level.S3, bwrap, groups, ())
            return Verdict(Level.S2, bwrap, None, ((Level.S3, why_no_groups),))
        missing += [(Level.S3, "it needs what S2 needs"), (Level.S2, mended(why_no_namespaces))]
    else:
        missing += [(Level.S3, _NOT_ASKED), (Level.S2, _NOT_ASKED)]
    if not why and landlock.version() < landlock.LEAST_VERSION:
        why = (
            f"Landlock has version {landlock.version()} here, and {landlock.LEAST_VERSION} is"
            " needed (Linux 6.12 or newer)"
        )
    if not why:
        why = _outcome(cell, Way(Level.S1, bwrap, user))
    if not why:
        return Verdict(Level.S1, bwrap, None, tuple(missing))
    missing.append((Level.S1, mended(why)))
    return Verdict(Level.S0, bwrap, None, tuple(missing))


def _groups() -> tuple[ControlGroups | None, str]:
    """Control groups, or why there are none."""
    try:
        return ControlGroups.of_this_process(), ""
    except NoGroups as none:
        return None, str(none)


def _why_not_shown(cell: Cell, show: Callable[[str], None]) -> str:
    try:
        for path in cell.visible:
            show(path)
    except (Unreachable, OSError) as error:
        return str(error)
    return ""


def _outcome(cell: Cell, way: Way) -> str:
    """Empty if the wall holds, else what went wrong."""
    reads, writes = os.pipe2(os.O_CLOEXEC)
    try:
        try:
            started = start(cell, way, writes)
        except CannotStart as error:
            return str(error)
        finally:
            os.close(writes)
        said = _read_until(reads, time.monotonic() + TRIAL_S)
    finally:
        os.close(reads)
    end(started)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(started.pid, 0)
    if said.strip() == _WALLED:
        return ""
    return said.decode("utf-8", "replace").strip() or "the trial run ended without a word"


def _read_until(reads: int, deadline_s: float) -> bytes:
    said = b""
    while (left_s := deadline_s - time.monotonic()) > 0:
        ready, _, _ = select.select([reads], [], [], left_s)
        if not ready:
            break
        chunk = os.read(reads, 4096)
        if not chunk:
            break
        said += chunk
    return said


def end(started: Started) -> None:
    """End a bot at once, and all that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if started.inside > 0:
            os.kill(started.inside, signal.SIGKILL)  # its process ids end with it
        else:
            os.kill(started.pid, signal.SIGUSR1)  # the keeper ends all
    if started.group is not None:
        started.group.remove()


_NOT_ASKED: Final = "it was not asked for"
_NO_BWRAP: Final = (
    "bubblewrap is not installed: apt install bubblewrap (Fedora: dnf install bubblewrap)"
)
_SYSCTLS: Final = (
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        (
            "AppArmor lets only programs with a profile make user namespaces: sudo sysctl"
            " kernel.apparmor_restrict_unprivileged_userns=0, or the profile of docs/jail.md"
        ),
    ),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "this system keeps user namespaces to root: sudo sysctl kernel.unprivileged_userns_clone=1",
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
            " --security-opt systempaths=unconfined --security-opt apparmor=unconfined"
        ),
    ),
    (
        "/run/.containerenv",
        (
            "podman forbids it in its containers: podman run --security-opt seccomp=unconfined"
            " --security-opt unmask=ALL"
        ),
    ),
)


def mended(why: str) -> str:
    """Why a level is not to be had, in one line, with what mends it where that is known."""
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
