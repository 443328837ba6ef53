"""What a bot consists of: the files that its command names, and the code beside them.

A bot is seldom one file. Whatever of its folder it could import or load as code counts, whether it
does or not: only the bot knows. Data that it reads is not looked at, nor anything elsewhere.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
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
"""How the names of files end that are run, or loaded by what is run; as is what the command names."""
MAX_FILES: Final = 1_000
MAX_BYTES: Final = 32 << 20
"""What is looked at of a bot's folder, what is nearest to it first."""
_HASH_DIGITS: Final = 16
_NO_CODE_OF_THE_BOT: Final = frozenset({"__pycache__", "node_modules", "site-packages"})


def content_of(program: Path, named: Sequence[Path]) -> str:
    """A line for each file of a bot: a hash of its content, and its name within the bot's folder.

    `named` are the files and folders that its command names after the program. The program itself
    counts only if there are none: an interpreter is not the bot.

    Raises:
      OSError: if a file that the command names cannot be read; its `filename` tells which.
    """
    found: dict[str, str] = {}
    for each in named or [program]:
        if not each.is_dir():
            found[str(each) if each.name in found else each.name] = _hash_of(each)
    for folder in dict.fromkeys(each if each.is_dir() else each.parent for each in named):
        endings = CODE | {each.suffix for each in named if each.suffix}
        left_bytes = MAX_BYTES
        for path in _code_in(folder, endings):
            name = str(path.relative_to(folder))
            try:
                left_bytes -= path.stat().st_size
                if len(found) >= MAX_FILES or left_bytes < 0:
                    break
                found.setdefault(name, _hash_of(path))
            except OSError:
                continue  # the bot cannot read it either, or it has just gone
    return "\n".join(f"{digest} {name}" for name, digest in sorted(found.items()))


def _code_in(folder: Path, endings: frozenset[str]) -> Iterator[Path]:
    """The files of a folder that may be code, those of its own first, then those of folders in it."""
    level = [folder]
    while level:
        below: list[Path] = []
        for each in level:
            try:
                entries = sorted(os.scandir(each), key=lambda entry: entry.name)
            except OSError:
                continue
            if any(entry.name == "pyvenv.cfg" for entry in entries):
                continue  # an environment is what the bot runs in
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
