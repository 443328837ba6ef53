"""Caches the pages of ended matches on the disk, compressed.

The name of a file is a hash of all inputs of its page, so a cached page is never out of date. When the
folder is full, the least recently read pages are removed.
"""

import contextlib
import gzip
import hashlib
import os
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 2 << 30
_SWEEP_EVERY: Final = 64
"""The number of writes between two checks of the folder's size."""


class PageCache:
    """Pages by their keys. Calls block, and are safe on any thread."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most = most_bytes
        self._writes = 0

    def get(self, key: str) -> bytes | None:
        """Return the page as gzip; None if it is not in the cache."""
        path = self._path(key)
        with contextlib.suppress(OSError):
            body = path.read_bytes()
            os.utime(path)
            return body
        return None

    def put(self, key: str, page: bytes) -> bytes:
        """Add a page, and return it as gzip. If the folder cannot be written, nothing is added."""
        body = gzip.compress(page, 6, mtime=0)
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            path = self._path(key)
            partial = path.with_suffix(f".{os.getpid()}.partial")
            partial.write_bytes(body)
            partial.replace(path)
            self._writes += 1
            if self._writes % _SWEEP_EVERY == 0:
                self.sweep()
        return body

    def sweep(self) -> None:
        """Remove the least recently read pages until the others fit."""
        newest_first = sorted(
            ((path.stat(), path) for path in self._folder.glob("*.gz")),
            key=lambda pair: pair[0].st_mtime_ns,
            reverse=True,
        )
        total = 0
        for stat, path in newest_first:
            total += stat.st_size
            if total > self._most:
                path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.gz"


def key_of(*parts: object) -> str:
    """Return the key of a page, from all its inputs."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()
