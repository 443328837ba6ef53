"""Checks the wheels of a submission, `wheels/*.whl`, without installing them.

A wheel is a zip in a zip and must keep the rules of archives. The limits of an archive count its own
files and the unpacked files of all its wheels together.
"""

import base64
import csv
import re
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.tags import Tag, sys_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from arena.bots.archive import BadArchive, BotArchive, extract, read_zip, twins
from arena.bots.contents import SubmittedFile
from arena.results.deal_sets import digest

FOLDER: Final = "wheels"
"""The folder of wheels in a submission; it may have no other files."""
MAX_RECORD_BYTES: Final = 1 << 20

_NEEDED: Final = ("METADATA", "RECORD", "WHEEL")
_OF_WHEEL: Final = re.compile(r"[^/]+\.dist-info/RECORD")
_DATA: Final = re.compile(r"[^/]+\.data/(?P<scheme>[^/]+)/(?P<path>.+)")
_UNHASHED: Final = ("RECORD", "RECORD.jws", "RECORD.p7s")
"""Files of `.dist-info` that RECORD does not hash: itself, and its signatures."""


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel of a submission."""

    file: str
    """Its file name, without the folder."""
    sha256: str
    name: str
    """The name of the package, as in requirements."""
    tags: frozenset[Tag]


def read_wheels(archive: BotArchive) -> tuple[Wheel, ...]:
    """Read and check all wheels of a submission; most have none.

    Raises:
      BadArchive: with all problems, each with the name of the file.
      OSError: if the archive cannot be read.
    """
    in_folder = [file for file in archive.files if file.path.startswith(f"{FOLDER}/")]
    if not in_folder:
        return ()
    wheels, problems = [], []
    for file in in_folder:
        try:
            wheels.append(_wheel(file))
        except ValueError as error:
            problems.append(f"{file.path}: {error}")
    if problems:
        raise BadArchive(problems)
    unpacked = list(archive.files)
    places: list[str] = []
    with tempfile.TemporaryDirectory(prefix="wheels-") as folder:
        extract(archive, Path(folder), frozenset(file.path for file in in_folder))
        for wheel in wheels:
            path = Path(folder, FOLDER, wheel.file)
            try:
                files = _read(path, unpacked)
            except BadArchive as error:
                # Stop here: the size limit of all wheels would be reported again for each further wheel.
                raise BadArchive(
                    [f"{FOLDER}/{wheel.file}: {problem}" for problem in error.problems]
                ) from None
            unpacked += files
            places += [_place(file.path) for file in files]
    problems = [f"{FOLDER}: {twin}" for twin in twins(places)]
    if problems:
        raise BadArchive(problems)
    return tuple(wheels)


def wheels_in(unpacked: Path) -> tuple[Wheel, ...]:
    """Return the wheels of a checked submission that is unpacked in a folder. Raises `OSError` if a wheel cannot be read."""
    wheels = []
    for path in sorted((unpacked / FOLDER).glob("*")):
        name = path.relative_to(unpacked).as_posix()
        wheels.append(_wheel(SubmittedFile.of(name, path.read_bytes())))
    return tuple(wheels)


def require_fitting(wheels: Sequence[Wheel]) -> None:
    """Require that all wheels fit this Python on this machine, which runs the bots.

    Raises `BadArchive` with the wheels that do not fit.
    """
    here = frozenset(sys_tags()) if wheels else frozenset()
    problems = [
        f"{FOLDER}/{wheel.file} is for another Python or system: the arena has {python_here()}"
        for wheel in wheels
        if not wheel.tags & here
    ]
    if problems:
        raise BadArchive(problems)


def python_here() -> str:
    """This Python and its system, as wheels depend on them: `cpython-311 linux-x86_64`."""
    return f"{sys.implementation.cache_tag} {sysconfig.get_platform()}"


def wheels_sha256(wheels: Sequence[Wheel]) -> str:
    """Return the hash of the packages that this Python installs from wheels, in any order."""
    return digest("wheels", python_here(), sorted((wheel.file, wheel.sha256) for wheel in wheels))


def _wheel(file: SubmittedFile) -> Wheel:
    """Return a wheel, from its file name. Raises `ValueError` if the file is no wheel; the text says why."""
    name = file.path.removeprefix(f"{FOLDER}/")
    if "/" in name:
        raise ValueError(f"move it to {FOLDER}/ itself, not to a folder in it")
    if not name.endswith(".whl"):
        raise ValueError(
            "this is no wheel, and an arena builds no packages: make one with `pip wheel`"
        )
    try:
        package, _, _, tags = parse_wheel_filename(name)
    except InvalidWheelFilename as error:
        raise ValueError("a wheel is named NAME-VERSION-PYTHON-ABI-SYSTEM.whl") from error
    return Wheel(name, file.sha256, package, tags)


def _read(path: Path, beside: Sequence[SubmittedFile]) -> tuple[SubmittedFile, ...]:
    """Return the files of a wheel. Raises `BadArchive` if it breaks a rule, or its RECORD has other files or hashes."""
    read = read_zip(path, _OF_WHEEL, MAX_RECORD_BYTES, lacks=_lacks, beside=beside)
    ((record, text),) = read.kept.items()
    listed = _hashes(text)
    about = record.removesuffix("RECORD")
    problems = []
    for file in read.files:
        if file.path in {f"{about}{name}" for name in _UNHASHED}:
            continue
        if file.path not in listed:
            problems.append(f"{record} does not list {file.path}")
        elif listed[file.path] != file.sha256:
            problems.append(f"{file.path} does not have the hash in {record}")
    inside = {file.path for file in read.files}
    problems += [f"{record} lists {path!a}, which is missing" for path in listed.keys() - inside]
    if problems:
        raise BadArchive(problems)
    return read.files


def _lacks(names: Sequence[str]) -> str:
    """Return the required file that a wheel lacks, as a sentence; empty if it has all."""
    folders = {name.split("/", 1)[0] for name in names if _OF_WHEEL.fullmatch(name)}
    if len(folders) != 1:
        return "this is no wheel: it has no .dist-info/RECORD, or several"
    (about,) = folders
    missing = [name for name in _NEEDED if f"{about}/{name}" not in names]
    return f"this is no wheel: it has no {about}/{missing[0]}" if missing else ""


def _hashes(record: bytes) -> dict[str, str]:
    """Return the SHA-256 of each file in a RECORD; empty for a file without one.

    Raises `BadArchive` if it is no valid RECORD.
    """
    hashes = {}
    try:
        for path, listed, *_ in csv.reader(record.decode("utf-8").splitlines(), strict=True):
            kind, _, value = listed.partition("=")
            known = kind == "sha256"
            hashes[path] = base64.urlsafe_b64decode(f"{value}==").hex() if known else ""
    except (ValueError, csv.Error):
        raise BadArchive(["its RECORD is no list of files with their hashes"]) from None
    return hashes


def _place(path: str) -> str:
    match = _DATA.fullmatch(path)
    if match is None:
        return path
    if match["scheme"] in ("purelib", "platlib", "data"):
        return match["path"]
    return f"{'bin' if match['scheme'] == 'scripts' else match['scheme']}/{match['path']}"
