"""Wheels that came in a submission, installed: by pip, behind the wall, and seen by their bot alone.

`DATA/installed/SHA256` are the packages of a set of wheels, which nobody may write to; two versions with the
same wheels share it. It is there wholly or not at all. pip has no network and no index there, builds
nothing, and writes in one folder, which is looked over before anybody reads it.
"""

import contextlib
import os
import secrets
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import trio

from arena.competition.archive import MAX_FILES, MAX_UNPACKED_BYTES
from arena.competition.wheels import FOLDER, Wheel, wheels_sha256
from arena.jail import LOG_SUFFIX, BadCommand, BotCommand, Limits, Wall, launch, read_output
from arena.jailer.cell import MB
from arena.server.submissions.built_runtimes import read_only
from arena.store.blobs import remove_unpacked

INSTALL_S: Final = 60.0
"""Longest that it may take."""
MAX_INSTALLED_FILES: Final = 3 * MAX_FILES
"""pip compiles each module, and notes a few things of each wheel."""
MAX_INSTALLED_BYTES: Final = 2 * MAX_UNPACKED_BYTES
LIMITS: Final = Limits(memory_bytes=1024 * MB, file_bytes=MAX_UNPACKED_BYTES, cpu_s=120)

INSTALLED: Final = "installed"
"""The folder of an arena's data that they are in."""

_PARTIAL: Final = "."
_NAME: Final = "wheels"
_OF_SYSTEM: Final = (Path("/etc/os-release"), Path("/etc/debian_version"))
"""pip looks which system it is on, and ends at S1 if it is kept from that."""
_ERROR: Final = "ERROR: "
_RUN_PIP: Final = (
    # What pip unpacks for a moment is more than fits into memory.
    "import os, runpy, sys; os.mkdir(sys.argv[1]); os.environ['TMPDIR'] = sys.argv[1]; "
    "sys.argv = ['pip', *sys.argv[2:]]; runpy.run_module('pip', run_name='__main__', alter_sys=True)"
)


class NotInstalled(Exception):
    """The wheels cannot be installed; the text says why."""


def folder_of(wheels: Sequence[Wheel], root: Path) -> Path:
    """Where the packages of these wheels are, once they are installed."""
    return root.absolute() / wheels_sha256(wheels)


async def install(wheels: Sequence[Wheel], unpacked: Path, root: Path, wall: Wall | None) -> Path:
    """The folder of the packages of these wheels, installed if they were not yet.

    Args:
      wheels: Some, and all that lie in the submission.
      unpacked: The folder of the submission's files, absolute.
      root: What was installed is in it, and is once for all who have the same wheels.
      wall: What pip runs behind; without one it runs as the user who runs this.

    Raises:
      NotInstalled: if pip refuses them.
      OSError: if they cannot be kept.
    """
    folder = folder_of(wheels, root)
    if await trio.Path(folder).is_dir():
        return folder
    partial = folder.with_name(f"{_PARTIAL}{secrets.token_hex(8)}")
    work, log = partial / "work", partial / f"{_NAME}{LOG_SUFFIX}"
    try:
        await trio.to_thread.run_sync(_make, work, wheels, unpacked)
        # It reads what was submitted; by -I it imports nothing of that.
        reads = (unpacked, *_OF_SYSTEM)
        command = BotCommand(_NAME, _words(work), LIMITS, packages=reads, writes=work)
        try:
            process = await launch(command, partial / _NAME, {}, wall=wall)
        except BadCommand as error:
            raise NotInstalled(str(error)) from error
        with trio.move_on_after(INSTALL_S) as scope:
            await process.watch()
        if scope.cancelled_caught:
            raise NotInstalled(f"pip did not end within {INSTALL_S:.0f} s")
        if process.returncode != 0:
            told = await trio.to_thread.run_sync(_why, log)
            raise NotInstalled(told.replace(f"{unpacked}/", "") or f"pip {process.how_it_ended}")
        await trio.to_thread.run_sync(_keep, work / "site", folder)
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(remove_unpacked, partial)
    return folder


def clear(root: Path) -> None:
    """Remove what was left by processes that were ended while they installed; none may run."""
    for left in root.glob(f"{_PARTIAL}*"):
        remove_unpacked(left)


def _make(work: Path, wheels: Sequence[Wheel], unpacked: Path) -> None:
    work.mkdir(parents=True)
    lines = [
        f"{each.name} @ {(unpacked / FOLDER / each.file).as_uri()} --hash=sha256:{each.sha256}\n"
        for each in wheels
    ]
    (work / "requirements").write_text("".join(lines), "utf-8")


def _words(work: Path) -> tuple[str, ...]:
    return (
        *(sys.executable, "-I", "-c", _RUN_PIP, str(work / "tmp")),
        *("--isolated", "install", "--no-index", "--only-binary", ":all:", "--no-deps"),
        *("--require-hashes", "--requirement", str(work / "requirements")),
        *("--target", str(work / "site"), "--no-cache-dir", "--no-input", "--no-color"),
        *("--disable-pip-version-check", "--progress-bar", "off", "--quiet"),
    )


def _why(log: Path) -> str:
    """What pip printed, as a sentence; empty if it is none."""
    with contextlib.suppress(OSError):
        lines = [line.text for line in read_output(log) if not line.by_arena and line.text.strip()]
        errors = [line.removeprefix(_ERROR) for line in lines if line.startswith(_ERROR)]
        # "Exception:" is followed by a traceback, of which the last line says most.
        said = [line for line in errors if not line.endswith(":")] or lines
        return said[-1] if said else ""
    return ""


def _keep(site: Path, folder: Path) -> None:
    """Take in what was installed, if it is nothing but plain files, and no more than there may be."""
    files = size_bytes = 0
    for below, folders, names in os.walk(site):
        for path in (Path(below, each) for each in (*folders, *names)):
            found = path.lstat()
            if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
                raise NotInstalled(
                    f"{path.relative_to(site)} is no plain file once it is installed"
                )
            files += 1
            size_bytes += found.st_size
    if files > MAX_INSTALLED_FILES or size_bytes > MAX_INSTALLED_BYTES:
        raise NotInstalled(
            f"installed they are {files} files of {size_bytes} bytes, which is too much"
        )
    if os.getuid() == 0:
        _own(site)
    read_only(site)
    site.chmod(0o755)  # to be renamed a folder must be open to its owner
    try:
        site.rename(folder)
    except OSError:  # another process may have been faster
        if not folder.is_dir():
            raise
    else:
        folder.chmod(0o555)


def _own(site: Path) -> None:
    """Take what a bot's user wrote: another bot has that user later."""
    for below, folders, names in os.walk(site):
        for path in (Path(below), *(Path(below, each) for each in (*folders, *names))):
            os.chown(path, 0, 0, follow_symlinks=False)
