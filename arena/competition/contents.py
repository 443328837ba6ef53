"""What a submission consists of, as one hash: the same for a folder and for a zip of it."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from arena.ladder.draws import digest


@dataclass(frozen=True, slots=True)
class SubmittedFile:
    """A file of a submission."""

    path: str
    """From the top of the submission, with '/'."""
    executable: bool
    sha256: str
    size_bytes: int

    @classmethod
    def of(cls, path: str, data: bytes, *, executable: bool = False) -> Self:
        """A file of these bytes."""
        return cls(path, executable, hashlib.sha256(data).hexdigest(), len(data))


def contents_sha256(files: Iterable[SubmittedFile]) -> str:
    """The SHA-256 of all paths with their executable bits and their files' hashes, in order.

    Raises:
      ValueError: if two files have one path.
    """
    rows = sorted((each.path, each.executable, each.sha256) for each in files)
    paths = [path for path, _, _ in rows]
    if len(set(paths)) != len(paths):
        raise ValueError("two files of a submission have one path")
    return digest(rows)
