"""One hash for the contents of a submission, which is the same for a folder and for its zip."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from arena.results.deal_sets import digest


@dataclass(frozen=True, slots=True)
class SubmittedFile:
    """A file of a submission."""

    path: str
    """The path below the top of the submission, with '/'."""
    executable: bool
    sha256: str
    size_bytes: int

    @classmethod
    def of(cls, path: str, data: bytes, *, executable: bool = False) -> Self:
        return cls(path, executable, hashlib.sha256(data).hexdigest(), len(data))


def contents_sha256(files: Iterable[SubmittedFile]) -> str:
    """Return the SHA-256 of all paths, executable bits and file hashes, sorted.

    Raises `ValueError` if two files have one path.
    """
    rows = sorted((file.path, file.executable, file.sha256) for file in files)
    paths = [path for path, _, _ in rows]
    if len(set(paths)) != len(paths):
        raise ValueError("two files of a submission have one path")
    return digest(rows)
