"""What a bot that failed missed because it was jailed, in words."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from arena.jail.visible import Visible, told, why_never

_PATH: Final = re.compile(r"(?<![\w.~])/[\w.@+~-][^\s'\"`,;:()\[\]]*")
_NO_MODULE: Final = re.compile(r"No module named '([\w]+)")
_NO_MEMORY: Final = re.compile(r"MemoryError|Cannot allocate memory|bad_alloc|out of memory")
_NO_WRITING: Final = re.compile(r"Read-only file system")
_NO_NETWORK: Final = re.compile(r"Address family not supported|Network is unreachable")
_MOST: Final = 3


def hidden(text: str, visible: Visible, data: Path, *, memory_bytes: int) -> list[str]:
    """Sentences about what the jail kept from a bot, from what it printed.

    Args:
      text: What the bot printed.
      visible: What it could see.
      data: The arena's folder, which is never offered.
      memory_bytes: What a process of it may use.
    """
    found = dict.fromkeys(_hidden_paths(text, visible, data))
    sentences = [f"the jail hides {path}: add --ro {path}" for path in found][:_MOST]
    if _NO_MEMORY.search(text):
        sentences.append(f"the jail gives each process {memory_bytes >> 20} MB of memory")
    if _NO_WRITING.search(text):
        sentences.append("a jailed bot can write in its TMPDIR alone, which is gone when it ends")
    if _NO_NETWORK.search(text):
        sentences.append("a jailed bot has no network")
    return sentences


def _hidden_paths(text: str, visible: Visible, data: Path) -> Iterator[str]:
    for word in _PATH.findall(text):
        yield from _offered(Path(word.rstrip(".")), visible, data)
    for name in _NO_MODULE.findall(text):
        if visible.alone is not None:
            beside = visible.alone.parent
            for path in (beside / f"{name}.py", beside / name):
                yield from _offered(path, visible, data, itself=True)
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            continue
        if spec is not None and spec.origin is not None and Path(spec.origin).is_absolute():
            origin = Path(spec.origin)
            package = origin.parent if origin.name == "__init__.py" else origin
            yield from _offered(package, visible, data, itself=True)


def _offered(path: Path, visible: Visible, data: Path, *, itself: bool = False) -> Iterator[str]:
    """A path that is there and was not seen, or the folder it lies in, if that may be shown."""
    try:
        there = path.exists()
    except OSError:
        return
    if not there or visible.holds(path) or visible.holds(path.resolve()):
        return
    if path == data or data in path.parents:
        return
    folder = path if itself or path.is_dir() else path.parent
    offered = path if folder.is_dir() and why_never(folder, data) else folder
    if not (offered.is_dir() and why_never(offered, data)):
        yield told(offered)
