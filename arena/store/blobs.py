"""Archives of what was submitted, named by what they hold, and unpacked for play.

`DATA/blobs/SHA256` is a zip whose contents have that hash, however it was packed;
`DATA/unpacked/SHA256` are its files, which nobody may write to. Both are there wholly or not at all.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from arena.competition.archive import Archive, BadArchive, read_archive, unpack
from arena.store.errors import StoreError

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_PARTIAL: Final = "."


class Blobs:
    """The archives of a data folder. Calls block for as long as the disk takes."""

    def __init__(self, data: Path) -> None:
        self._blobs = data / "blobs"
        self._unpacked = data / "unpacked"

    def keep(self, archive: Archive) -> tuple[str, bool]:
        """Take an archive in, away from where it lies; returns its name, and whether it is new.

        Raises:
          OSError: if it cannot be kept.
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

    def forget(self, sha256: str) -> None:
        """Remove an archive that nothing refers to."""
        (self._blobs / sha256).unlink(missing_ok=True)

    def archive(self, sha256: str) -> Archive:
        """The archive of these contents, read again.

        Raises:
          StoreError: if there is none, or it is not what its name says.
        """
        path = self._blobs / sha256
        try:
            found = read_archive(path)
        except FileNotFoundError:
            raise StoreError(f"there is no archive {path}") from None
        except (BadArchive, OSError) as error:
            raise StoreError(f"the archive {path} is damaged: {error}") from error
        if found.sha256 != sha256:
            raise StoreError(f"the archive {path} is damaged: it holds something else")
        return found

    def unpacked(self, sha256: str) -> Path:
        """The folder of these contents, unpacked if it was not yet.

        Raises:
          StoreError: if there is no such archive, or it is damaged.
          OSError: if it cannot be unpacked.
        """
        folder = self._unpacked / sha256
        if folder.is_dir():
            return folder
        archive = self.archive(sha256)
        partial = self._unpacked / f"{_PARTIAL}{sha256}.{os.getpid()}"
        remove_unpacked(partial)
        try:
            unpack(archive, partial)
            # To be renamed a folder must be open to its owner; its files stay as they are.
            partial.chmod(0o755)
            with contextlib.suppress(FileExistsError):  # another process was faster
                partial.rename(folder)
                folder.chmod(0o555)
        finally:
            remove_unpacked(partial)
        return folder

    def violations(self) -> Iterator[str]:
        """Every archive that is not what its name says, a sentence each; it reads all of them."""
        for path in sorted(self._blobs.glob("*")):
            if not _SHA256.fullmatch(path.name):
                yield f"{path} is no archive"
                continue
            try:
                self.archive(path.name)
            except StoreError as error:
                yield str(error)


def remove_unpacked(folder: Path) -> None:
    """Remove a folder that nobody may write to, if it is there."""
    for below, _, _ in os.walk(folder):
        Path(below).chmod(0o755)
    shutil.rmtree(folder, ignore_errors=True)
