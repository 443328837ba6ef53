"""The logs of a version, with the output of its processes, for its owner: `DATA/logs/BOT@VERSION/NAME.log`."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from arena.store import Version

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}\.log")


@dataclass(frozen=True, slots=True)
class Log:
    """A log of a version."""

    name: str
    size_bytes: int
    written_unix_s: float


def logs_folder(data: Path, version: Version) -> Path:
    """Return the folder of a version's logs."""
    return data / "logs" / str(version).replace(" ", "_")


def logs_of(data: Path, version: Version) -> list[Log]:
    """Return the logs of a version, by name."""
    logs = []
    for path in logs_folder(data, version).glob("*.log"):
        if _NAME.fullmatch(path.name) and not path.is_symlink():
            status = path.stat()
            logs.append(Log(path.name, status.st_size, status.st_mtime))
    return sorted(logs, key=lambda log: log.name)


def open_log(data: Path, version: Version, name: str) -> BinaryIO | None:
    """Open a log for reading; None if there is none of that name. Paths are no names."""
    if not _NAME.fullmatch(name):
        return None
    path = logs_folder(data, version) / name
    return path.open("rb") if path.is_file() and not path.is_symlink() else None
