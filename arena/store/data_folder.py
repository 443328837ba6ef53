"""The data folder of an arena: its lock, its id, and the notice of a running arena.

The lock of the folder is held while an arena runs; the notice describes that arena and is removed when it ends. A
notice without a lock was left by an arena that was killed.
"""

import contextlib
import errno
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import ClassVar, Final

from arena import durable_files
from arena.store.errors import StoreError
from arena.store.schema import HEAD
from arena.validation import OPEN, InvalidInput, read_json

MOST_SOCKET_BYTES: Final = 100
"""The longest path of a socket file that all systems accept, in bytes."""
LOCK_NAME: Final = "lock"
LIVE_FOLDER: Final = "live"
"""The folder of the socket alone, so that a container of pages can mount it without the data folder."""
ID_NAME: Final = "arena-id"
"""The file with the id of the arena. It also has a second lock, because the file of the first lock may be deleted."""
NOTICE_NAME: Final = "server.json"
BACKUP_NOTE: Final = "last-backup"
_ARENA_ID: Final = re.compile(r"[0-9a-f]{32}")
_OWNER_ALONE: Final = 0o600
LOCK_TRIES: Final = 10
FORMAT: Final = 1
"""The format of the folder. Raise it if an older arena could not read the files that this one writes beside the store."""
FORMAT_NAME: Final = "format.json"
FILES_LOCK_S: Final = 60.0
"""The longest time in seconds to wait for a program that copies or removes files."""
LOCK_WAIT_S: Final = 0.02
"""The time in seconds after which a lock is tried again, because `is_running` holds it for an instant."""


@dataclass(frozen=True, slots=True)
class RunningNotice:
    """The addresses of a running arena, in a file of its data folder."""

    __pydantic_config__: ClassVar = OPEN

    pid: int
    address: str
    """The address that bots connect to."""
    metrics: str
    """The address of the metrics; empty if none are served."""
    started_unix_s: float
    version: str
    sandbox: str = ""
    """The sandbox of bots that the arena launches, as `arena.sandbox.spawner.order.Level`; empty if it launches none."""


def store_path(data: Path) -> Path:
    """Return the file of matches, tournaments and keys in a folder of data."""
    return data / "arena.db"


def watch_socket(data: Path) -> Path:
    """Return the socket file by which `arena web` and local workers connect to the arena of a folder.

    In a deep folder it is named by a descriptor of the folder, which stays open: paths of sockets are short.
    """
    path = data / LIVE_FOLDER / "watch.sock"
    if len(os.fsencode(path.absolute())) > MOST_SOCKET_BYTES:
        folder = os.open(data, os.O_RDONLY | os.O_DIRECTORY)
        path = Path(f"/proc/self/fd/{folder}/{LIVE_FOLDER}/{path.name}")
    return path


def worker_folders(data: Path) -> Path:
    """Return the folder in which each local worker has a folder while it runs."""
    return data / "workers"


def bots_of_worker(data: Path, number: int) -> Path:
    """Return the folder of the bots of a local worker, with their folders and logs; number 0 is the arena itself."""
    return data / "bots" / f"worker-{number}" if number else data / "bots"


def arena_version() -> str:
    """Return the version of the installed arena; empty if it is not installed."""
    try:
        return version("cardarena-engine")
    except PackageNotFoundError:
        return ""


@dataclass(frozen=True, slots=True)
class FolderFormat:
    """The format of a folder, in a file of it."""

    __pydantic_config__: ClassVar = OPEN

    format: int
    arena: str
    """The version of the arena that wrote it first."""


class TooNew(StoreError):
    """A folder or a backup was written by a newer arena; the text names both and the cure."""


def too_new(path: Path, found: int, schema: str, arena: str) -> str:
    """Return the error about something that a newer arena has written."""
    ours = f"this is arena {arena_version()} for format {FORMAT} and schema {HEAD}"
    return (
        f"{path} has format {found}, schema {schema or HEAD}, of arena {arena or 'unknown'}; {ours}: run arena "
        f"{arena or 'of that version'} or a newer one, or restore a backup from before the upgrade"
    )


def require_format(data: Path) -> None:
    """Require a folder that this arena can read; a folder without a format is of format 1.

    Raises `TooNew` if a newer arena has written it, and `OSError` if its format cannot be read.
    """
    path = data / FORMAT_NAME
    try:
        known = read_json(FolderFormat, path.read_bytes())
    except FileNotFoundError:
        return
    except InvalidInput as error:
        raise TooNew(f"{path} does not tell the format of the folder: {error}") from error
    if known.format > FORMAT:
        raise TooNew(too_new(data, known.format, "", known.arena))


def write_format(data: Path) -> None:
    """Write the present format, unless the folder has it."""
    require_format(data)
    path = data / FORMAT_NAME
    if path.exists() and read_json(FolderFormat, path.read_bytes()).format == FORMAT:
        return
    text = json.dumps(asdict(FolderFormat(FORMAT, arena_version()))) + "\n"
    partial = path.with_name(f".{path.name}.partial")
    durable_files.write_whole(path, (text.encode(),), partial, 0o600)


