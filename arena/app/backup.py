"""Backups: copies of all files that an arena needs to continue, which are made while it serves and restored.

A backup is a compressed tar. Its first member names the versions, its last one has the SHA-256 of all others.

The files are written at different times, so they are copied in an order that leaves each with what it refers to:

1. The journal's folder is locked, so that no record is removed from now on.
2. The names of the replays are read. A replay is written after the result, so each of them has its result in 3.
3. The snapshot of the store begins. It is the moment of the backup.
4. The lengths of the journal, of the log of commitments and of the secrets of deals are read, in this order; only
   so much of them is copied. A match without a replay has its records, and each commitment its secret.
5. All is copied. An archive of a version is kept before the version is recorded, so it is there.

Cards that bots saw after the moment of the backup are not in it, and packs of that time may be published. So a restore
removes fair deal-sets that were in play from the store, the journal and the deals: they get new packs. Complete
deal-sets stay. Packs that follow from a seed stay the same, and those matches continue.
"""

import gzip
import hashlib
import io
import os
import shutil
import tarfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from arena import durable_files
from arena.app.backup_archive import (
    ABOUT,
    LEFT_OUT,
    STEMS_LEFT_OUT,
    STORE,
    SUMS,
    About,
    BadBackup,
    Copied,
    Hashing,
    Progress,
    Unrestorable,
    as_member,
    is_plain_target,
    naming,
    read_archive,
)
from arena.records.bot_notes import notes_folder
from arena.records.deal_book import DEALS_NAME
from arena.records.journal.compaction import keep_matches
from arena.records.journal.deal_log import DealLog
from arena.store import data_folder
from arena.store.schema import HEAD
from arena.store.snapshot import forget_unfinished, put_back, snapshot

_NAME: Final = "arena-%Y%m%dT%H%M%SZ.backup"
_NAMES: Final = f"arena-{'[0-9]' * 8}T{'[0-9]' * 6}Z.backup"
RESTORED: Final = "the arena was restored from a backup"
"""The reason why the deals that were in play are void."""


@dataclass(frozen=True, slots=True)
class Restored(Copied):
    """The files that a restore has copied, and damage in them."""

    damage: tuple[str, ...]
    """Sentences about the journal, which was damaged when it was backed up and is restored up to there."""


# Back up.


