"""Built runtimes: Python packages that an organiser has installed for bots, and which runtime a name stands for.

`DATA/runtimes/NAME-HASH` is a runtime: `site` has its packages, `runtime.json` lists them. It appears as a whole and
never changes. `DATA/runtimes/NAME` is a link to the latest one, which new versions of bots use; existing versions keep
theirs.
"""

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena.bots.blobs import remove_unpacked
from arena.bots.runtime_file import HASH_CHARS, LockedWheel, is_name
from arena.bots.wheels import python_here
from arena.sandbox.command import BadCommand

SITE: Final = "site"
_ABOUT: Final = "runtime.json"
_LOCK: Final = ".lock"
_PARTIAL: Final = ".partial-"


@dataclass(frozen=True, slots=True)
class BuiltRuntime:
    """A built runtime."""

    name: str
    sha256: str
    python: str
    """The Python that its wheels are for, as `python_here` names it."""
    packages: tuple[str, ...]
    """All of them, as `numpy==2.1.3`."""
    folder: Path

    @property
    def site(self) -> Path:
        return self.folder / SITE

    @property
    def lacks(self) -> str:
        """Why it cannot run bots, and how to fix that; empty if it can."""
        if self.python == python_here():
            return ""
        return (
            f"{self.name} was built for {self.python}, and bots are run by {python_here()}: "
            "arena runtimes build it again"
        )


class BuiltRuntimes:
    """The built runtimes of a data folder. Calls block while they access the disk."""

    def __init__(self, data: Path) -> None:
        self.folder: Final = data / "runtimes"

    def all(self) -> tuple[BuiltRuntime, ...]:
        """Return the runtimes that new bots may name, by name."""
        names = sorted(path.name for path in self.folder.glob("*") if path.is_symlink())
        return tuple(built for name in names if (built := self.named(name)) is not None)

    def names(self) -> tuple[str, ...]:
        return tuple(built.name for built in self.all() if not built.lacks)

    def named(self, name: str) -> BuiltRuntime | None:
        """Return the runtime that new bots get by this name; None if there is none."""
        if not is_name(name):
            return None
        try:
            return _read(self.folder / (self.folder / name).readlink())
        except OSError:
            return None

    def of(self, sha256: str) -> BuiltRuntime | None:
        """Return the runtime with a hash, also an older one; None if it was removed."""
        runtimes = (_read(path) for path in self._folders())
        return next((built for built in runtimes if built and built.sha256 == sha256), None)

    @contextlib.contextmanager
    def changing(self, waits: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Hold the lock for building and removing runtimes within the block.

        `waits` is called if another process holds it.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / _LOCK).open("wb") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waits()
                fcntl.flock(held, fcntl.LOCK_EX)
            for left in self.folder.glob(f"{_PARTIAL}*"):  # of processes that were killed
                _remove(left)
            yield

    @contextlib.contextmanager
    def partial(self) -> Iterator[Path]:
        """Provide a hidden folder to build in; it is removed after the block unless `keep` was called."""
        folder = self.folder / f"{_PARTIAL}{secrets.token_hex(8)}"
        folder.mkdir()
        try:
            yield folder
        finally:
            _remove(folder)

    def keep(
        self, partial: Path, name: str, sha256: str, wheels: Sequence[LockedWheel]
    ) -> tuple[BuiltRuntime, bool]:
        """Make a folder with a `site` a runtime, and link its name to it. Call it within `changing`.

        Returns the runtime, and whether it is new: an existing one with the same contents stays.

        Raises `OSError` if it cannot be stored.
        """
        about = {
            "name": name,
            "sha256": sha256,
            "python": python_here(),
            "packages": sorted(wheel.pin for wheel in wheels),
        }
        (partial / _ABOUT).write_text(json.dumps(about, indent=2) + "\n", "utf-8")
        read_only(partial)
        folder = self.folder / f"{name}-{sha256[:HASH_CHARS]}"
        new = not folder.exists()
        if new:
            partial.chmod(0o755)  # renaming needs write permission
            partial.rename(folder)
            folder.chmod(0o555)
        self._point(name, folder.name)
        built = _read(folder)
        if built is None or built.sha256 != sha256:
            raise OSError(f"{folder} is damaged: remove it, and build again")
        return built, new

    def remove(self, name: str, kept: Container[str]) -> list[BuiltRuntime]:
        """Remove a name, and all runtimes that were built under it. Call it within `changing`.

        Runtimes whose hash is in `kept` stay; they are returned.
        """
        (self.folder / name).unlink(missing_ok=True)
        stay = []
        for folder in self._folders():
            built = _read(folder)
            if built is None or built.name != name:
                continue
            if built.sha256 in kept:
                stay.append(built)
                continue
            folder.chmod(0o755)
            gone = self.folder / f"{_PARTIAL}{secrets.token_hex(8)}"
            folder.rename(gone)  # a rename is atomic; removing all files takes a while
            _remove(gone)
        return stay

    def _folders(self) -> Iterator[Path]:
        for path in sorted(self.folder.glob("*-*")):
            if path.is_dir() and not path.is_symlink():
                yield path

    def _point(self, name: str, target: str) -> None:
        fresh = self.folder / f"{_PARTIAL}{secrets.token_hex(8)}"
        fresh.symlink_to(target)
        fresh.replace(self.folder / name)


def site_of(sha256: str, data: Path, name: str) -> Path:
    """Return the folder of packages of the runtime that a bot is pinned to.

    Raises `BadCommand` if the runtime is missing or cannot run bots.
    """
    built = BuiltRuntimes(data).of(sha256)
    if built is None:
        raise BadCommand(
            f"{name} is run by the runtime {sha256[:HASH_CHARS]}, which was removed: "
            "`arena runtimes build` makes it again from its TOML and its lock"
        )
    if built.lacks:
        raise BadCommand(f"{name} cannot be run: {built.lacks}")
    return built.site.absolute()


def read_only(folder: Path) -> None:
    """Make a folder and its contents read-only, and readable for all users."""
    for below, folders, files in os.walk(folder):
        for path in (Path(below, name) for name in (*folders, *files)):
            if path.is_symlink():
                continue
            mode = path.stat().st_mode
            path.chmod(0o555 if path.is_dir() or mode & 0o100 else 0o444)
    folder.chmod(0o555)


def _remove(path: Path) -> None:
    if path.is_symlink():
        path.unlink()
    else:
        remove_unpacked(path)


def _read(folder: Path) -> BuiltRuntime | None:
    """Return the runtime in a folder; None if there is none."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        about: Any = json.loads((folder / _ABOUT).read_text("utf-8"))
        packages = tuple(map(str, about["packages"]))
        built = BuiltRuntime(about["name"], about["sha256"], about["python"], packages, folder)
        return built if folder.name == f"{built.name}-{built.sha256[:HASH_CHARS]}" else None
    return None
