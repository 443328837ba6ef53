"""Submitted archives, named by the hash of their contents, and their unpacked files.

`DATA/blobs/SHA256` is a zip whose contents have that hash, independent of its compression. The read-only
folder `DATA/unpacked/SHA256` has its files. Both appear in one step, by renaming.
"""

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from arena.bots.archive import BadArchive, BotArchive, read_archive, unpack
from arena.store.errors import StoreError

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_PARTIAL: Final = "."


class Blobs:
    """The archives of a data folder. Calls block on the disk."""

    def __init__(self, data: Path) -> None:
        self._blobs = data / "blobs"
        self._unpacked = data / "unpacked"

    def keep(self, archive: BotArchive) -> tuple[str, bool]:
        """Move an archive into the folder; return its name, and whether it is new.

        Raises `OSError` if it cannot be moved.
        """
        sha256 = archive.sha256
        self._blobs.mkdir(parents=True, exist_ok=True)
        target = self._blobs / sha256
        if target.exists():
            archive.path.unlink()
            return sha256, False
        with archive.path.open("rb") as file:
            os.fsync(file.fileno())
        archive.path.chmod(0o400)
        archive.path.replace(target)
        return sha256, True

    def open(self, sha256: str) -> BinaryIO:
        """Open the zip file of these contents, which are not verified.

        Raises `StoreError` if `sha256` is no hash, and `OSError` if there is none.
        """
        return (self._blobs / _hash(sha256)).open("rb")

    def has(self, sha256: str) -> bool:
        return _SHA256.fullmatch(sha256) is not None and (self._blobs / sha256).exists()

    def touch(self, sha256: str) -> None:
        """Record that an archive is used now, for `shrink`.

        Raises `StoreError` if `sha256` is no hash, and `OSError` if there is none.
        """
        os.utime(self._blobs / _hash(sha256))

    def shrink(self, max_bytes: int) -> None:
        """Remove archives with their files, the least recently used ones first, until the rest fits.

        No archive may be unpacked or launched during the call.
        """
        archives = sorted(
            self._blobs.glob("*"), key=lambda path: path.stat().st_mtime, reverse=True
        )
        total = 0
        for path in archives:
            folder = self._unpacked / path.name
            total += path.stat().st_size + size_of(folder)
            if total > max_bytes:
                path.unlink(missing_ok=True)
                remove_unpacked(folder)

    def forget(self, sha256: str) -> None:
        (self._blobs / _hash(sha256)).unlink(missing_ok=True)

    def archive(self, sha256: str) -> BotArchive:
        """Read the archive of these contents.

        Raises `StoreError` if there is none, or its contents have another hash.
        """
        path = self._blobs / _hash(sha256)
        try:
            archive = read_archive(path)
        except FileNotFoundError:
            raise StoreError(f"there is no archive {path}") from None
        except (BadArchive, OSError) as error:
            raise StoreError(f"the archive {path} is damaged: {error}") from error
        if archive.sha256 != sha256:
            raise StoreError(f"the archive {path} is damaged: its contents have another hash")
        return archive

    def unpacked(self, sha256: str) -> Path:
        """Return the folder with these contents; they are unpacked on the first call.

        Raises `StoreError` if there is no such archive, or it is damaged, and `OSError` if it cannot be unpacked.
        """
        folder = self._unpacked / _hash(sha256)
        if folder.is_dir():
            return folder
        archive = self.archive(sha256)
        # Threads and processes that unpack it at the same time use separate folders; the first folder that is renamed
        # is kept.
        partial = self._unpacked / f"{_PARTIAL}{sha256}.{secrets.token_hex(8)}"
        try:
            unpack(archive, partial)
            # A folder must be writable to be renamed; its files stay read-only.
            partial.chmod(0o755)
            try:
                partial.rename(folder)
            except OSError:
                if not folder.is_dir():
                    raise
            else:
                folder.chmod(0o555)
        finally:
            remove_unpacked(partial)
        return folder

    def clear(self) -> None:
        """Remove unfinished folders of earlier processes. No archive may be unpacked during the call."""
        for left in self._unpacked.glob(f"{_PARTIAL}*"):
            remove_unpacked(left)

    def violations(self) -> Iterator[str]:
        """Archives that differ from their names, in sentences. Reads all archives."""
        for path in sorted(self._blobs.glob("*")):
            if not _SHA256.fullmatch(path.name):
                yield f"{path} is not an archive"
                continue
            try:
                self.archive(path.name)
            except StoreError as error:
                yield str(error)


def _hash(sha256: str) -> str:
    """Return a hash that may name a file.

    It is checked because a worker gets it from an arena. Raises `StoreError` if it is no hash.
    """
    if not _SHA256.fullmatch(sha256):
        raise StoreError(f"{sha256!r} is not the hash of an archive")
    return sha256


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a folder; 0 if there is none."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def remove_unpacked(folder: Path) -> None:
    """Remove a read-only folder; nothing happens if it does not exist."""
    for below, _, _ in os.walk(folder):
        Path(below).chmod(0o755)
    shutil.rmtree(folder, ignore_errors=True)
