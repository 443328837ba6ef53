"""Pages of matches that are over, kept on the disk: compressed once, for every visitor.

A file's name is a hash of all that its page follows from, so nothing here is ever out of date;
what was not asked for longest goes when there is too much.
"""

import contextlib
import gzip
import hashlib
import os
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 2 << 30
_SWEEP_EVERY: Final = 64
"""Writes after which it is looked how much there is."""


class PageCache:
    """Pages by their keys. Calls block; any thread may call."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most = most_bytes
        self._writes = 0

    def get(self, key: str) -> bytes | None:
        """The page as gzip; None if it is not there."""
        path = self._path(key)
        with contextlib.suppress(OSError):
            body = path.read_bytes()
            os.utime(path)
            return body
        return None

    def put(self, key: str, page: bytes) -> bytes:
        """Keep a page; returns it as gzip. Where nothing can be written it is kept nowhere."""
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
        """Remove what was not asked for longest, until the rest fits."""
        found = sorted(
            ((each.stat(), each) for each in self._folder.glob("*.gz")),
            key=lambda pair: pair[0].st_mtime_ns,
            reverse=True,
        )
        total = 0
        for stat, path in found:
            total += stat.st_size
            if total > self._most:
                path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.gz"


def key_of(*parts: object) -> str:
    """A name for what follows from these."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()
