"""Reads the archive of a backup, which is not trusted.

A backup comes from a disk that may fail, or from another person. Its hashes show damage and no forgery: the writer of an
archive writes its hashes, too. So each member is checked before any of it is written. It is a file or a link, its path
has plain names only, no earlier member is in its way, and it belongs to no running arena.

`tarfile.data_filter` is not used. Python 3.11 has it from 3.11.4 on only, it takes the slash off an absolute path
where a backup is to be refused, and it follows links of the archive.
"""

import contextlib
import functools
import gzip
import hashlib
import json
import os
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar, Final

from arena.bots.bot_python import BOT_PYTHON
from arena.bots.installed_wheels import INSTALLED
from arena.live import play_socket
from arena.records.journal.disk_budget import DiskBudget
from arena.store import StoreError, data_folder, upgrade
from arena.store.database import URL_FILE
from arena.store.snapshot import POSTGRESQL, SQLITE
from arena.validation import OPEN, InvalidInput, read_json

ABOUT: Final = "backup.json"
SUMS: Final = "sha256.json"
STORE: Final = "store"
"""The member that has the store."""
LEFT_OUT: Final = frozenset(
    {
        data_folder.LOCK_NAME,
        data_folder.NOTICE_NAME,
        data_folder.BACKUP_NOTE,
        URL_FILE,
        data_folder.LIVE_FOLDER,
        play_socket.FOLDER,
        *("bots", "pages", "qualification", "unpacked", "uploads", "workers"),
        *(INSTALLED, BOT_PYTHON),
    }
)
"""Names that belong to a running process or to this machine, or can be made again."""
STEMS_LEFT_OUT: Final = (".", "arena.db", "arena.log")
_SKIPPED: Final = frozenset({BOT_PYTHON})
"""Names in archives of some arenas that can be made again."""
_MODES: Final = 0o755
_MAX_NAME_BYTES: Final = 255
_MAX_PATH_BYTES: Final = 2_048
_MAX_MTIME_S: Final = 2**40
_MAX_HEADER_BYTES: Final = 1 << 20
"""The size limit of a header with its long names, because it is read into memory."""
_MAX_ABOUT_BYTES: Final = 64 << 10
_PIECE_BYTES: Final = 1 << 20

Progress = Callable[[str], None]


class BadBackup(StoreError):
    """A backup cannot be made or restored; the text says why."""


class Unrestorable(Exception):
    """The content of a backup cannot be restored. The text ends a sentence that begins with the backup's name."""


_DAMAGED: Final = "is damaged or cut off"


@dataclass(frozen=True, slots=True)
class About:
    """The first member of a backup."""

    __pydantic_config__: ClassVar = OPEN

    cardarena_backup: int
    """The format of the data folder, and of the backup."""
    store_schema: str
    arena: str
    """The version that made it."""
    store: str
    """`snapshot.SQLITE` or `snapshot.POSTGRESQL`."""
    made_unix_s: float


@dataclass(frozen=True, slots=True)
class Copied:
    """The files that a backup or a restore has copied."""

    files: int
    size_bytes: int
    """Without compression."""


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name a file in errors of the system that name none."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


