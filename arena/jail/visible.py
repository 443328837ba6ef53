"""What a jailed bot may read: its own folder, what runs it, and what it was given.

Never the home folder itself, nor one that holds the arena's data: there lie the secrets of deals,
of the arena and of its owner.
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

from arena.jail.command import BotCommand

_SDK: Final = ("cardarena", "arena")
"""Packages that bots import, wherever they are installed."""
_SYSTEM: Final = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin")
_NO_FOLDERS: Final = (
    "/",
    "/dev",
    "/etc",
    "/home",
    "/proc",
    "/run",
    "/sys",
    "/tmp",  # noqa: S108 - named so that it is never shown
    "/var",
    "/var/tmp",  # noqa: S108 - likewise
)
_NO_FOLDERS_OF_HOME: Final = ("", ".cache", ".config", ".local", ".ssh")
_OF_NODE: Final = frozenset({".cjs", ".js", ".mjs", ".ts"})
_LINKS: Final = 8
"""Followed from a program to what it really is."""


@dataclass(frozen=True, slots=True)
class Visible:
    """What a bot may read, beside the system's programs."""

    paths: tuple[Path, ...]
    """Absolute; a folder stands for all that is in it."""
    alone: Path | None = None
    """The bot's first file, if its folder is kept from it."""
    why_alone: str = ""
    """As a part of a sentence: why the folder is."""

    def holds(self, path: Path) -> bool:
        """Whether a bot can see a path."""
        return any(path == each or each in path.parents for each in (*self.paths, *_system()))


def visible_to(command: BotCommand, data: Path, read_only: Sequence[Path] = ()) -> Visible:
    """What a bot of this command may read.

    Args:
      command: How it is started.
      data: The arena's folder.
      read_only: What it was given beside.
    """
    program = Path(command.argv[0])
    # A path of Java's classes is one word of several.
    words = [part for word in command.argv[1:] for part in dict.fromkeys((word, *word.split(":")))]
    named = [path for word in words if (path := Path(word)).is_absolute() and _exists(path)]
    paths = [*runtime_of(command.argv[0], data), *_packages(data)]
    alone, why = None, ""
    first = named[0] if named else program
    if not _is_system(first):
        folder = first if first.is_dir() else first.parent
        why = why_never(folder, data)
        if not why:
            paths.append(folder)
        elif not first.is_dir():
            alone = first
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
        if command.writes not in (path, *path.parents)  # that is shown to be written
        for each in (path, path.resolve())
        if not _is_system(each)
    )
    return Visible(tuple(_outermost(list(kept))), alone, why if alone else "")


def why_never(folder: Path, data: Path | None) -> str:
    """Why a folder is never shown to a bot, as part of a sentence; empty if it may be."""
    home = _home()
    for each in {folder, folder.resolve()}:
        if data is not None and (data.resolve() == each or each in data.resolve().parents):
            return f"holds the arena's data, {told(data)}"
        if str(each) in _NO_FOLDERS or each in home.parents:
            return "is not a bot's own"
        if each in {home / name for name in _NO_FOLDERS_OF_HOME}:
            return "is your home folder, or where programs keep what is yours"
    return ""


def runtime_of(program: str, data: Path | None = None) -> tuple[Path, ...]:
    """The folders that a program needs: what it is installed in, as a Python with its packages."""
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


def told(path: Path) -> str:
    """A path as a person writes it, with ~ for home."""
    home = _home()
    return f"~/{path.relative_to(home)}" if home in path.parents else str(path)


def _home() -> Path:
    """The home folder; a user of whom the system knows nothing has none, and so lives nowhere."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def _installation(path: Path, data: Path | None) -> Iterator[Path]:
    """Of a program in a folder `bin`: all that is beside it."""
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
    """Where Node looks for what a file imports, in the folders above it, and what is linked there."""
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


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False  # no name of a file, as it is too long


def _shared_library() -> Iterator[Path]:
    folder = sysconfig.get_config_var("LIBDIR")
    if folder and sysconfig.get_config_var("Py_ENABLE_SHARED"):
        yield Path(folder)


def _packages(data: Path) -> Iterator[Path]:
    """Where the SDK is; installed from a checkout it lies outside of the Python."""
    for name in _SDK:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            package = Path(spec.origin).parent
            # Python lists the folder that a package lies in, which S1 else would not let it.
            above = package.parent
            yield above if name == _SDK[0] and not why_never(above, data) else package
    for each in site.getsitepackages():
        yield Path(each)


def _system() -> tuple[Path, ...]:
    return tuple(map(Path, _SYSTEM))


def _is_system(path: Path) -> bool:
    return any(path == each or each in path.parents for each in _system())


def _outermost(paths: list[Path]) -> Iterator[Path]:
    """Those that lie in none of the others, and what is reached through a link beside."""
    for path in paths:
        if not any(each in path.parents for each in paths):
            yield path
