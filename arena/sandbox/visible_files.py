"""The files that a sandboxed bot may read: its folder, its runtime, and `--ro` paths.

Home folders and the arena's data are never shown, because they have secrets.
"""

import importlib.util
import os
import site
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.sandbox.command import BotCommand, exists
from arena.spawner.order import SYSTEM

_SDK: Final = ("cardarena", "arena")
"""Packages that bots import; in a checkout they are outside of the Python installation."""
_SYSTEM: Final = tuple(map(Path, SYSTEM))
_NO_FOLDERS: Final = (
    "/",
    "/dev",
    "/etc",
    "/home",
    "/proc",
    "/run",
    "/sys",
    "/tmp",  # noqa: S108 - a folder that is never shown
    "/var",
    "/var/tmp",  # noqa: S108 - likewise
)
_NO_FOLDERS_OF_HOME: Final = ("", ".cache", ".config", ".local", ".ssh")
_OF_NODE: Final = frozenset({".cjs", ".js", ".mjs", ".ts"})
_LINKS: Final = 8
"""The most symbolic links to follow from a program to its file."""


@dataclass(frozen=True, slots=True)
class VisibleFiles:
    """The files that a bot may read, besides the system's programs."""

    paths: tuple[Path, ...]
    """Absolute paths; a folder includes all files below it."""
    alone: Path | None = None
    """The bot's first file, if its folder is hidden from it."""
    why_alone: str = ""
    """Why the folder is hidden, as part of a sentence."""

    def holds(self, path: Path) -> bool:
        """Whether a bot may read a path."""
        return any(path == each or each in path.parents for each in (*self.paths, *_SYSTEM))


def visible_to(command: BotCommand, data: Path, read_only: Sequence[Path] = ()) -> VisibleFiles:
    """The files that the bot of a command may read.

    Args:
      command: How it is started.
      data: The arena's data folder.
      read_only: Further files and folders.
    """
    program = Path(command.own_argv[0])
    # A class path of Java is one word with several paths.
    words = [
        part for word in command.own_argv[1:] for part in dict.fromkeys((word, *word.split(":")))
    ]
    named = [path for word in words if (path := Path(word)).is_absolute() and exists(path)]
    paths = [*runtime_of(command.argv[0], data), *_packages(data)]
    if command.own_argv[0] != command.argv[0]:
        paths += runtime_of(command.own_argv[0], data)
    alone, why = None, ""
    first = named[0] if named else program
    if not _is_system(first):
        folder = first if first.is_dir() else first.parent
        shown = _without_data(folder, data)
        paths += shown
        if not shown and not first.is_dir():
            alone, why = first, why_never(folder, None) or why_never(folder, data)
    if first.suffix in _OF_NODE:
        paths += _packages_of_node(first, data)
    paths += [path for path in (*named, program) if not (path.is_dir() and why_never(path, data))]
    for word in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        if word and not why_never(path := Path(word).absolute(), data):
            paths.append(path)
    paths += [*command.packages, *read_only]
    kept = dict.fromkeys(
        each
        for path in paths
        if command.writes not in (path, *path.parents)  # that is bound writable
        for each in (path, path.resolve())
        if not _is_system(each)
    )
    return VisibleFiles(tuple(_outermost(list(kept))), alone, why)


def _without_data(folder: Path, data: Path) -> list[Path]:
    """The folder; without the arena's data if it holds them; nothing of a folder that is never shown.

    Links in a folder with data are shown only if they stay in it, since their targets are shown too.
    """
    if not why_never(folder, data):
        return [folder]
    real_folder, real_data = folder.resolve(), data.resolve()
    if why_never(folder, None) or real_folder == real_data:
        return []
    shown = []
    for each in folder.iterdir():
        real = each.resolve()
        stays = real_folder in real.parents and real_data not in real.parents
        if stays and not why_never(each, data):
            shown.append(each)
    return shown


def why_never(folder: Path, data: Path | None) -> str:
    """Why a folder is never shown to a bot, as part of a sentence; empty if it may be."""
    home = _home()
    for each in {folder, folder.resolve()}:
        if data is not None and (data.resolve() == each or each in data.resolve().parents):
            return f"holds the arena's data, {with_tilde(data)}"
        if str(each) in _NO_FOLDERS or each in home.parents:
            return "is not a bot's own"
        if each in {home / name for name in _NO_FOLDERS_OF_HOME}:
            return "is your home folder, or has private files of your programs"
    return ""


def runtime_of(program: str, data: Path | None = None) -> tuple[Path, ...]:
    """The folders that a program is installed in, such as a venv and the Python below it."""
    found: list[Path] = []
    path = Path(program)
    for _ in range(_LINKS):
        found += _installation(path, data)
        if not path.is_symlink():
            break
        path = Path(os.path.normpath(path.parent / path.readlink()))
    if program == sys.executable:
        found += [Path(sys.prefix), Path(sys.base_prefix), *_shared_library()]
    return tuple(dict.fromkeys(each for each in found if not _is_system(each)))


def with_tilde(path: Path) -> str:
    """A path with ~ for the home folder."""
    home = _home()
    return f"~/{path.relative_to(home)}" if home in path.parents else str(path)


def _home() -> Path:
    """The home folder; a path that does not exist for a user without one."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def _installation(path: Path, data: Path | None) -> Iterator[Path]:
    """The installation of a program in a folder `bin`: the folder above, and a venv's Python."""
    if path.parent.name != "bin" or _is_system(path):
        return
    above = path.parents[1]
    if not why_never(above, data):
        yield above
    settings = above / "pyvenv.cfg"
    if settings.is_file():
        for line in settings.read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition("=")
            if name.strip() == "home":
                yield Path(value.strip()).parent


def _packages_of_node(first: Path, data: Path) -> Iterator[Path]:
    """The packages that Node finds in the folders above a file, and the targets of their links."""
    for above in first.parents:
        if why_never(above, data):
            return
        yield above / "package.json"
        modules = above / "node_modules"
        if modules.is_dir():
            yield modules
            for each in (*modules.iterdir(), *modules.glob("@*/*")):
                if each.is_symlink() and not why_never(each.resolve(), data):
                    yield each.resolve()


def _shared_library() -> Iterator[Path]:
    folder = sysconfig.get_config_var("LIBDIR")
    if folder and sysconfig.get_config_var("Py_ENABLE_SHARED"):
        yield Path(folder)


def _packages(data: Path) -> Iterator[Path]:
    """The folders of the SDK and of all installed packages."""
    for name in _SDK:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            package = Path(spec.origin).parent
            # Python lists the folder of a package, which S1 would not allow otherwise.
            above = package.parent
            yield above if name == _SDK[0] and not why_never(above, data) else package
    for each in site.getsitepackages():
        yield Path(each)


def _is_system(path: Path) -> bool:
    return any(path == each or each in path.parents for each in _SYSTEM)


def _outermost(paths: list[Path]) -> list[Path]:
    """The paths that are in none of the others."""
    return [path for path in paths if not any(each in path.parents for each in paths)]
