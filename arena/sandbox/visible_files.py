"""The files that a sandboxed bot may read: its folder, its runtime, and `--ro` paths.

Home folders and the arena's data are never shown, because they have secrets.
"""

import contextlib
import importlib.util
import os
import shutil
import site
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from arena.sandbox.command import BotCommand
from arena.sandbox.spawner.memory_files import PROGRAMS, is_of_system

_SDK: Final = ("cardarena", "arena")
"""Packages that bots import; in a checkout they are outside of the Python installation."""
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
_STANDARD_LIBRARY: Final = Path(sysconfig.get_path("stdlib"))
_PARTS_OMITTED: Final = ("dist-packages", "ensurepip", "idlelib", "site-packages", "test")
_MAX_LINE_BYTES: Final = 256
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
    fresh: tuple[Path, ...] = ()
    """The paths that may change while the arena runs, without runtimes, packages and paths of the system."""
    omitted: tuple[Path, ...] = ()
    """Folders below the paths that are hidden from a bot with its files in memory."""
    in_memory: bool = False
    """Whether the bot sees only those paths of the system that it needs."""

    def holds(self, path: Path) -> bool:
        if any(path == shown or shown in path.parents for shown in self.paths):
            return True
        return is_system(path) and (
            not self.in_memory or path.name in PROGRAMS or ".so" in path.name
        )

    def has_folder(self, folder: Path) -> bool:
        """Return whether the bot sees a folder of its files, with at least one of the files."""
        return not is_system(folder) and any(
            path == folder or path in folder.parents or folder in path.parents
            for path in self.paths
        )


def visible_to(
    command: BotCommand, data: Path, read_only: Sequence[Path] = (), *, in_memory: bool = False
) -> VisibleFiles:
    """Return the files that the bot of a command may read.

    Args:
      data: The arena's data folder.
      read_only: Further files and folders.
      in_memory: Whether it reads copies in memory. Then paths of the system are included, because
        it sees no others.
    """
    program = Path(command.own_argv[0])
    is_submitted = command.files is not None
    named = command.named_paths
    installed = [str(path) for path in named if path.parent.name == "bin"]
    programs = dict.fromkeys((command.argv[0], str(program), *_interpreter(program), *installed))
    runtime = [path for name in programs for path in runtime_of(name, data)]
    runtime += _linked_packages(runtime) if is_submitted else _packages(data)
    paths = []
    alone, why = None, ""
    first, folder = command.first_file, command.folder
    if not is_system(first):
        shown = _without_data(folder, data)
        paths += shown
        if not shown and not first.is_dir():
            alone, why = first, why_never(folder, None) or why_never(folder, data)
    if first.suffix in _OF_NODE:
        paths += _packages_of_node(first, data)
    paths += [path for path in (*named, program) if not (path.is_dir() and why_never(path, data))]
    for word in () if is_submitted else os.environ.get("PYTHONPATH", "").split(os.pathsep):
        if word and not why_never(path := Path(word).absolute(), data):
            paths.append(path)
    runtime += command.packages
    paths += read_only
    omitted = _not_for_bots() if in_memory else ()
    kept = {
        kept_path: path in paths
        for path in (*runtime, *paths)
        if command.writes not in (path, *path.parents)  # that path is bound writable
        for kept_path in (path, path.resolve())
        if in_memory or not is_system(kept_path)
    }
    outermost = _outermost(list(kept), omitted)
    return VisibleFiles(
        tuple(outermost),
        alone,
        why,
        fresh=tuple(path for path in outermost if kept[path] and not is_system(path)),
        omitted=omitted,
        in_memory=in_memory,
    )


def _without_data(folder: Path, data: Path) -> list[Path]:
    """Return the folder, without the arena's data if they are in it; nothing for a folder that is never shown.

    Links in a folder with data are shown only if they stay in it, since their targets are shown too.
    """
    if not why_never(folder, data):
        return [folder]
    real_folder, real_data = folder.resolve(), data.resolve()
    if why_never(folder, None) or real_folder == real_data:
        return []
    shown = []
    for path in folder.iterdir():
        real = path.resolve()
        stays = real_folder in real.parents and real_data not in real.parents
        if stays and not why_never(path, data):
            shown.append(path)
    return shown


def why_never(folder: Path, data: Path | None) -> str:
    """Return why a folder is never shown to a bot, as part of a sentence; empty if it may be."""
    home = _home()
    for path in {folder, folder.resolve()}:
        if data is not None and (data.resolve() == path or path in data.resolve().parents):
            return f"holds the arena's data, {with_tilde(data)}"
        if str(path) in _NO_FOLDERS or path in home.parents:
            return "is not a bot's own"
        if path in {home / name for name in _NO_FOLDERS_OF_HOME}:
            return "is your home folder, or has private files of your programs"
    return ""


