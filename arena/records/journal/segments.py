"""The segments of journals in a folder, by process."""

import contextlib
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from google.protobuf.message import DecodeError

from arena import durable_files
from arena.records.records import JOURNAL_MAGIC, Damaged, read_records
from cardarena.v1 import journal_pb2

SEGMENT_SUFFIX: Final = ".journal"
"""A segment is named `<run>-<number>.journal`; those of a process sort by name."""


def runs(folder: Path) -> Iterator[list[Path]]:
    """Yield the segments of each process, oldest first."""
    segments = sorted(folder.glob(f"*{SEGMENT_SUFFIX}"))
    for _, run in groupby(segments, key=lambda path: path.name.rpartition("-")[0]):
        yield list(run)


def head_of(segment: Path) -> journal_pb2.Run:
    """Return the first record of a segment; an empty one if it cannot be read.

    Raises `OSError` if the file cannot be read.
    """
    with segment.open("rb") as file, contextlib.suppress(Damaged, DecodeError, StopIteration):
        return journal_pb2.Record.FromString(next(read_records(file, JOURNAL_MAGIC)).body).run
    return journal_pb2.Run()


def alive(segment: Path) -> bool:
    """Return whether a process is writing this segment, by its lock."""
    with segment.open("rb") as file:
        try:
            return durable_files.is_locked(file.fileno())
        except OSError:
            return False  # the file system has no locks
