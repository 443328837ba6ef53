"""Control groups (cgroup v2), which bound what all processes of a bot use together.

They are there where the system has handed one over to whoever runs the arena, as systemd does for
a unit with `Delegate=yes`.
"""

import contextlib
import os
from dataclasses import dataclass
from typing import Final

from arena.jailer.cell import Limits

_NEEDED: Final = ("cpu", "memory", "pids")
_PERIOD_US: Final = 100_000


class NoGroups(Exception):
    """There are no control groups to use. The text says why."""


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """The group of one bot."""

    path: str

    def enter(self) -> None:
        """Have this process be in the group, with all that it starts.

        Raises:
          OSError: if it may not.
        """
        _write(self.path, "cgroup.procs", "0")

    def remove(self) -> None:
        """End what is left in the group, and take it away."""
        with contextlib.suppress(OSError):
            _write(self.path, "cgroup.kill", "1")
        with contextlib.suppress(OSError):
            os.rmdir(self.path)


class ControlGroups:
    """Where groups of bots are made."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._made = 0

    @classmethod
    def of_this_process(
        cls, root: str = "/sys/fs/cgroup", proc: str = "/proc/self"
    ) -> "ControlGroups":
        """Make room for groups beneath the one that this process is in.

        Raises:
          NoGroups: if that is not possible.
        """
        try:
            with open(f"{proc}/cgroup", encoding="ascii") as file:
                (own,) = [line[3:].strip() for line in file if line.startswith("0::")]
            path = f"{root}{own}".rstrip("/")
            with open(f"{path}/cgroup.controllers", encoding="ascii") as file:
                there = file.read().split()
        except (OSError, ValueError):
            raise NoGroups(
                "this system has no cgroup v2, or shows none here: boot it with"
                " systemd.unified_cgroup_hierarchy=1"
            ) from None
        missing = [each for each in _NEEDED if each not in there]
        if missing:
            raise NoGroups(
                f"the control group of this process lacks {', '.join(missing)}:"
                " start the arena by systemd-run --user --scope -p Delegate=yes"
            )
        try:
            _hand_down(path)
        except OSError as error:
            raise NoGroups(
                f"the control group {own} is not handed over ({error.strerror}):"
                " start the arena by systemd-run --user --scope -p Delegate=yes"
            ) from None
        return cls(path)

    def make(self, limits: Limits) -> ControlGroup:
        """A new group with these limits.

        Raises:
          OSError: if it cannot be made.
        """
        self._made += 1
        made = f"{self._path}/arena-bot-{os.getpid()}-{self._made}"
        os.mkdir(made)
        _write(made, "memory.max", str(limits.memory_bytes))
        _write(made, "pids.max", str(limits.processes))
        _write(made, "cpu.max", f"{_PERIOD_US} {_PERIOD_US}")  # one processor
        with contextlib.suppress(OSError):
            _write(made, "memory.swap.max", "0")
        return ControlGroup(made)


def _hand_down(path: str) -> None:
    """Have groups beneath this one bounded; what runs in it moves beneath it, as the kernel asks."""
    own = f"{path}/arena"
    os.makedirs(own, exist_ok=True)
    with open(f"{path}/cgroup.procs", encoding="ascii") as file:
        here = file.read().split()
    for pid in here:
        with contextlib.suppress(ProcessLookupError):
            _write(own, "cgroup.procs", pid)
    _write(path, "cgroup.subtree_control", " ".join(f"+{each}" for each in _NEEDED))


def _write(folder: str, name: str, text: str) -> None:
    with open(f"{folder}/{name}", "w", encoding="ascii") as file:
        file.write(text)
