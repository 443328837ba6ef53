"""Wheels that lie in a submission, `wheels/*.whl`: what of them is taken.

A wheel is a zip within a zip, and held to the same rules by the same function; what all of them
unpack to counts together with the archive. Nothing is written here, and nothing is installed.
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

from arena.competition.archive import Archive, BadArchive, extract, read_zip, twins
from arena.competition.contents import SubmittedFile
from arena.ladder.draws import digest

FOLDER: Final = "wheels"
"""Where they lie in a submission; nothing else does."""
MAX_RECORD_BYTES: Final = 1 << 20

_NEEDED: Final = ("METADATA", "RECORD", "WHEEL")
_OF_WHEEL: Final = re.compile(r"[^/]+\.dist-info/RECORD")
_DATA: Final = re.compile(r"[^/]+\.data/(?P<scheme>[^/]+)/(?P<path>.+)")
_UNHASHED: Final = ("RECORD", "RECORD.jws", "RECORD.p7s")
"""Of `.dist-info`: the list itself, and its signatures."""


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel of a submission."""

    file: str
    """Its name, without the folder."""
    sha256: str
    name: str
    """Of the package, as it is written in requirements."""
    tags: frozenset[Tag]


def read_wheels(archive: Archive) -> tuple[Wheel, ...]:
    """The wheels of a submission, with every byte of them looked at; none is most often.

    Raises:
      BadArchive: with all that is wrong with them, each sentence with the name of the file.
      OSError: if it cannot be read.
    """
    lie_there = [each for each in archive.files if each.path.startswith(f"{FOLDER}/")]
    if not lie_there:
        return ()
    wheels, problems = [], []
    for each in lie_there:
        try:
            wheels.append(_wheel(each))
        except ValueError as error:
            problems.append(f"{each.path}: {error}")
    if problems:
        raise BadArchive(problems)
    unpacked = list(archive.files)
    places: list[str] = []
    with tempfile.TemporaryDirectory(prefix="wheels-") as folder:
        extract(archive, Path(folder), frozenset(each.path for each in lie_there))
        for wheel in wheels:
            path = Path(folder, FOLDER, wheel.file)
            try:
                files = _read(path, unpacked)
            except BadArchive as error:
                # What is too much together would be told once more for each that follows.
                raise BadArchive(
                    [f"{FOLDER}/{wheel.file}: {each}" for each in error.problems]
                ) from None
            unpacked += files
            places += [_place(each.path) for each in files]
    problems = [f"{FOLDER}: {each}" for each in twins(places)]
    if problems:
        raise BadArchive(problems)
    return tuple(wheels)


def wheels_in(unpacked: Path) -> tuple[Wheel, ...]:
    """The wheels of a submission that was read, and lies unpacked in a folder.

    Raises:
      OSError: if one cannot be read.
    """
    found = []
    for path in sorted((unpacked / FOLDER).glob("*")):
        name = path.relative_to(unpacked).as_posix()
        found.append(_wheel(SubmittedFile.of(name, path.read_bytes())))
    return tuple(found)


def require_fitting(wheels: Sequence[Wheel]) -> None:
    """Require that all wheels are for this Python on this machine, which bots are run by.

    Raises:
      BadArchive: with those that are not.
    """
    here = frozenset(sys_tags()) if wheels else frozenset()
    problems = [
        f"{FOLDER}/{each.file} is for another Python or system: bots are run by {python_here()}"
        for each in wheels
        if not each.tags & here
    ]
    if problems:
        raise BadArchive(problems)


def python_here() -> str:
    """This Python and its system, as far as wheels depend on them: `cpython-311 linux-x86_64`."""
    return f"{sys.implementation.cache_tag} {sysconfig.get_platform()}"


def wheels_sha256(wheels: Sequence[Wheel]) -> str:
    """Of what is installed from them, by this Python; the same in whatever order they come."""
    return digest("wheels", python_here(), sorted((each.file, each.sha256) for each in wheels))


def _wheel(file: SubmittedFile) -> Wheel:
    """A wheel as its name tells of it.

    Raises:
      ValueError: if the file is none; the text says why.
    """
    name = file.path.removeprefix(f"{FOLDER}/")
    if "/" in name:
        raise ValueError(f"wheels lie in {FOLDER}/ itself, not in a folder of it")
    if not name.endswith(".whl"):
        raise ValueError(
            "this is no wheel, and nothing is built at an arena: `pip wheel` makes one of it"
        )
    try:
        package, _, _, tags = parse_wheel_filename(name)
    except InvalidWheelFilename as error:
        raise ValueError(
            "a wheel is named NAME-VERSION-PYTHON-ABI-SYSTEM.whl, as it was made"
        ) from error
    return Wheel(name, file.sha256, package, tags)


def _read(path: Path, beside: Sequence[SubmittedFile]) -> tuple[SubmittedFile, ...]:
    """The files of a wheel.

    Raises:
      BadArchive: if it breaks a rule, or its own list does not say what is in it.
    """
    read = read_zip(path, _OF_WHEEL, MAX_RECORD_BYTES, lacks=_lacks, beside=beside)
    ((record, text),) = read.kept.items()
    told = _hashes(text)
    about = record.removesuffix("RECORD")
    problems = []
    for each in read.files:
        if each.path in {f"{about}{name}" for name in _UNHASHED}:
            continue
        if each.path not in told:
            problems.append(f"{record} does not list {each.path}")
        elif told[each.path] != each.sha256:
            problems.append(f"{each.path} is not what {record} says")
    inside = {each.path for each in read.files}
    problems += [f"{record} lists {path!a}, which is not in it" for path in told.keys() - inside]
    if problems:
        raise BadArchive(problems)
    return read.files


def _lacks(names: Sequence[str]) -> str:
    """What a wheel has to have and has not."""
    found = {name.split("/", 1)[0] for name in names if _OF_WHEEL.fullmatch(name)}
    if len(found) != 1:
        return "this is no wheel: it has no .dist-info/RECORD, or several"
    (about,) = found
    missing = [name for name in _NEEDED if f"{about}/{name}" not in names]
    return f"this is no wheel: it has no {about}/{missing[0]}" if missing else ""


def _hashes(record: bytes) -> dict[str, str]:
    """The SHA-256 of each file, as a wheel lists them; empty where it says none.

    Raises:
      BadArchive: if it is no list.
    """
    found = {}
    try:
        for path, told, *_ in csv.reader(record.decode("utf-8").splitlines(), strict=True):
            kind, _, value = told.partition("=")
            known = kind == "sha256"
            found[path] = base64.urlsafe_b64decode(f"{value}==").hex() if known else ""
    except (ValueError, csv.Error):
        raise BadArchive(["its RECORD is no list of files with their hashes"]) from None
    return found


def _place(path: str) -> str:
    """Where a file of a wheel comes to lie, among those of all wheels."""
    found = _DATA.fullmatch(path)
    if found is None:
        return path
    if found["scheme"] in ("purelib", "platlib", "data"):
        return found["path"]
    return f"{'bin' if found['scheme'] == 'scripts' else found['scheme']}/{found['path']}"