class Hashing:
    """A file that is read once, with its SHA-256."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        """Read an open file; errors name it by `path`."""
        self._file, self._path = file, path
        self.sha256 = hashlib.sha256()

    def read(self, size: int) -> bytes:
        with naming(self._path):
            piece = self._file.read(size)
        self.sha256.update(piece)
        return piece


def read_archive(file: Path, folder: Path | None, progress: Progress) -> tuple[About, Copied]:
    """Read a backup and compare it with its hashes.

    Args:
      folder: The folder for its members, which is empty and only for this user. None writes
        nothing.

    Raises:
      Unrestorable: if it is damaged, or has what no arena writes.
      BadBackup: if it is no backup or of a newer arena, or the disk has no room.
      OSError: if it cannot be read, or the folder cannot be written.
    """
    members = _Members(folder, file)
    begun = False
    try:
        with naming(file), gzip.open(file) as packed:
            begun = bool(packed.peek(1))
            bounded = _Bounded(packed)
            with tarfile.open(fileobj=bounded, mode="r|") as tar:  # type: ignore[call-overload]
                about = _about(file, tar)
                while True:
                    bounded.left = _MAX_HEADER_BYTES
                    if (member := tar.next()) is None:
                        raise Unrestorable(_DAMAGED)
                    tar.members.clear()  # otherwise it keeps all of them
                    if member.size < 0:  # some versions of Python refuse it themselves
                        raise Unrestorable(_DAMAGED)
                    bounded.left += member.size
                    if member.name == SUMS:
                        members.compare(tar, member)
                        break
                    members.take(tar, member)
                    progress(f"{len(members.sums)} files, {members.size_bytes / 1e6:,.0f} MB")
                if tar.next() is not None:
                    raise Unrestorable(_DAMAGED)
            # The padding of the last record, and the checksum of all bytes.
            if len(packed.read(2 * tarfile.RECORDSIZE)) > tarfile.RECORDSIZE:
                raise Unrestorable(_DAMAGED)
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error, ValueError) as error:
        if not begun:
            raise BadBackup(f"{file} is no backup of an arena") from error
        raise Unrestorable(_DAMAGED) from error
    return about, Copied(len(members.sums), members.size_bytes)


class _Bounded:
    """The unpacked bytes of a backup, of which no more than `left` are read."""

    def __init__(self, packed: gzip.GzipFile) -> None:
        self._packed = packed
        self.left = _MAX_HEADER_BYTES

    def read(self, size: int) -> bytes:
        piece = self._packed.read(size)
        self.left -= len(piece)
        if self.left < 0:
            raise Unrestorable("has a header that is longer than any name")
        return piece


class _Members:
    def __init__(self, folder: Path | None, file: Path) -> None:
        self._folder, self._file = folder, file
        self._folders: set[str] = set()
        self.sums: dict[str, str] = {}
        self.size_bytes = 0

    def compare(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        most_bytes = 2 * len(json.dumps(self.sums, indent=1))
        if json.loads(_text(tar, member, most_bytes)) != self.sums:
            raise Unrestorable(_DAMAGED)
        if STORE not in self.sums:
            raise Unrestorable("has no store")

    def take(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        if problem := self._problem(member):
            raise Unrestorable(f"has {member.name!a}, {problem}")
        parts = member.name.split("/")
        folder = None if parts[0] in _SKIPPED else self._folder
        self.sums[member.name] = _copy(tar, member, folder, self._file)
        self.size_bytes += member.size
        self._folders.update("/".join(parts[:end]) for end in range(1, len(parts)))

    def _problem(self, member: tarfile.TarInfo) -> str:
        """Return why a member is refused, as part of a sentence; empty if it is not."""
        name, parts = member.name, member.name.split("/")
        if any(not part or part.startswith(".") for part in parts) or "\0" in name:
            return "which is no path below a data folder"
        lengths = [len(os.fsencode(part)) for part in parts]
        if max(lengths) > _MAX_NAME_BYTES or sum(lengths) + len(lengths) > _MAX_PATH_BYTES:
            return "whose path is too long"
        parents = ("/".join(parts[:end]) for end in range(1, len(parts)))
        if (
            name in self.sums
            or name in self._folders
            or any(parent in self.sums for parent in parents)
        ):
            return "whose place is taken by an earlier file or link"
        is_skipped = parts[0] in _SKIPPED
        if member.issym() and name != STORE:
            problem = "" if is_skipped else _problem_of_link(member.linkname)
        elif member.isreg() and not member.issparse():
            problem = _problem_of_numbers(member)
        else:
            problem = "which is neither a plain file nor a link"
        return problem or ("" if is_skipped else _problem_of_place(parts[0]))


def is_plain_target(target: str) -> bool:
    """Return whether a link with this target stays in its folder."""
    return not ("/" in target or "\0" in target or target in ("", ".", ".."))


def _problem_of_link(target: str) -> str:
    if is_plain_target(target):
        return ""
    return f"a link to {target!a}, which leads out of its folder"


def _problem_of_place(top: str) -> str:
    """Return why nothing is restored below this name of a data folder; empty if it is."""
    folded = top.casefold()  # some file systems ignore case
    if folded == URL_FILE:
        return "the address of a database, where --store alone names the database"
    if folded in LEFT_OUT or folded.startswith(STEMS_LEFT_OUT):
        return "which belongs to a running arena or is made again"
    return ""


def _problem_of_numbers(member: tarfile.TarInfo) -> str:
    if member.mode & ~_MODES:
        return f"with the permissions {member.mode:o}"
    if not abs(member.mtime) < _MAX_MTIME_S:  # not a number is not less
        return "with an impossible time"
    return ""


def _copy(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path | None, file: Path) -> str:
    """Write a checked member of the backup `file` below a folder, if there is one; return its hash."""
    path = None if folder is None else folder / member.name
    if folder is not None and path is not None:
        _require_room(folder.parent, path.name, member.size)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    if member.issym():
        if path is not None:
            path.symlink_to(member.linkname)
        return hashlib.sha256(os.fsencode(member.linkname)).hexdigest()
    content = tar.extractfile(member)
    assert content is not None, "it is a file"
    reading = Hashing(content, file)
    if path is None:
        while reading.read(_PIECE_BYTES):
            pass
        return reading.sha256.hexdigest()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with naming(path), os.fdopen(os.open(path, flags, member.mode), "wb") as written:
        while piece := reading.read(_PIECE_BYTES):
            written.write(piece)
        written.flush()
        os.fsync(written.fileno())
    os.utime(path, (member.mtime, member.mtime))
    return reading.sha256.hexdigest()


def _require_room(folder: Path, name: str, size_bytes: int) -> None:
    """Require that the disk keeps a part for the arena's last records: an archive may unpack to anything."""
    disk = functools.partial(shutil.disk_usage, folder)
    if not DiskBudget(disk).allows(size_bytes):
        raise BadBackup(
            f"the disk of {folder} has no room for the backup's {name} of {size_bytes / 1e6:,.1f} MB: "
            "make room, or name a folder on another disk with --data"
        )


def _about(file: Path, tar: tarfile.TarFile) -> About:
    member = tar.next()
    if member is None or member.name != ABOUT:
        raise BadBackup(f"{file} is no backup of an arena")
    try:
        about = read_json(About, _text(tar, member, _MAX_ABOUT_BYTES))
    except InvalidInput as error:
        raise BadBackup(f"{file} is no backup of an arena: {error}") from error
    if about.cardarena_backup > data_folder.FORMAT or not upgrade.knows(about.store_schema):
        raise BadBackup(
            data_folder.too_new(file, about.cardarena_backup, about.store_schema, about.arena)
        )
    if about.store not in (SQLITE, POSTGRESQL):
        raise BadBackup(f"{file} is no backup of an arena: it has a store in {about.store!a}")
    return about


def _text(tar: tarfile.TarFile, member: tarfile.TarInfo, most_bytes: int) -> bytes:
    content = tar.extractfile(member) if member.isreg() and not member.issparse() else None
    if content is None or member.size > most_bytes:
        raise Unrestorable(_DAMAGED)
    return content.read()


def as_member(values: Mapping[str, object]) -> bytes:
    """Return the content of a member that has JSON."""
    return json.dumps(values, indent=1).encode()