def runtime_of(program: str, data: Path | None = None) -> tuple[Path, ...]:
    """Return the folders in which a program is installed, such as a venv and the Python below it."""
    folders: list[Path] = []
    path = Path(program)
    for _ in range(_LINKS):
        folders += [path] if is_system(path) else _installation(path, data)
        if not path.is_symlink():
            break
        path = Path(os.path.normpath(path.parent / path.readlink()))
    if program == sys.executable:
        folders += [
            prefix for prefix in (Path(sys.prefix), Path(sys.base_prefix)) if not is_system(prefix)
        ]
        folders += _shared_library()
    if os.path.realpath(program) == os.path.realpath(sys.executable):
        folders.append(_STANDARD_LIBRARY)
    return tuple(dict.fromkeys(folders))


def with_tilde(path: Path) -> str:
    """Return a path with ~ for the home folder."""
    home = _home()
    return f"~/{path.relative_to(home)}" if home in path.parents else str(path)


def _home() -> Path:
    """Return the home folder; a path that does not exist for a user without one."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def _installation(path: Path, data: Path | None) -> Iterator[Path]:
    """Yield the installation of a program in a folder `bin`: the folder above, and a venv's Python."""
    if path.parent.name != "bin":
        return
    above = path.parents[1]
    if not why_never(above, data):
        yield above
    settings = above / "pyvenv.cfg"
    if settings.is_file():
        for line in settings.read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition("=")
            if name.strip() == "home" and not is_system(base := Path(value.strip()).parent):
                yield base  # of the base Python, the program and the standard library are enough


def _packages_of_node(first: Path, data: Path) -> Iterator[Path]:
    """Yield the packages that Node finds in the folders above a file, and the targets of their links."""
    for above in first.parents:
        if why_never(above, data):
            return
        yield above / "package.json"
        modules = above / "node_modules"
        if modules.is_dir():
            yield modules
            for package in (*modules.iterdir(), *modules.glob("@*/*")):
                if package.is_symlink() and not why_never(package.resolve(), data):
                    yield package.resolve()


def _interpreter(program: Path) -> Iterator[str]:
    with contextlib.suppress(OSError), program.open("rb") as file:
        words = os.fsdecode(file.readline(_MAX_LINE_BYTES)).split()
        if words and words[0].startswith("#!"):
            first, *rest = (
                (words[0].removeprefix("#!"), *words[1:]) if words[0] != "#!" else words[1:]
            )
            yield first
            if Path(first).name == "env":
                name = next((word for word in rest if not word.startswith("-")), "")
                path = os.pathsep.join(
                    (str(Path(sys.executable).parent), os.environ.get("PATH", ""))
                )
                if interpreter := shutil.which(name, path=path):
                    yield interpreter


def _shared_library() -> Iterator[Path]:
    folder = sysconfig.get_config_var("LIBDIR")
    if folder and sysconfig.get_config_var("Py_ENABLE_SHARED") and not is_system(Path(folder)):
        yield Path(folder)


def _not_for_bots() -> tuple[Path, ...]:
    """Folders of the Python below a virtual environment that its programs do not import, or need not."""
    names = [folder.name for folder in _STANDARD_LIBRARY.glob("config-*")]
    below = [_STANDARD_LIBRARY / name for name in (*_PARTS_OMITTED, *names)]
    beside = Path(sys.base_prefix) / "lib" / "python3" / "dist-packages"  # of Debian
    return (*below, beside)


def _linked_packages(runtime: Sequence[Path]) -> Iterator[Path]:
    """Yield the packages that the environment of submitted bots links to (`arena.bots.bot_python`)."""
    for folder in runtime:
        if (folder / "pyvenv.cfg").is_file():
            for site_folder in folder.glob("lib/python*/site-packages"):
                for package in (*site_folder.iterdir(), *site_folder.glob("*/*")):
                    if package.is_symlink():
                        yield package.resolve()


def _packages(data: Path) -> Iterator[Path]:
    for name in _SDK:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            package = Path(spec.origin).parent
            # Python lists the folder of a package, which S1 would not allow otherwise.
            above = package.parent
            yield above if name == _SDK[0] and not why_never(above, data) else package
    for folder in site.getsitepackages():
        yield Path(folder)


def is_system(path: Path) -> bool:
    """Return whether a path is in the folders of system programs and libraries."""
    return is_of_system(str(path))


def _outermost(paths: list[Path], omitted: Sequence[Path]) -> list[Path]:
    """Return the paths that are in none of the others, or in a folder that is omitted there."""

    def is_within(path: Path, outer: Path) -> bool:
        return outer in path.parents and not any(
            outer in hidden.parents and hidden in (path, *path.parents) for hidden in omitted
        )

    return [path for path in paths if not any(is_within(path, outer) for outer in paths)]
