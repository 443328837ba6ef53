"""The order of the arena to the spawner to start a bot: its command, visible files and limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Final

SOCKET: Final = "/run/arena/play.sock"
"""The path of the arena's socket in a sandbox with a separate file system (S2, S3)."""
SCRATCH: Final = "/tmp"  # noqa: S108 - a file system of the sandbox alone
"""The one writable folder of such a sandbox; it is in memory, and deleted when the bot ends."""
SYSTEM: Final = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin")
"""The folders of system programs and libraries, which every bot may read."""

MB: Final = 1 << 20
TRIAL_S: Final = 10.0
"""The time limit for the trial of one level, in seconds."""


class Level(StrEnum):
    """The sandbox levels; a higher number confines a bot more."""

    S3 = "S3"
    """S2, and a control group that limits all processes of the bot together."""
    S2 = "S2"
    """Namespaces by bubblewrap, a seccomp filter, limits, a user that is not root."""
    S1 = "S1"
    """Landlock, a seccomp filter, limits."""
    S0 = "S0"
    """No sandbox."""


ADDRESSES: Final = 4
"""The address space of a process, as a multiple of its memory limit.

Java and JavaScript reserve much more than they use. This also limits shared memory, which the memory limit does not
count.
"""


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """The resource limits of a bot."""

    memory_bytes: int = 8192 * MB
    """The private memory of each process, and the memory of all its processes together (`memory_watch`, `control_group`)."""
    processes: int = 64
    """The number of processes and threads of the bot together."""
    files: int = 256
    """The number of open files of each process."""
    file_bytes: int = 16 * MB
    """The size of each file that it writes."""
    cpu_s: int = 86_400
    """The processor time of each process, in seconds."""
    scratch_bytes: int = 64 * MB
    """The size of all files in `SCRATCH` together; shared memory has a separate limit of the same size."""

    def within(self, most: "ResourceLimits") -> "ResourceLimits":
        """Lower each limit to that of `most`."""
        names = [limit.name for limit in fields(self)]
        return ResourceLimits(*(min(getattr(self, name), getattr(most, name)) for name in names))


@dataclass(frozen=True, slots=True)
class SpawnOrder:
    """The order to start one bot. It is sent as the JSON of `dataclasses.asdict`."""

    argv: tuple[str, ...]
    """The path of the program, and its arguments."""
    environment: Mapping[str, str]
    visible: tuple[str, ...]
    """Paths of files and folders that the bot may read, besides `SYSTEM`."""
    socket: str = ""
    """The path of the arena's play socket; empty for none."""
    folder: str = ""
    """The folder of this process of the bot. At S1 it takes the place of `SCRATCH`."""
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    writable: str = ""
    """A further writable folder, whose files are kept; empty for none."""
    in_memory: bool = False
    """Whether the bot reads only copies in memory, including the part of `SYSTEM` that it needs (S2, S3)."""
    fresh: tuple[str, ...] = ()
    """The visible paths that may change while the arena runs. Others are copied once."""
    omitted: tuple[str, ...] = ()
    """Folders in visible ones that are not copied into memory."""
    directory: str = ""
    """The working directory, a visible path; empty for the writable folder."""


def order_of(values: Mapping[str, Any]) -> SpawnOrder:
    """Read an order from JSON. Raises `ValueError` if a field is missing or unknown."""
    try:
        limits = ResourceLimits(**values["limits"])
        given = {**values, "limits": limits}
        given |= {name: tuple(values[name]) for name in ("argv", "visible", "fresh", "omitted")}
        return SpawnOrder(**given)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a spawn order: {error!r}") from error