@contextlib.contextmanager
def holding_files(data: Path) -> Iterator[None]:
    """Hold the lock under which files of a folder are copied or removed; a running arena takes it too.

    Raises `StoreError` if no arena has run with the folder, or another program holds it for long.
    """
    folder = data / "journal"
    if not folder.is_dir():
        raise StoreError(f"there is no {folder}: no arena has run with this folder yet")
    until_s = time.monotonic() + FILES_LOCK_S
    while True:
        with durable_files.folder_locked(folder) as held:
            if held:
                yield
                return
        if time.monotonic() > until_s:
            raise StoreError(f"a backup or `arena prune` runs in {data}: try again when it ends")
        time.sleep(LOCK_WAIT_S)


def write_notice(data: Path, notice: RunningNotice) -> None:
    """Write the notice atomically."""
    partial = data / f".{NOTICE_NAME}.partial"
    partial.write_text(json.dumps(asdict(notice), indent=1) + "\n", "utf-8")
    partial.replace(data / NOTICE_NAME)


def remove_notice(data: Path) -> None:
    """Remove the notice, if there is one."""
    with contextlib.suppress(OSError):
        (data / NOTICE_NAME).unlink(missing_ok=True)


def note_backup(data: Path, unix_s: float) -> None:
    """Note when the newest backup of a folder was begun, as the time of a file. If the disk is full, the previous note stays."""
    path = data / BACKUP_NOTE
    with contextlib.suppress(OSError):
        path.touch(_OWNER_ALONE)
        os.utime(path, (unix_s, unix_s))


def last_backup_unix_s(data: Path) -> float:
    """Return when the newest backup of a folder was begun, in seconds since 1970; 0 without a backup."""
    try:
        return (data / BACKUP_NOTE).stat().st_mtime
    except OSError:
        return 0.0


def read_notice(data: Path) -> RunningNotice | None:
    """Return the notice in a folder; None if there is none that can be read."""
    try:
        return read_json(RunningNotice, (data / NOTICE_NAME).read_bytes())
    except (OSError, InvalidInput):
        return None


def open_lock(data: Path) -> int:
    """Open the file of a folder's lock, and make it if there is none. Only its user may open it.

    A user who can open a file can take its lock, also one who may only read it.

    Raises `OSError` if it is a link or no file, belongs to somebody else, or cannot be written.
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


def open_second_lock(data: Path) -> int:
    """Open the file of the arena's id, which an arena locks too. Only its user may open it.

    Raises `OSError` if there is none yet, or it belongs to another user.
    """
    durable_files.keep_private(data / ID_NAME)
    return os.open(data / ID_NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)


def take_lock(lock: int) -> bool:
    """Take a folder's lock, by its open file; return false if another arena has it."""
    for tries_left in reversed(range(LOCK_TRIES)):
        with contextlib.suppress(OSError):
            if durable_files.lock(lock):
                return True
        if tries_left:
            time.sleep(LOCK_WAIT_S)
    return False


class FolderMonitor:
    """Detects that a data folder was removed or replaced while the arena runs.

    Open files of a removed folder lose their names, and all that is written to them is lost.
    """

    def __init__(self, data: Path, store: Path, replays: Path) -> None:
        """Remember the parts of the folder, its store and its replays as they are now."""
        folders = (data / "journal", replays)
        files = (data / LOCK_NAME, store)
        self._open: list[int] = []
        for path in folders:
            # The folder is held open, so that no later folder gets the same inode. Some systems do not allow this.
            with contextlib.suppress(PermissionError):
                self._open.append(os.open(path, os.O_RDONLY))
        # Other modules have the files open; closing them here would release their locks.
        self._parts = {path: path.stat() for path in (*folders, *files)}

    def is_whole(self) -> bool:
        try:
            return all(os.path.samestat(path.stat(), was) for path, was in self._parts.items())
        except OSError:
            return False

    def close(self) -> None:
        for folder in self._open:
            os.close(folder)
        self._open.clear()


def is_running(data: Path) -> bool:
    """Return whether an arena runs in a folder.

    Raises `OSError` if a lock cannot be read; a folder without locks has no arena.
    """
    for name in (LOCK_NAME, ID_NAME):
        try:
            lock = os.open(data / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            continue
        try:
            if durable_files.is_locked(lock):
                return True
        finally:
            os.close(lock)
    return False


def arena_id(data: Path) -> str:
    """Return the id of the arena with this data folder: drawn at the first start, then always the same.

    Raises `OSError` if it cannot be read or written, and `ValueError` if the file holds something else.
    """
    path = data / ID_NAME
    with contextlib.suppress(FileNotFoundError):
        text = path.read_text("ascii").strip()
        if not _ARENA_ID.fullmatch(text):
            raise ValueError(f"{path} does not hold the id of an arena")
        return text
    drawn = secrets.token_hex(16)
    partial = path.with_name(f".{ID_NAME}.partial")
    durable_files.write_whole(path, (f"{drawn}\n".encode(),), partial, _OWNER_ALONE)
    return drawn
