"""The folder of an arena: its lock, its id, and the notice that an arena is running there.

The folder's lock tells whether an arena runs; the notice tells the rest. It is
taken away at the end, so one without a lock was left by an arena that was killed.
"""

import contextlib
import errno
import json
import os
import re
import secrets
import stat
import time
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from arena.replay import disk

LOCK_NAME: Final = "lock"
NOTICE_NAME: Final = "server.json"
_PLAYING: Final = "playing"
_ARENA_ID: Final = re.compile(r"[0-9a-f]{32}")
_OWNER_ALONE: Final = 0o600
LOCK_TRIES: Final = 10
LOCK_WAIT_S: Final = 0.02
"""`is_running` holds the lock for an instant; others try again after this time."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What a running arena says of itself."""

    pid: int
    address: str
    """As bots dial it."""
    metrics: str
    """Address of the page of metrics; empty if there is none."""
    started_unix_s: float
    version: str
    jail: str = ""
    """How high the wall around bots is that it launches, as `arena.jail.Level`; empty if it
    launches none."""


def store_path(data: Path) -> Path:
    """The file of matches, tournaments and keys in a folder of data."""
    return data / "arena.db"


def watch_socket(data: Path) -> Path:
    """The socket file by which `arena web` follows what is played in a folder of data."""
    return data / "watch.sock"


def playing_folder(data: Path, number: int) -> Path:
    """The folder of a process that plays for the arena of a folder of data: journal, deals and log are its own."""
    return data / _PLAYING / str(number)


def playing_folders(data: Path) -> list[Path]:
    """The folders of all processes that ever played for an arena, by number."""
    found = [each for each in (data / _PLAYING).glob("*") if each.name.isdecimal()]
    return sorted(found, key=lambda folder: int(folder.name))


def playing_bots(data: Path, folder: Path) -> Path:
    """Where the bots of a process with this `playing_folder` have their folders and logs."""
    return data / "bots" / f"process-{folder.name}"


def arena_version() -> str:
    """The version of the installed arena; empty if it is not installed."""
    try:
        return version("cardarena-engine")
    except PackageNotFoundError:
        return ""


def write_notice(data: Path, notice: Notice) -> None:
    """Write the notice, all of it at once."""
    partial = data / f".{NOTICE_NAME}.partial"
    partial.write_text(json.dumps(asdict(notice), indent=1) + "\n", "utf-8")
    partial.replace(data / NOTICE_NAME)


def remove_notice(data: Path) -> None:
    """Take the notice away, if there is one."""
    with contextlib.suppress(OSError):
        (data / NOTICE_NAME).unlink(missing_ok=True)


def read_notice(data: Path) -> Notice | None:
    """The notice in a folder; None if there is none that can be read."""
    try:
        found = json.loads((data / NOTICE_NAME).read_text("utf-8"))
        return Notice(
            int(found["pid"]),
            str(found["address"]),
            str(found["metrics"]),
            float(found["started_unix_s"]),
            str(found["version"]),
            str(found.get("jail", "")),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def open_lock(data: Path) -> int:
    """Open the file of a folder's lock, and make it if there is none; nobody else may open it.

    Whoever can open a file can take its lock, also one who may only read it.

    Raises:
      OSError: if it is a link or no file, belongs to somebody else, or cannot be written.
    """
    path = data / LOCK_NAME
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, _OWNER_ALONE)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(error.errno, f"{path} is a link") from error
        raise
    try:
        found = os.fstat(lock)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise OSError(errno.EINVAL, f"{path} is not a file of its own")
        if found.st_uid != os.geteuid():
            raise OSError(errno.EPERM, f"{path} belongs to another user")
        os.fchmod(lock, _OWNER_ALONE)
    except BaseException:
        os.close(lock)
        raise
    return lock


def take_lock(lock: int) -> bool:
    """Take a folder's lock, by its open file; false if another arena has it."""
    for tries_left in reversed(range(LOCK_TRIES)):
        with contextlib.suppress(OSError):
            if disk.lock(lock):
                return True
        if tries_left:
            time.sleep(LOCK_WAIT_S)
    return False


class FolderWatch:
    """Sees whether a data folder is still the one that the arena began with.

    One that was removed, or removed and made again, is not: what is open goes on
    without a name, and all that is written to it is lost.
    """

    def __init__(self, data: Path, store: Path, replays: Path) -> None:
        """Remember the folder's parts as they are, and where its store and its replays are kept."""
        folders = (data / "journal", replays)
        files = (data / LOCK_NAME, store)
        self._open: list[int] = []
        for path in folders:
            # Kept open, no folder made later is mistaken for it. Some systems do not open them.
            with contextlib.suppress(PermissionError):
                self._open.append(os.open(path, os.O_RDONLY))
        # The files are open elsewhere; to close them here would let go of the locks on them.
        self._parts = {path: path.stat() for path in (*folders, *files)}

    def is_whole(self) -> bool:
        """Whether all parts are still there."""
        try:
            return all(os.path.samestat(path.stat(), was) for path, was in self._parts.items())
        except OSError:
            return False

    def close(self) -> None:
        """Let go of the folders."""
        for folder in self._open:
            os.close(folder)
        self._open.clear()


def is_running(data: Path) -> bool:
    """Whether an arena runs in a folder.

    Raises:
      OSError: if that cannot be found out, but for a folder in which none ever ran.
    """
    try:
        lock = os.open(data / LOCK_NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return False
    try:
        return disk.is_locked(lock)
    finally:
        os.close(lock)


def arena_id(data: Path) -> str:
    """The id of the arena with this folder of data: drawn at first, then always the same.

    Raises:
      OSError: if it cannot be read or written.
      ValueError: if the file holds something else.
    """
    path = data / "arena-id"
    with contextlib.suppress(FileNotFoundError):
        found = path.read_text("ascii").strip()
        if not _ARENA_ID.fullmatch(found):
            raise ValueError(f"{path} does not hold the id of an arena")
        return found
    drawn = secrets.token_hex(16)
    disk.write_whole(path, (f"{drawn}\n".encode(),), path.with_name(".arena-id.partial"))
    return drawn
