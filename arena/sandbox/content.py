"""Hashes of a bot's files, to detect that a bot changed between two parts of a competition.

The files are those that its command names, and all code in their folders, whether the bot loads it or
not. Data files and other folders do not count.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

CODE: Final = frozenset(
    [
        ".bash",
        ".cjs",
        ".class",
        ".dll",
        ".dylib",
        ".ex",
        ".exs",
        ".jar",
        ".java",
        ".jl",
        ".js",
        ".lua",
        ".mjs",
        ".php",
        ".pl",
        ".pm",
        ".py",
        ".pyd",
        ".pyx",
        ".r",
        ".rb",
        ".sh",
        ".so",
        ".tcl",
        ".ts",
        ".wasm",
    ]
)
"""The file name suffixes of code. Suffixes of files in the command count as well."""
MAX_FILES: Final = 1_000
MAX_BYTES: Final = 32 << 20
"""The size limit of the hashed files of a folder, in breadth-first order."""
SHOWN_FILES: Final = 3
"""The number of files that a message about a changed bot names."""
_HASH_DIGITS: Final = 16
_NO_CODE_OF_THE_BOT: Final = frozenset(
    {"CMakeFiles", "__pycache__", "node_modules", "site-packages"}
)


def content_of(program: Path, named: Sequence[Path]) -> str:
    """Return the files of a bot, a line each: a hash of the content, and the name within the bot's folder.

    `named` are the files and folders that its command names after the program. The program itself
    counts only if there are none, because an interpreter is not the bot.

    Raises `OSError` if a file that the command names cannot be read; its `filename` says which.
    """
    hashes: dict[str, str] = {}
    for path in named or [program]:
        if not path.is_dir():
            hashes[str(path) if path.name in hashes else path.name] = _hash_of(path)
    for folder in dict.fromkeys(path if path.is_dir() else path.parent for path in named):
        endings = CODE | {path.suffix for path in named if path.suffix}
        left_bytes = MAX_BYTES
        for path in _code_in(folder, endings):
            name = str(path.relative_to(folder))
            try:
                left_bytes -= path.stat().st_size
                if len(hashes) >= MAX_FILES or left_bytes < 0:
                    break
                hashes.setdefault(name, _hash_of(path))
            except OSError:
                continue  # the bot cannot read it either, or it was just removed
    return "\n".join(f"{digest} {name}" for name, digest in sorted(hashes.items()))


def changed_files(before: str, now: str) -> str:
    """Return the files in which two contents differ, for a sentence: " (in a.py, b.py (new) and 2 more)".

    Empty if they are equal, or one of them was not written by `content_of`.
    """
    stored, given = _files(before), _files(now)
    if not stored or not given or stored == given:
        return ""
    changed = [
        name
        if name in stored and name in given
        else f"{name} ({'new' if name in given else 'gone'})"
        for name in sorted(stored.keys() | given.keys())
        if stored.get(name) != given.get(name)
    ]
    more = len(changed) - SHOWN_FILES
    names = ", ".join(changed[:SHOWN_FILES]) + (f" and {more} more" if more > 0 else "")
    return f" (in {names})"


def _files(content: str) -> Mapping[str, str]:
    """Return the hashes of a content by file; empty if it has another form."""
    lines = [line.partition(" ") for line in content.split("\n")]
    return {name: digest for digest, _, name in lines if name}


def _code_in(folder: Path, endings: frozenset[str]) -> Iterator[Path]:
    level = [folder]
    while level:
        below: list[Path] = []
        for directory in level:
            try:
                entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
            except OSError:
                continue
            if any(entry.name == "pyvenv.cfg" for entry in entries):
                continue  # a virtual environment
            for entry in entries:
                if entry.name.startswith(".") or entry.name in _NO_CODE_OF_THE_BOT:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    below.append(Path(entry.path))
                elif Path(entry.name).suffix in endings and entry.is_file():
                    yield Path(entry.path)
        level = below


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:_HASH_DIGITS]
