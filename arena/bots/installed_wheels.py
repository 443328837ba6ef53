"""Installs the wheels of a submission with pip, in the sandbox; only their bot sees the packages.

`DATA/installed/SHA256` has the packages of a set of wheels and is read-only; versions with the same wheels share it. It
appears as a whole. pip has no network and no index, builds nothing, and writes to one folder, which is checked before
it is used.
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

from arena.bots.archive import MAX_FILES, MAX_UNPACKED_BYTES
from arena.bots.blobs import remove_unpacked
from arena.bots.built_runtimes import read_only
from arena.bots.wheels import FOLDER, Wheel, wheels_sha256
from arena.sandbox.command import BadCommand, BotCommand
from arena.sandbox.output import LOG_SUFFIX, read_output
from arena.sandbox.process import launch
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.spawner.order import MB, ResourceLimits

INSTALL_S: Final = 60.0
MAX_INSTALLED_FILES: Final = 3 * MAX_FILES
"""pip compiles each module and adds some files for each wheel."""
MAX_INSTALLED_BYTES: Final = 2 * MAX_UNPACKED_BYTES
LIMITS: Final = ResourceLimits(memory_bytes=1024 * MB, file_bytes=MAX_UNPACKED_BYTES, cpu_s=120)

INSTALLED: Final = "installed"
"""The folder of installed wheels in the data folder."""

_PARTIAL: Final = "."
_NAME: Final = "wheels"
_OF_SYSTEM: Final = (Path("/etc/os-release"), Path("/etc/debian_version"))
"""pip reads which system it runs on, and fails at S1 without these files."""
_ERROR: Final = "ERROR: "
_RUN_PIP: Final = (
    # pip unpacks more than fits into the memory limit, so its temporary files are on disk.
    "import os, runpy, sys; os.mkdir(sys.argv[1]); os.environ['TMPDIR'] = sys.argv[1]; "
    "sys.argv = ['pip', *sys.argv[2:]]; runpy.run_module('pip', run_name='__main__', alter_sys=True)"
)


class NotInstalled(Exception):
    """The wheels cannot be installed; the text says why."""


def folder_of(wheels: Sequence[Wheel], root: Path) -> Path:
    """Return the folder of the packages of these wheels once they are installed."""
    return root.absolute() / wheels_sha256(wheels)


async def install(
    wheels: Sequence[Wheel], unpacked: Path, root: Path, sandbox: Sandbox | None
) -> Path:
    """Install wheels unless they are installed; return the folder of their packages.

    Args:
      wheels: All wheels of the submission, at least one.
      unpacked: The folder of the submission's files, absolute.
      root: The folder of installed wheels.
      sandbox: The sandbox that pip runs in; without one it runs as the current user.

    Raises `NotInstalled` if pip refuses them, and `OSError` if they cannot be stored.
    """
    folder = folder_of(wheels, root)
    if await trio.Path(folder).is_dir():
        return folder
    partial = folder.with_name(f"{_PARTIAL}{secrets.token_hex(8)}")
    work, log = partial / "work", partial / f"{_NAME}{LOG_SUFFIX}"
    try:
        await trio.to_thread.run_sync(_make, work, wheels, unpacked)
        # pip reads the submitted files; with -I it imports none of them.
        reads = (unpacked, *_OF_SYSTEM)
        command = BotCommand(_NAME, _words(work), LIMITS, packages=reads, writes=work)
        try:
            process = await launch(command, partial / _NAME, {}, sandbox=sandbox)
        except BadCommand as error:
            raise NotInstalled(str(error)) from error
        with trio.move_on_after(INSTALL_S) as scope:
            await process.watch()
        if scope.cancelled_caught:
            raise NotInstalled(f"pip did not end within {INSTALL_S:.0f} s")
        if process.returncode != 0:
            printed = await trio.to_thread.run_sync(_why, log)
            raise NotInstalled(printed.replace(f"{unpacked}/", "") or f"pip {process.how_it_ended}")
        await trio.to_thread.run_sync(_keep, work / "site", folder)
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(remove_unpacked, partial)
    return folder


def clear(root: Path) -> None:
    """Remove unfinished installations of earlier processes. No installation may run."""
    for left in root.glob(f"{_PARTIAL}*"):
        remove_unpacked(left)


def _make(work: Path, wheels: Sequence[Wheel], unpacked: Path) -> None:
    work.mkdir(parents=True)
    lines = [
        f"{wheel.name} @ {(unpacked / FOLDER / wheel.file).as_uri()} --hash=sha256:{wheel.sha256}\n"
        for wheel in wheels
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
    """Return the error that pip printed; empty if it printed none."""
    with contextlib.suppress(OSError):
        lines = [line.text for line in read_output(log) if not line.by_arena and line.text.strip()]
        errors = [line.removeprefix(_ERROR) for line in lines if line.startswith(_ERROR)]
        # "Exception:" is followed by a traceback, whose last line is the error.
        reasons = [line for line in errors if not line.endswith(":")] or lines
        return reasons[-1] if reasons else ""
    return ""


def _keep(site: Path, folder: Path) -> None:
    """Move installed packages into place, if they are plain files within the limits."""
    files = size_bytes = 0
    for below, folders, names in os.walk(site):
        for path in (Path(below, name) for name in (*folders, *names)):
            status = path.lstat()
            if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
                raise NotInstalled(
                    f"{path.relative_to(site)} is no plain file once it is installed"
                )
            files += 1
            size_bytes += status.st_size
    if files > MAX_INSTALLED_FILES or size_bytes > MAX_INSTALLED_BYTES:
        raise NotInstalled(
            f"installed they are {files} files of {size_bytes} bytes, which is too much"
        )
    if os.getuid() == 0:
        _own(site)
    read_only(site)
    site.chmod(0o755)  # renaming needs write permission
    try:
        site.rename(folder)
    except OSError:  # another process may have installed them already
        if not folder.is_dir():
            raise
    else:
        folder.chmod(0o555)


def _own(site: Path) -> None:
    """Change the owner of the files to root, as another bot gets the same user later."""
    for below, folders, names in os.walk(site):
        for path in (Path(below), *(Path(below, name) for name in (*folders, *names))):
            os.chown(path, 0, 0, follow_symlinks=False)
