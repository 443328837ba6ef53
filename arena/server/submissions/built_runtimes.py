"""Runtimes that an organiser built for Python bots: what is in them, and which is meant by a name.

`DATA/runtimes/NAME-HASH` is one: `site` has its packages, `runtime.json` says what they are. It is
there wholly or not at all, and never changes. `DATA/runtimes/NAME` leads to the one that was built last,
which new versions of bots get; a version that has one keeps it.
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

from arena.competition.runtime_file import HASH_CHARS, LockedWheel, is_name
from arena.competition.wheels import python_here
from arena.jail import BadCommand
from arena.store.blobs import remove_unpacked

SITE: Final = "site"
_ABOUT: Final = "runtime.json"
_LOCK: Final = ".lock"
_PARTIAL: Final = ".partial-"


@dataclass(frozen=True, slots=True)
class BuiltRuntime:
    """A runtime that was built."""

    name: str
    sha256: str
    python: str
    """What its wheels are for, as `python_here` tells it."""
    packages: tuple[str, ...]
    """All of them, as `numpy==2.1.3`."""
    folder: Path

    @property
    def site(self) -> Path:
        """Where its packages are."""
        return self.folder / SITE

    @property
    def lacks(self) -> str:
        """Why bots cannot be run by it, with what mends it; empty if they can."""
        if self.python == python_here():
            return ""
        return (
            f"{self.name} was built for {self.python}, and bots are run by {python_here()}: "
            "arena runtimes build it again"
        )


class BuiltRuntimes:
    """Those of a data folder. Calls block for as long as the disk takes."""

    def __init__(self, data: Path) -> None:
        self.folder: Final = data / "runtimes"

    def all(self) -> tuple[BuiltRuntime, ...]:
        """Those that new bots may name, by name."""
        names = sorted(path.name for path in self.folder.glob("*") if path.is_symlink())
        return tuple(found for name in names if (found := self.named(name)) is not None)

    def names(self) -> tuple[str, ...]:
        """The names of those by which bots can be run."""
        return tuple(each.name for each in self.all() if not each.lacks)

    def named(self, name: str) -> BuiltRuntime | None:
        """The one that a new bot gets by this name; None if there is none."""
        if not is_name(name):
            return None
        try:
            return _read(self.folder / (self.folder / name).readlink())
        except OSError:
            return None

    def of(self, sha256: str) -> BuiltRuntime | None:
        """The one with a hash, whichever bots get now; None if it is gone."""
        found = (_read(path) for path in self._folders())
        return next((each for each in found if each and each.sha256 == sha256), None)

    @contextlib.contextmanager
    def changing(self, waits: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Be the only one who builds or removes, for as long as this process lives at most.

        `waits` hears that somebody else is, and that it is waited for.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / _LOCK).open("wb") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waits()
                fcntl.flock(held, fcntl.LOCK_EX)
            for left in self.folder.glob(f"{_PARTIAL}*"):  # by who was ended
                _remove(left)
            yield

    @contextlib.contextmanager
    def partial(self) -> Iterator[Path]:
        """A folder to build in, which nobody sees; it is gone afterwards, unless it was kept."""
        folder = self.folder / f"{_PARTIAL}{secrets.token_hex(8)}"
        folder.mkdir()
        try:
            yield folder
        finally:
            _remove(folder)

    def keep(
        self, partial: Path, name: str, sha256: str, wheels: Sequence[LockedWheel]
    ) -> tuple[BuiltRuntime, bool]:
        """Take in a folder with a `site` as a runtime, and have its name lead to it.

        Returns it, and whether it is new: one of the same contents stays as it is. Nobody else may be
        `changing` anything meanwhile.

        Raises:
          OSError: if it cannot be kept.
        """
        about = {
            "name": name,
            "sha256": sha256,
            "python": python_here(),
            "packages": sorted(each.pin for each in wheels),
        }
        (partial / _ABOUT).write_text(json.dumps(about, indent=2) + "\n", "utf-8")
        read_only(partial)
        folder = self.folder / f"{name}-{sha256[:HASH_CHARS]}"
        new = not folder.exists()
        if new:
            partial.chmod(0o755)  # to be renamed a folder must be open to its owner
            partial.rename(folder)
            folder.chmod(0o555)
        self._point(name, folder.name)
        found = _read(folder)
        if found is None or found.sha256 != sha256:
            raise OSError(f"{folder} is damaged: remove it, and build again")
        return found, new

    def remove(self, name: str, kept: Container[str]) -> list[BuiltRuntime]:
        """Let no new bot name a runtime, and remove all that were built under the name.

        Those stay whose hash is among `kept`; they are returned. Others must not change it meanwhile.
        """
        (self.folder / name).unlink(missing_ok=True)
        stay = []
        for folder in self._folders():
            found = _read(folder)
            if found is None or found.name != name:
                continue
            if found.sha256 in kept:
                stay.append(found)
                continue
            folder.chmod(0o755)
            gone = self.folder / f"{_PARTIAL}{secrets.token_hex(8)}"
            folder.rename(gone)  # at once; to remove all its files takes a while
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
    """The packages of the runtime that a bot is pinned to.

    Raises:
      BadCommand: if bots cannot be run by it.
    """
    found = BuiltRuntimes(data).of(sha256)
    if found is None:
        raise BadCommand(
            f"{name} is run by the runtime {sha256[:HASH_CHARS]}, which is not here any more: "
            "`arena runtimes build` makes it again of the TOML and the lock that it was made of"
        )
    if found.lacks:
        raise BadCommand(f"{name} cannot be run: {found.lacks}")
    return found.site.absolute()


def read_only(folder: Path) -> None:
    """Let nobody write to a folder and what is in it, and everybody read it."""
    for below, folders, files in os.walk(folder):
        for each in (Path(below, name) for name in (*folders, *files)):
            if each.is_symlink():
                continue
            mode = each.stat().st_mode
            each.chmod(0o555 if each.is_dir() or mode & 0o100 else 0o444)
    folder.chmod(0o555)


def _remove(path: Path) -> None:
    """Remove what is left of a build, if anything is."""
    if path.is_symlink():
        path.unlink()
    else:
        remove_unpacked(path)


def _read(folder: Path) -> BuiltRuntime | None:
    """A runtime by its folder; None if it is none."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        about: Any = json.loads((folder / _ABOUT).read_text("utf-8"))
        packages = tuple(map(str, about["packages"]))
        found = BuiltRuntime(about["name"], about["sha256"], about["python"], packages, folder)
        return found if folder.name == f"{found.name}-{found.sha256[:HASH_CHARS]}" else None
    return None
