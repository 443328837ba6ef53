"""Explains from a failed bot's output what the sandbox kept from it and the option that helps, or why it did not start."""

import importlib.util
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from arena.sandbox.command import BotCommand, exists
from arena.sandbox.visible_files import VisibleFiles, is_system, why_never, with_tilde

_PATH: Final = re.compile(r"(?<![\w.~])/[\w.@+~-][^\s'\"`,;:()\[\]]*")
_NO_MODULE: Final = re.compile(r"No module named '([\w]+)")
_NO_PROGRAM: Final = re.compile(
    r"([\w.+-]+): (?:command )?not found|No such file or directory: '([\w.+-]+)'"
)
_NO_MEMORY: Final = re.compile(r"MemoryError|Cannot allocate memory|bad_alloc|out of memory")
_NO_WRITING: Final = re.compile(r"Read-only file system")
_NO_NETWORK: Final = re.compile(r"Address family not supported|Network is unreachable")
_MOST: Final = 3
_SDK: Final = frozenset({"arena", "cardarena", "google", "grpc", "numpy"})
_IMPORTS: Final = re.compile(
    r"ImportError|ModuleNotFoundError|AttributeError: (?:partially initialized )?module"
)


def hidden(text: str, visible: VisibleFiles, data: Path, *, memory_bytes: int) -> list[str]:
    """Return sentences about files and memory that the sandbox has denied to a bot.

    Args:
      visible: The files that it could read.
      data: The arena's data folder, which is never suggested.
      memory_bytes: The memory limit of a process.
    """
    paths = dict.fromkeys(_hidden_paths(text, visible, data))
    sentences = [f"the sandbox hides {path}: add --ro {path}" for path in paths][:_MOST]
    if _NO_MEMORY.search(text):
        sentences.append(f"the sandbox gives each process {memory_bytes >> 20} MB of memory")
    if _NO_WRITING.search(text):
        sentences.append(
            "a sandboxed bot can write only to its TMPDIR, which is deleted when it ends"
        )
    if _NO_NETWORK.search(text):
        sentences.append("a sandboxed bot has no network")
    return sentences


def _hidden_paths(text: str, visible: VisibleFiles, data: Path) -> Iterator[str]:
    for word in _PATH.findall(text):
        yield from _suggested(Path(word.rstrip(".")), visible, data)
    for names in _NO_PROGRAM.findall(text):
        if program := shutil.which("".join(names)):
            yield from _suggested(Path(program), visible, data)
    for name in _NO_MODULE.findall(text):
        if visible.alone is not None:
            beside = visible.alone.parent
            for path in (beside / f"{name}.py", beside / name):
                yield from _suggested(path, visible, data, itself=True)
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            continue
        if spec is not None and spec.origin is not None and Path(spec.origin).is_absolute():
            origin = Path(spec.origin)
            package = origin.parent if origin.name == "__init__.py" else origin
            yield from _suggested(package, visible, data, itself=True)


def _suggested(
    path: Path, visible: VisibleFiles, data: Path, *, itself: bool = False
) -> Iterator[str]:
    """Yield an existing hidden path, or its folder unless `itself`, if the sandbox may show it.

    Of the system only the path is suggested, because its folder is large.
    """
    if not exists(path) or visible.holds(path) or visible.holds(path.resolve()):
        return
    if path == data or data in path.parents:
        return
    folder = path if itself or path.is_dir() or is_system(path) else path.parent
    suggested = path if folder.is_dir() and why_never(folder, data) else folder
    if not (suggested.is_dir() and why_never(suggested, data)):
        yield with_tilde(suggested)


def why_not_started(command: BotCommand, printed: str, returncode: int | None) -> str:
    """Return why a process ended before it connected, as a part of a sentence; empty if that is not known."""
    if hiding := _hides_a_module(command, printed):
        return f"its file {hiding} hides Python's module of that name, so give it another one"
    if returncode == 0:
        return "its program ended by itself; a bot of Python ends with `cardarena.run(MyBot)`"
    return ""


def _hides_a_module(command: BotCommand, printed: str) -> str:
    """Return the file of the bot that is imported in place of a module of Python or the SDK; empty if there is none."""
    if not _IMPORTS.search(printed):
        return ""
    files = {path.stem: path for path in command.folder.glob("*.py")}
    hidden = sorted(files.keys() & (sys.stdlib_module_names | _SDK))
    named = [name for name in hidden if re.search(rf"\b{name}\b", printed)]
    return files[named[0]].name if named else ""
