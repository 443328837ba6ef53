"""The segments of journals in a folder: whose they are, and whether somebody writes them."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from arena.replay import disk

SEGMENT_SUFFIX: Final = ".journal"
"""Segments of one process sort by name; `<run>-<number>.journal`."""


def runs(folder: Path) -> Iterator[list[Path]]:
    """The segments of each process that wrote here, oldest first."""
    segments = sorted(folder.glob(f"*{SEGMENT_SUFFIX}"))
    for _, run in groupby(segments, key=lambda path: path.name.rpartition("-")[0]):
        yield list(run)


def alive(segment: Path) -> bool:
    """Whether a process is writing this segment: then it holds a lock on it."""
    with segment.open("rb") as file:
        try:
            return disk.is_locked(file.fileno())
        except OSError:
            return False  # no locks here
