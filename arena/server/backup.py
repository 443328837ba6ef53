"""Backups: all that an arena needs to continue, copied while it serves, and put back elsewhere.

A backup is a compressed tar. Its first member names the versions, its last one has the SHA-256 of all others.

The files are written at different times, so they are copied in an order that leaves each with what it refers to:

1. The journal's folder is locked, so that no record is removed from now on.
2. The names of the replays are read. A replay is written after the result, so each of them has its result in 3.
3. The snapshot of the store begins. It is the moment of the backup.
4. The lengths of the journal, of the log of commitments and of the secrets of deals are read, in this order; only
   so much of them is copied. A match without a replay has its records, and each commitment its secret.
5. All is copied. An archive of a version is kept before the version is recorded, so it is there.

What bots saw after the moment of the backup is not in it, and packs of that time may be published. So a restore
removes fair deal-sets that were in play from the store, the journal and the deals: they get new packs. Complete
deal-sets stay. Packs that follow from a seed stay the same, and those matches continue.
"""

import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import IO, ClassVar, Final

from arena.replay import durable_files
from arena.replay.bot_notes import notes_folder
from arena.replay.deal_book import DEALS_NAME
from arena.replay.journal.deal_log import DealLog
from arena.replay.journal.selection import keep_matches
from arena.server import data_folder, play_socket
from arena.server.submissions.installed_wheels import INSTALLED
from arena.store import StoreError, upgrade
from arena.store.schema import HEAD
from arena.store.snapshot import forget_unfinished, put_back, snapshot
from arena.validation import OPEN, InvalidInput, read_json

ABOUT: Final = "backup.json"
SUMS: Final = "sha256.json"
STORE: Final = "store"
"""The member that has the store."""
RESTORED: Final = "the arena was restored from a backup"
"""Why the deals that were in play are void."""
_LEFT_OUT: Final = frozenset(
    {
        data_folder.LOCK_NAME,
        data_folder.NOTICE_NAME,
        "store-url",
        "watch.sock",
        play_socket.FOLDER,
        *("bots", "pages", "qualification", "unpacked", "uploads", "workers", INSTALLED),
    }
)
"""What belongs to a running process, or is made again from the rest."""
_STEMS_LEFT_OUT: Final = ("arena.db", "arena.log")

Progress = Callable[[str], None]


class BadBackup(StoreError):
    """A backup cannot be made or restored; the text says why."""


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
    """What a backup or a restore has copied."""

    files: int
    size_bytes: int
    """Without compression."""


@dataclass(frozen=True, slots=True)
class Restored(Copied):
    """What a restore has copied, and what of it could not be read."""

    damage: tuple[str, ...]
    """Sentences about the journal, which was damaged when it was backed up and is restored up to there."""


# Back up.


def back_up(data: Path, file: Path, progress: Progress = lambda _: None) -> Copied:
    """Write a backup of a data folder, while an arena serves or not. Only the owner may read it.

    Raises:
      BadBackup: if the file exists, or a file of the folder cannot be copied.
      StoreError: if the store cannot be read.
      OSError: if the backup cannot be written.
    """
    if file.exists():
        raise BadBackup(f"{file} exists: name another file")
    data_folder.require_format(data)
    partial = file.with_name(f".{file.name}.partial")
    partial.unlink(missing_ok=True)
    dump = file.with_name(f".{file.name}.store")
    dump.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as raw:
            with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=1) as packed:
                copied = _write(data, packed, dump, progress)
            raw.flush()
            os.fsync(raw.fileno())
        partial.rename(file)
        durable_files.sync_folder(file.absolute().parent)
    finally:
        partial.unlink(missing_ok=True)
        dump.unlink(missing_ok=True)
    return copied


