"""Builds runtimes: finds the requested wheels once, locks them by hash, and installs them in a folder.

Only wheels are used, so no code of a package runs during a build. A build that is killed leaves a hidden folder, which
the next build removes.
"""

import hashlib
import importlib.metadata
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol

from packaging.utils import parse_wheel_filename

from arena.bots.blobs import remove_unpacked
from arena.bots.built_runtimes import SITE, BuiltRuntime, BuiltRuntimes
from arena.bots.runtime_file import (
    BadRuntime,
    LockedWheel,
    RuntimeFile,
    lock_text,
    read_lock,
    read_runtime,
    runtime_sha256,
)
from arena.bots.wheels import python_here
from arena.validation import text_of

SDK: Final = "cardarena"
_DOWNLOADING: Final = re.compile(r"\s*(?:Downloading|Using cached) (?P<file>[^\s/]+\.whl)\b.*")
_PROGRESS: Final = re.compile(r"\s*Progress (?P<done>\d+) of (?P<size>\d+)")
_ERROR: Final = "ERROR: "


class NotBuilt(Exception):
    """The runtime cannot be built; the text says why."""


class BuildProgress(Protocol):
    """Shows the progress of a build."""

    def __call__(self, what: str, done: int = 0, size: int = 0) -> None:
        """Show the current step, with done and total bytes of a download."""
        ...


def build(
    path: Path,
    data: Path,
    progress: BuildProgress,
    *,
    found_in: Path | None = None,
    run: Callable[[Sequence[str]], Iterator[str]] | None = None,
) -> tuple[BuiltRuntime, bool]:
    """Build the runtime that a TOML requests; return it, and whether it is new.

    The lock beside the TOML lists the wheels. Without a lock, or if the requested packages have changed, the wheels are
    found and the lock is written.

    Args:
      found_in: A folder with all wheels; by default pip uses its configured index.
      run: Runs pip with these arguments, and yields the lines of its output.

    Raises `BadRuntime` or `NotBuilt` if it cannot be built, and `OSError` if a file cannot be read or written.
    """
    asked = read_runtime(text_of(path.read_bytes(), BadRuntime))
    pip = _Pip(run or _run_pip, found_in, progress)
    lock = path.with_suffix(".lock")
    locked = None
    if lock.exists():
        locked = read_lock(text_of(lock.read_bytes(), BadRuntime), asked, python_here())
    runtimes = BuiltRuntimes(data)
    with (
        runtimes.changing(lambda: progress("waiting for another build")),
        runtimes.partial() as partial,
    ):
        there = None if locked is None else runtimes.of(runtime_sha256(python_here(), locked))
        if locked is not None and there is not None and there.name == asked.name:
            return runtimes.keep(partial, asked.name, there.sha256, locked)
        wheels = _wheels(pip, asked, locked, partial)
        if not wheels:
            raise NotBuilt(f"{path} requests no package that this system needs")
        progress("installing")
        (partial / SITE).mkdir()
        pip.install(partial / "requirements", partial / "wheels", partial / SITE)
        remove_unpacked(partial / "wheels")
        (partial / "requirements").unlink()
        if locked is None:
            _replace(lock, lock_text(asked, python_here(), wheels))
        return runtimes.keep(partial, asked.name, runtime_sha256(python_here(), wheels), wheels)


def _wheels(
    pip: "_Pip", asked: RuntimeFile, locked: tuple[LockedWheel, ...] | None, partial: Path
) -> tuple[LockedWheel, ...]:
    """Download the wheels into a folder: those of the lock, or else those that pip finds."""
    folder, requirements = partial / "wheels", partial / "requirements"
    folder.mkdir()
    if locked is None:
        (partial / "asked").write_text(
            "".join(f"{package}\n" for package in asked.packages), "utf-8"
        )
        (partial / "sdk").write_text("".join(f"{package}\n" for package in of_the_sdk()), "utf-8")
        pip.find(partial / "asked", partial / "sdk", folder)
        for name in ("asked", "sdk"):
            (partial / name).unlink()
    else:
        requirements.write_text(lock_text(asked, python_here(), locked), "utf-8")
        pip.fetch(requirements, folder)
    wheels = tuple(sorted(map(_locked, folder.iterdir()), key=lambda wheel: wheel.name))
    if locked is None:
        requirements.write_text(lock_text(asked, python_here(), wheels), "utf-8")
    return wheels


def of_the_sdk() -> tuple[str, ...]:
    """Return the requirements of the SDK, with which all packages of a runtime must be compatible."""
    try:
        wanted = importlib.metadata.requires(SDK) or []
    except importlib.metadata.PackageNotFoundError:
        return ()
    return tuple(requirement for requirement in wanted if "extra ==" not in requirement)


class _Pip:
    def __init__(
        self,
        run: Callable[[Sequence[str]], Iterator[str]],
        found_in: Path | None,
        progress: BuildProgress,
    ) -> None:
        self._run = run
        self._progress = progress
        # Without a folder, pip uses its own settings.
        self._where = _only_in(found_in) if found_in else []

    def find(self, asked: Path, held_to: Path, folder: Path) -> None:
        self._run_pip(
            *("download", "--dest", str(folder), "--progress-bar", "raw"),
            *("--requirement", str(asked), "--constraint", str(held_to), *self._where),
        )

    def fetch(self, lock: Path, folder: Path) -> None:
        self._run_pip(
            *("download", "--dest", str(folder), "--progress-bar", "raw", "--no-deps"),
            *("--require-hashes", "--requirement", str(lock), *self._where),
        )

    def install(self, lock: Path, wheels: Path, site: Path) -> None:
        self._run_pip(
            *("install", "--target", str(site), "--no-deps", "--require-hashes", "--no-cache-dir"),
            *("--requirement", str(lock), *_only_in(wheels)),
        )

    def _run_pip(self, *words: str) -> None:
        errors, file = [], ""
        try:
            for line in self._run((*words, "--only-binary", ":all:")):
                if line.startswith(_ERROR):
                    errors.append(line.removeprefix(_ERROR).strip())
                elif match := _DOWNLOADING.fullmatch(line):
                    file = match["file"]
                    self._progress(file)
                elif shown := _PROGRESS.fullmatch(line):
                    self._progress(file, int(shown["done"]), int(shown["size"]))
        except subprocess.CalledProcessError as error:
            why = errors[-1] if errors else f"it ended with exit code {error.returncode}"
            raise NotBuilt(
                f"pip has no wheels of it for {python_here()}: {why}"
                if words[0] == "download"
                else f"pip cannot install it: {why}"
            ) from error


def _only_in(folder: Path) -> list[str]:
    """Options with which pip uses a folder, and neither an index nor its settings."""
    return ["--isolated", "--no-index", "--find-links", str(folder)]


def _run_pip(words: Sequence[str]) -> Iterator[str]:
    command = [sys.executable, "-m", "pip", *words]
    # Output is read line by line, and pip must not ask questions.
    command += ["--no-input", "--disable-pip-version-check", "--no-color"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    assert process.stdout is not None
    try:
        with process.stdout as lines:
            for line in lines:
                yield line.rstrip("\n")
        if code := process.wait():
            raise subprocess.CalledProcessError(code, command)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _locked(path: Path) -> LockedWheel:
    if path.suffix != ".whl":
        raise NotBuilt(f"pip found {path.name}, which is no wheel")
    name, version, _, _ = parse_wheel_filename(path.name)
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return LockedWheel(name, str(version), sha256)


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_text(text, "utf-8")
    partial.replace(path)
