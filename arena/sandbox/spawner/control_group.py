"""Control groups (cgroup v2), which limit the resources of all processes of a bot together.

They need a control group that is delegated to the arena's user, as systemd does for a unit with
`Delegate=yes`.
"""

import contextlib
import os
from dataclasses import dataclass
from typing import Final

from arena.sandbox.spawner.order import ResourceLimits
from arena.sandbox.spawner.priority import NICE

_NEEDED: Final = ("cpu", "memory", "pids")
_PERIOD_US: Final = 100_000
_OF_BUBBLEWRAP: Final = 2
"""The number of processes of bubblewrap in the group of each bot: the one that waits for it, and the first inside."""
_OWN: Final = "arena"
"""The group of the arena's own processes, beside those of its bots."""
_DELEGATE: Final = "start the arena with systemd-run --user --scope -p Delegate=yes"


class NoGroups(Exception):
    """Control groups cannot be used. The text says why, and the cure."""


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """The group of one bot."""

    path: str

    def enter(self) -> None:
        """Move this process into the group; its children start there too.

        Raises `OSError` if the kernel refuses.
        """
        _write(self.path, "cgroup.procs", "0")

    def freeze(self, *, frozen: bool) -> None:
        """Stop all processes of the group, or let them run again. SIGKILL ends frozen ones too."""
        with contextlib.suppress(OSError):  # the group is removed when the bot has ended
            _write(self.path, "cgroup.freeze", str(int(frozen)))

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            _write(self.path, "cgroup.kill", "1")

    def memory_events(self) -> tuple[int, int]:
        """Return how often its memory reached the limit, and how many of its processes the kernel ended for memory."""
        counts = dict.fromkeys(("oom", "oom_kill"), 0)
        with contextlib.suppress(OSError), open(f"{self.path}/memory.events") as file:
            counts |= {name: int(count) for name, count in map(str.split, file)}
        return counts["oom"], counts["oom_kill"]

    def remove(self) -> bool:
        """Kill the processes that are left in the group, and remove it; return false while they are ending."""
        self.kill()
        try:
            os.rmdir(self.path)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True


class ControlGroups:
    """Creates a control group for each bot."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._made = 0
        self._left: list[ControlGroup] = []
        """Groups of ended bots whose last processes still end."""

    @classmethod
    def of_this_process(
        cls, root: str = "/sys/fs/cgroup", proc: str = "/proc/self"
    ) -> "ControlGroups":
        """Prepare the group of this process to have groups of bots below it.

        Raises `NoGroups` if that is not possible.
        """
        try:
            with open(f"{proc}/cgroup", encoding="ascii") as file:
                (group,) = [line[3:].strip() for line in file if line.startswith("0::")]
            path = f"{root}{group}".rstrip("/")
            with open(f"{path}/cgroup.controllers", encoding="ascii") as file:
                controllers = file.read().split()
        except (OSError, ValueError):
            raise NoGroups(
                "this system has no cgroup v2, or does not show it: boot it with"
                " systemd.unified_cgroup_hierarchy=1"
            ) from None
        missing = [controller for controller in _NEEDED if controller not in controllers]
        if missing:
            raise NoGroups(f"the control group {group} lacks {', '.join(missing)}: {_DELEGATE}")
        if os.path.basename(path) == _OWN and _is_enabled(os.path.dirname(path)):
            return cls(os.path.dirname(path))  # another sandbox of this arena has prepared it
        try:
            _enable_below(path)
        except OSError as error:
            raise NoGroups(
                f"the control group {group} is not delegated ({error.strerror}): {_DELEGATE}"
            ) from None
        return cls(path)

    def make(self, limits: ResourceLimits) -> ControlGroup:
        """Create a group with these limits. Raises `OSError` if the kernel refuses."""
        self._left = [group for group in self._left if not group.remove()]
        self._made += 1
        made = f"{self._path}/arena-bot-{os.getpid()}-{self._made}"
        os.mkdir(made)
        _write(made, "memory.max", str(limits.memory_bytes))
        _write(made, "pids.max", str(limits.processes + _OF_BUBBLEWRAP))
        _write(made, "cpu.max", f"{_PERIOD_US} {_PERIOD_US}")  # one processor
        _write(made, "cpu.weight.nice", str(NICE))
        _write(made, "memory.oom.group", "1")  # all processes of a bot end together
        with contextlib.suppress(OSError):
            _write(made, "memory.swap.max", "0")
        return ControlGroup(made)

    def ended(self, group: ControlGroup) -> None:
        """Remove the group of a bot that has ended, now or when the next one is made."""
        if not group.remove():
            self._left.append(group)


def _is_enabled(path: str) -> bool:
    try:
        with open(f"{path}/cgroup.subtree_control", encoding="ascii") as file:
            return set(_NEEDED) <= set(file.read().split())
    except OSError:
        return False


def _enable_below(path: str) -> None:
    """Enable the controllers for groups below this one.

    The kernel requires that the group itself has no processes, so they move to one below it.
    """
    below = f"{path}/{_OWN}"
    os.makedirs(below, exist_ok=True)
    with open(f"{path}/cgroup.procs", encoding="ascii") as file:
        pids = file.read().split()
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            _write(below, "cgroup.procs", pid)
    _write(path, "cgroup.subtree_control", " ".join(f"+{controller}" for controller in _NEEDED))


def _write(folder: str, name: str, text: str) -> None:
    with open(f"{folder}/{name}", "w", encoding="ascii") as file:
        file.write(text)