def _write(data: Path, packed: gzip.GzipFile, dump: Path, progress: Progress) -> Copied:
    progress("waiting for the journal")
    journal = data / "journal"
    with (
        data_folder.holding_files(data),
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        published = [*_files(data / "replays"), *_files(notes_folder(data / "replays"))]
        with snapshot(data_folder.store_path(data)) as taken:
            growing = _sizes(data, journal)
            now_s = time.time()
            about = About(data_folder.FORMAT, HEAD, data_folder.arena_version(), taken.kind, now_s)
            _add_json(tar, ABOUT, asdict(about))
            taken.write(dump, lambda share: progress(f"the store: {share:.0%}"))
        sums: dict[str, str] = {}
        size_bytes = 0
        todo: list[tuple[Path, int | None]] = [(dump, None), *growing]
        todo += [(each, None) for each in (*_kept_files(data), *published)]
        for number, (path, most) in enumerate(todo, 1):
            name = STORE if path == dump else path.relative_to(data).as_posix()
            digest, size = _add_file(tar, path, name, most)
            if digest:
                sums[name] = digest
                size_bytes += size
            progress(f"{number} of {len(todo)} files, {size_bytes / 1e6:,.0f} MB")
        _add_json(tar, SUMS, sums)
    return Copied(len(sums), size_bytes)


def _files(folder: Path) -> Iterator[Path]:
    """The files and links below a folder, without unfinished ones."""
    for below, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield Path(below, name)


def _kept_files(data: Path) -> Iterator[Path]:
    """The files whose order does not matter."""
    ordered = {"replays", notes_folder(data / "replays").name, "journal", "commitments"}
    for top in sorted(data.iterdir()):
        if top.name in ordered | _LEFT_OUT or top.name.startswith((".", *_STEMS_LEFT_OUT)):
            continue
        if top.is_dir():
            yield from _files(top)
        else:
            yield top


def _sizes(data: Path, journal: Path) -> list[tuple[Path, int | None]]:
    """The files that grow, with the lengths that are copied, in the order of the module's text."""
    others = [each for each in _files(journal) if each.name != DEALS_NAME]
    paths = [*others, data / "commitments", journal / DEALS_NAME]
    return [(each, each.stat().st_size) for each in paths if each.exists()]


class _Hashing:
    """A file that is read once, with its SHA-256."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()

    def read(self, size: int) -> bytes:
        """Read so many bytes."""
        piece = self._file.read(size)
        self.sha256.update(piece)
        return piece


def _add_file(tar: tarfile.TarFile, path: Path, name: str, most: int | None) -> tuple[str, int]:
    """Add a file, or the first `most` bytes of it; returns its hash, which is empty if it is gone, and its size."""
    info = tarfile.TarInfo(name)
    if path.is_symlink():
        info.type, info.linkname = tarfile.SYMTYPE, str(path.readlink())
        tar.addfile(info)
        return hashlib.sha256(info.linkname.encode()).hexdigest(), 0
    if not path.is_file():
        return "", 0  # a socket, or removed since
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return "", 0
    with file:
        status = os.fstat(file.fileno())
        info.size = status.st_size if most is None else most
        info.mode, info.mtime = status.st_mode & 0o755, status.st_mtime
        reading = _Hashing(file)
        tar.addfile(info, reading)  # type: ignore[arg-type]
    return reading.sha256.hexdigest(), info.size


def _add_json(tar: tarfile.TarFile, name: str, values: Mapping[str, object]) -> None:
    text = json.dumps(values, indent=1).encode()
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(text), 0o600
    tar.addfile(info, io.BytesIO(text))


# Restore.


def restore(file: Path, data: Path, url: str = "", progress: Progress = lambda _: None) -> Restored:
    """Make a data folder of a backup; it appears as a whole.

    Args:
      file: The backup.
      data: The folder, which is empty or does not exist.
      url: The address of an empty database, if the backup's store is in PostgreSQL.
      progress: Called with what is done.

    Raises:
      BadBackup: if the file is no backup, is damaged or of a newer arena, or the folder is not empty.
      StoreError: if the store cannot be made.
      Unwritten, OSError: if the folder cannot be written.
    """
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise BadBackup(f"{data} is not empty: name a new folder with --data")
    partial = data.absolute().with_name(f".{data.absolute().name}.restoring")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True, mode=0o700)
    try:
        about, copied = _unpack(file, partial, progress)
        progress("the store")
        store = data_folder.store_path(partial)
        put_back(about.store, partial / STORE, store, url)
        (partial / STORE).unlink(missing_ok=True)
        damage = _forget_deals_in_play(partial, forget_unfinished(store))
        partial.rename(data)
        durable_files.sync_folder(data.absolute().parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Restored(copied.files, copied.size_bytes, damage)


def _unpack(file: Path, folder: Path, progress: Progress) -> tuple[About, Copied]:
    """Unpack a backup, and compare it with its hashes."""
    damaged = BadBackup(f"{file} is damaged or cut off: restore another backup")
    sums: dict[str, str] = {}
    size_bytes, expected = 0, None
    try:
        with gzip.open(file) as packed, tarfile.open(fileobj=packed, mode="r|") as tar:
            about = _about(file, tar)
            while (member := tar.next()) is not None:
                if member.name == SUMS:
                    expected = json.loads(_text(tar, member))
                    continue
                sums[member.name] = _unpack_member(tar, member, folder)
                size_bytes += member.size
                progress(f"{len(sums)} files, {size_bytes / 1e6:,.0f} MB")
            while packed.read(1 << 20):  # the checksum of the compression is at the end
                pass
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error, ValueError) as error:
        raise damaged from error
    if sums != expected:
        raise damaged
    return about, Copied(len(sums), size_bytes)


def _about(file: Path, tar: tarfile.TarFile) -> About:
    member = tar.next()
    if member is None or member.name != ABOUT:
        raise BadBackup(f"{file} is no backup of an arena")
    try:
        about = read_json(About, _text(tar, member))
    except InvalidInput as error:
        raise BadBackup(f"{file} is no backup of an arena: {error}") from error
    if about.cardarena_backup > data_folder.FORMAT or not upgrade.knows(about.store_schema):
        raise BadBackup(
            data_folder.too_new(file, about.cardarena_backup, about.store_schema, about.arena)
        )
    return about


def _text(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    content = tar.extractfile(member)
    if content is None:
        raise tarfile.ReadError(f"{member.name} is no file")
    return content.read()


def _unpack_member(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> str:
    """Write one member below a folder; returns its hash. Names that lead out of it are damage."""
    parts = PurePosixPath(member.name).parts
    if not parts or parts[0] == "/" or ".." in parts:
        raise tarfile.ReadError(f"{member.name} is no name of a file")
    path = folder.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    if member.issym():
        if "/" in member.linkname or member.linkname == "..":
            raise tarfile.ReadError(f"{member.name} leads out of its folder")
        path.symlink_to(member.linkname)
        return hashlib.sha256(member.linkname.encode()).hexdigest()
    content = tar.extractfile(member)
    if content is None:
        raise tarfile.ReadError(f"{member.name} is no file")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    reading = _Hashing(content)
    with os.fdopen(os.open(path, flags, member.mode & 0o755), "wb") as file:
        while piece := reading.read(1 << 20):
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    os.utime(path, (member.mtime, member.mtime))
    return reading.sha256.hexdigest()


def _forget_deals_in_play(data: Path, counting: frozenset[str]) -> tuple[str, ...]:
    """Remove the matches that do not count from the journal, and void the deals of theirs.

    Returns:
      What of the journal is damaged.
    """
    damage = keep_matches(data / "journal", counting)
    with DealLog(data / "journal", public=data / "commitments") as log:
        for deal in log.live:
            if not counting.issuperset(_match_ids(deal.opening.plan)):
                log.voided(deal.context, RESTORED)
    return damage


def _match_ids(plan: str) -> Sequence[str]:
    return [line.partition(" ")[0] for line in plan.splitlines()]