def back_up(data: Path, file: Path, progress: Progress = lambda _: None) -> Copied:
    """Write a backup of a data folder, while an arena serves or not. Only the owner may read it.

    Before it gets its name, it is read back from the disk and checked like a restore.

    Raises:
      BadBackup: if the file exists, a file of the folder cannot be copied, or the backup reads back differently.
      StoreError: if the store cannot be read.
      OSError: if the backup cannot be written.
    """
    if file.exists():
        raise BadBackup(f"{file} exists: name another file")
    data_folder.require_format(data)
    if not file.absolute().parent.is_dir():
        raise BadBackup(f"{file} cannot be written: there is no folder {file.parent}")
    begun_unix_s = time.time()
    partial = file.with_name(f".{file.name}.partial")
    partial.unlink(missing_ok=True)
    dump = file.with_name(f".{file.name}.store")
    dump.unlink(missing_ok=True)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with naming(file), os.fdopen(os.open(partial, flags, 0o600), "wb") as raw:
            with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=1) as packed:
                copied = _write(data, packed, dump, progress)
            raw.flush()
            os.fsync(raw.fileno())
            # It is read from the disk, not from memory.
            os.posix_fadvise(raw.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        _require_restorable(partial, copied, progress)
        partial.rename(file)
        durable_files.sync(file.absolute().parent)
        data_folder.note_backup(data, begun_unix_s)
    finally:
        partial.unlink(missing_ok=True)
        dump.unlink(missing_ok=True)
    return copied


def name_in(folder: Path, unix_s: float) -> Path:
    """Return the file of a backup of this moment in a folder of backups; names are in the order of time."""
    return folder / time.strftime(_NAME, time.gmtime(unix_s))


def remove_older(folder: Path, keep: int) -> None:
    """Remove all but the newest `keep` backups that `name_in` has named; other files stay."""
    for path in sorted(folder.glob(_NAMES))[:-keep]:
        path.unlink()


def _require_restorable(partial: Path, copied: Copied, progress: Progress) -> None:
    """Require that `restore` would accept a backup that was just written."""
    try:
        _, restorable = read_archive(
            partial, None, lambda done: progress(f"reading it back: {done}")
        )
    except Unrestorable as error:
        raise BadBackup(
            f"the backup was read back and removed: it {error}. If the disk failed, name a file on another one"
        ) from error
    if restorable != copied:
        raise BadBackup(
            f"the backup was read back and removed: it has {restorable.files} files instead of {copied.files}"
        )


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
        todo += [(path, None) for path in (*_kept_files(data), *published)]
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
    for below, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        links = [name for name in folders if Path(below, name).is_symlink()]
        for name in sorted([*names, *links]):
            if not name.startswith("."):
                yield Path(below, name)


def _kept_files(data: Path) -> Iterator[Path]:
    ordered = {"replays", notes_folder(data / "replays").name, "journal", "commitments"}
    for top in sorted(data.iterdir()):
        if top.name in ordered | LEFT_OUT or top.name.startswith(STEMS_LEFT_OUT):
            continue
        if top.is_dir():
            yield from _files(top)
        else:
            yield top


def _sizes(data: Path, journal: Path) -> list[tuple[Path, int | None]]:
    """Return the files that grow, with the lengths that are copied, in the order of the module's text."""
    others = [path for path in _files(journal) if path.name != DEALS_NAME]
    paths = [*others, data / "commitments", journal / DEALS_NAME]
    return [(path, path.stat().st_size) for path in paths if path.exists()]


def _add_file(tar: tarfile.TarFile, path: Path, name: str, most: int | None) -> tuple[str, int]:
    """Add a file, or the first `most` bytes of it; return its hash, which is empty if the file is missing, and its size.

    A link to a name beside it stays a link; for any other link the file is added.
    """
    info = tarfile.TarInfo(name)
    if path.is_symlink():
        target = str(path.readlink())
        if is_plain_target(target):
            info.type, info.linkname = tarfile.SYMTYPE, target
            tar.addfile(info)
            return hashlib.sha256(os.fsencode(target)).hexdigest(), 0
        if not path.is_file():
            raise BadBackup(
                f"{path} is a link to {target}, which is no file: put that in its place"
            )
    if not path.is_file():
        return "", 0  # a socket, or it was removed in the meantime
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return "", 0
    with file:
        status = os.fstat(file.fileno())
        info.size = status.st_size if most is None else most
        info.mode, info.mtime = status.st_mode & 0o755, status.st_mtime
        reading = Hashing(file, path)
        try:
            tar.addfile(info, reading)  # type: ignore[arg-type]
        except OSError as error:
            if error.errno is not None:
                raise
            raise BadBackup(f"{path} became shorter while it was copied: back up again") from error
    return reading.sha256.hexdigest(), info.size


def _add_json(tar: tarfile.TarFile, name: str, values: Mapping[str, object]) -> None:
    text = as_member(values)
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(text), 0o600
    tar.addfile(info, io.BytesIO(text))


# Restore.


def restore(file: Path, data: Path, url: str = "", progress: Progress = lambda _: None) -> Restored:
    """Make a data folder of a backup, which is not trusted; the folder appears as a whole.

    Args:
      data: The folder, which is empty or does not exist.
      url: The address of an empty database, if the backup's store is in PostgreSQL.

    Raises:
      BadBackup: if the file is no backup, is damaged, of a newer arena or has what no arena writes, if the folder is
        not empty, or its disk has no room.
      StoreError: if the store cannot be made.
      Unwritten, OSError: if the folder cannot be written.
    """
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise BadBackup(f"{data} is not empty: name a new folder with --data")
    if os.path.ismount(data):
        raise BadBackup(
            f"{data} is a disk of its own, and the folder is made beside its name: name a new folder on that disk, such "
            f"as --data {data / 'arena'}"
        )
    partial = data.absolute().with_name(f".{data.absolute().name}.restoring")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True, mode=0o700)
    try:
        # A backup has no folders, and one that others may read would be reported as a secret that was open.
        (partial / "journal").mkdir(mode=0o700)
        try:
            about, copied = read_archive(file, partial, progress)
        except Unrestorable as error:
            raise BadBackup(f"{file} {error}: restore another backup") from error
        progress("the store")
        store = data_folder.store_path(partial)
        put_back(about.store, partial / STORE, store, url)
        (partial / STORE).unlink(missing_ok=True)
        damage = _forget_deals_in_play(partial, forget_unfinished(store))
        partial.rename(data)
        durable_files.sync(data.absolute().parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Restored(copied.files, copied.size_bytes, damage)


def _forget_deals_in_play(data: Path, counting: frozenset[str]) -> tuple[str, ...]:
    """Remove the matches that do not count from the journal, and void their deals.

    Returns:
      Sentences about damage of the journal.
    """
    damage = keep_matches(data / "journal", counting)
    with DealLog(data / "journal", public=data / "commitments") as log:
        for deal in log.live:
            if not counting.issuperset(_match_ids(deal.opening.plan)):
                log.voided(deal.context, RESTORED)
    return damage


def _match_ids(plan: str) -> Sequence[str]:
    return [line.partition(" ")[0] for line in plan.splitlines()]
