"""Removes old replays, logs and packages of a data folder, while an arena serves or not.

An arena never needs the removed files: matches of competitions that are not finished keep their replays, and packages
that a version may still be started with stay. Journals, keys, the log of commitments, official standings, results and
submitted archives always stay. The lock of the files prevents backups and compaction during a removal.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.bots.blobs import Blobs, remove_unpacked
from arena.bots.installed_wheels import INSTALLED
from arena.bots.manifest import runs_python
from arena.bots.wheels import read_wheels, wheels_sha256
from arena.records.bot_notes import NOTES_SUFFIX, notes_folder
from arena.records.read import REPLAY_SUFFIX
from arena.results.versions import VersionEvent
from arena.store import BotKind, Store, StoreError, Version, data_folder, open_store

_OUT: Final = frozenset({VersionEvent.RETIRED, VersionEvent.BANNED, VersionEvent.REJECTED})
_BATCH: Final = 500
"""The number of replays that are marked as removed in one transaction."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The files of one kind that were removed, or would be."""

    kind: str
    files: int
    size_bytes: int
    kept: int
    """Old replays or folders that stay because they are needed."""


def prune(
    data: Path,
    before_unix_s: float,
    *,
    dry_run: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Removed]:
    """Remove files that were last written before a time and are not needed; return the removed ones by kind.

    Raises `StoreError` if the store cannot be read, or a backup runs, and `OSError` if a file cannot be removed.
    """
    with data_folder.holding_files(data), open_store(data_folder.store_path(data)) as store:
        progress("replays")
        removed = list(_prune_replays(data, store, before_unix_s, dry_run=dry_run))
        progress("logs")
        logs = [
            path
            for path in (data / "logs").glob("*/*.log")
            if not path.parent.is_symlink() and _is_old(path, before_unix_s)
        ]
        removed.append(_removed("logs", logs, 0, dry_run=dry_run))
        progress("packages")
        removed += _prune_packages(data, store, before_unix_s, dry_run=dry_run)
    return removed


def _prune_replays(
    data: Path, store: Store, before_unix_s: float, *, dry_run: bool
) -> Iterator[Removed]:
    replays = data / "replays"
    old = [path for path in replays.glob(f"*{REPLAY_SUFFIX}") if _is_old(path, before_unix_s)]
    needed = store.matches().of_unfinished_competitions()
    gone = [path for path in old if path.name.removesuffix(REPLAY_SUFFIX) not in needed]
    if not dry_run:
        # Replays are marked first, so that pages and lists name no missing replay even if this is stopped.
        ids = [path.name.removesuffix(REPLAY_SUFFIX) for path in gone]
        for at in range(0, len(ids), _BATCH):
            store.matches().mark_removed(ids[at : at + _BATCH])
    yield _removed("replays", gone, len(old) - len(gone), dry_run=dry_run)
    notes = [
        path
        for path in (*notes_folder(replays).glob("*"), *replays.glob(f"*{NOTES_SUFFIX}"))
        if _is_old(path, before_unix_s) and path.name.rsplit(".", 2)[0] not in needed
    ]
    yield _removed("notes", notes, 0, dry_run=dry_run)


def _prune_packages(
    data: Path, store: Store, before_unix_s: float, *, dry_run: bool
) -> Iterator[Removed]:
    versions = [version for version in _versions(store) if _may_play(version, before_unix_s)]
    for kind, names_of in (("unpacked", _unpacked_for), (INSTALLED, _installed_for)):
        old = [
            path
            for path in (data / kind).glob("*")
            if not path.name.startswith(".") and _is_old(path, before_unix_s)
        ]
        names = names_of(data, versions) if old else set()
        gone = [path for path in old if path.name not in names]
        yield _removed(kind, gone, len(old) - len(gone), dry_run=dry_run)


def _versions(store: Store) -> Iterator[Version]:
    registry = store.registry()
    for bot in registry.names(BotKind.UPLOADED):
        yield from registry.versions(bot)


def _may_play(version: Version, before_unix_s: float) -> bool:
    """Return whether a version may be started, or could be until recently."""
    return version.state not in _OUT or version.since_unix_ms / 1000 >= before_unix_s


def _unpacked_for(_: Path, versions: Collection[Version]) -> set[str]:
    return {version.sha256 for version in versions}


def _installed_for(data: Path, versions: Collection[Version]) -> set[str]:
    blobs, names = Blobs(data), set()
    for version in versions:
        if runs_python(version.manifest.get("command", ())):
            try:
                names.add(wheels_sha256(read_wheels(blobs.archive(version.sha256))))
            except (StoreError, ValueError):
                continue  # an archive that is damaged or lost has no packages to keep
    return names


def _is_old(path: Path, before_unix_s: float) -> bool:
    try:
        return path.lstat().st_mtime < before_unix_s
    except FileNotFoundError:
        return False


def _removed(kind: str, paths: Collection[Path], kept: int, *, dry_run: bool) -> Removed:
    """Remove files and folders, unless it is a dry run, and count them. A link is removed without its target."""
    files = size_bytes = 0
    for path in paths:
        is_folder = path.is_dir() and not path.is_symlink()
        below = [inner for inner in path.rglob("*") if inner.is_file()] if is_folder else [path]
        files += len(below)
        size_bytes += sum(inner.lstat().st_size for inner in below)
        if dry_run:
            continue
        if is_folder:
            remove_unpacked(path)
        else:
            path.unlink(missing_ok=True)
    return Removed(kind, files, size_bytes, kept)
