"""The shared libraries that a program needs, as its ELF file names them."""

import contextlib
import functools
import glob
import os
import struct
from collections.abc import Iterator, Mapping
from typing import Final

MAGIC: Final = b"\x7fELF"
_64_BITS: Final = 2
_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3
_NULL, _NEEDED, _STRINGS = 0, 1, 5
_MAX_NAME_BYTES: Final = 256
_FOLDERS: Final = ("/lib", "/usr/lib", "/lib64", "/usr/lib64")
"""The folders in which the loader searches besides those of its settings."""


def needed(opened: int) -> list[str]:
    """Return the names of the libraries that an open ELF file needs, and the path of its loader.

    Returns nothing for a file of another form, and for a damaged one.
    """
    with contextlib.suppress(struct.error, IndexError, OSError):
        return list(_needed(opened))
    return []


def _needed(opened: int) -> Iterator[str]:
    head = os.pread(opened, 64, 0)
    if head[:4] != MAGIC or head[4] != _64_BITS:
        return
    (segments_at,) = struct.unpack_from("=Q", head, 32)
    size, count = struct.unpack_from("=HH", head, 54)
    table = os.pread(opened, size * count, segments_at)
    loads: list[tuple[int, int, int]] = []
    entries: list[tuple[int, int]] = []
    for number in range(count):
        kind, _, offset, address, _, length, _, _ = struct.unpack_from(
            "=IIQQQQQQ", table, number * size
        )
        if kind == _LOAD:
            loads.append((address, length, offset))
        elif kind == _INTERPRETER:
            yield _text(opened, offset)
        elif kind == _DYNAMIC:
            dynamic = os.pread(opened, length, offset)
            entries = list(struct.iter_unpack("=QQ", dynamic[: length - length % 16]))
    strings = next((value for tag, value in entries if tag == _STRINGS), 0)
    for start, length, offset in loads:
        if start <= strings < start + length:
            for tag, value in entries:
                if tag == _NULL:
                    break
                if tag == _NEEDED:
                    yield _text(opened, strings - start + offset + value)


def _text(opened: int, offset: int) -> str:
    return os.fsdecode(os.pread(opened, _MAX_NAME_BYTES, offset).split(b"\0")[0])


@functools.cache
def library_paths() -> Mapping[str, str]:
    """Return the path of each shared library of the system, by its name."""
    paths: dict[str, str] = {}
    for folder in _folders():
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if ".so" in entry.name:
                    paths.setdefault(entry.name, entry.path)
    return paths


def _folders() -> Iterator[str]:
    for settings in ("/etc/ld.so.conf", *sorted(glob.glob("/etc/ld.so.conf.d/*.conf"))):
        with contextlib.suppress(OSError), open(settings, encoding="utf-8") as lines:
            yield from (line.strip() for line in lines if line.startswith("/"))
    yield from _FOLDERS
