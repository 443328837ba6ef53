"""What is asked of the jailer: what runs in a cell, what it sees, and how much it may use."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Final

SOCKET: Final = "/run/arena/play.sock"
"""Where a cell with a file system of its own has the socket of the arena."""
SCRATCH: Final = "/tmp"  # noqa: S108 - of the cell, which is nobody else's
"""The one folder that such a cell may write in; it is in memory, and gone with the bot."""

MB: Final = 1 << 20
TRIAL_S: Final = 10.0
"""Longest that a trial of one level may take."""


class Level(StrEnum):
    """How high the wall around a bot is."""

    S3 = "S3"
    """As S2, and a control group bounds what all its processes use together."""
    S2 = "S2"
    """Namespaces by bubblewrap, a seccomp filter, limits, a user that is not root."""
    S1 = "S1"
    """Landlock, a seccomp filter, limits."""
    S0 = "S0"
    """None."""


ADDRESSES: Final = 4
"""A process has so many addresses for each byte of memory: Java and JavaScript reserve many more
than they use. It bounds what the other limit does not count, which is memory that is shared."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a bot may use. What counts for each process counts for each of its own."""

    memory_bytes: int = 8192 * MB
    """Memory of its own of each process; in a control group also of all of them together."""
    processes: int = 64
    """Together with threads."""
    files: int = 256
    """Open at a time, in each process."""
    file_bytes: int = 16 * MB
    """Of each file that it writes."""
    cpu_s: int = 86_400
    """Processor time of each process."""
    scratch_bytes: int = 64 * MB
    """Of `SCRATCH`, all files together; as many again of shared memory."""

    def within(self, most: "Limits") -> "Limits":
        """These, but none above those of `most`."""
        return Limits(
            *(min(getattr(self, each.name), getattr(most, each.name)) for each in fields(Limits))
        )


@dataclass(frozen=True, slots=True)
class Cell:
    """One bot to start."""

    argv: tuple[str, ...]
    """The program by its path, and arguments."""
    environment: Mapping[str, str]
    visible: tuple[str, ...]
    """Paths of files and folders that it may read, beside the system's programs."""
    socket: str = ""
    """The arena's socket for bots; none if empty."""
    folder: str = ""
    """Of this instance; where there are no namespaces it is what `SCRATCH` is elsewhere."""
    limits: Limits = field(default_factory=Limits)
    writable: str = ""
    """A folder beside that, which it may write in; what lies there stays."""


def cell_of(told: Mapping[str, Any]) -> Cell:
    """A cell, from the JSON that `cell_as_json` makes.

    Raises:
      ValueError: if it is none.
    """
    try:
        limits = {each.name: int(told["limits"][each.name]) for each in fields(Limits)}
        return Cell(
            tuple(map(str, told["argv"])),
            {str(name): str(value) for name, value in told["environment"].items()},
            tuple(map(str, told["visible"])),
            str(told["socket"]),
            str(told["folder"]),
            Limits(**limits),
            str(told["writable"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no cell: {error!r}") from error


def cell_as_json(cell: Cell) -> dict[str, Any]:
    """A cell as values that JSON can hold."""
    return {
        "argv": list(cell.argv),
        "environment": dict(cell.environment),
        "visible": list(cell.visible),
        "socket": cell.socket,
        "folder": cell.folder,
        "limits": {each.name: getattr(cell.limits, each.name) for each in fields(Limits)},
        "writable": cell.writable,
    }
