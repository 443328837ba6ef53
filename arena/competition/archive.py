"""Submissions as they come: a folder, or a zip of it, from whom nothing may be trusted.

Only plain files in plain folders are taken, under names that mean the same on every system. All that
is wrong is told at once, and nothing is written before all is known to be right. A zip's own word on
sizes is taken at first, and held against what comes out: no more is unpacked than was announced.
"""

import hashlib
import os
import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from arena.competition.contents import SubmittedFile, contents_sha256

MAX_ARCHIVE_BYTES: Final = 50 << 20
MAX_UNPACKED_BYTES: Final = 200 << 20
MAX_FILES: Final = 2_000
MAX_RATIO: Final = 100
"""What is unpacked, to what it took packed: what is larger is a bomb."""
MAX_PATH_CHARS: Final = 200
MAX_MANIFEST_BYTES: Final = 64 << 10
MANIFEST: Final = "bot.toml"

_MAX_DIRECTORY_BYTES: Final = MAX_FILES * 600
"""Of a zip's list of its files: 46 bytes for each, its path and a few notes."""
_MAX_PROBLEMS: Final = 20
"""As many are told; who has more knows where to look."""
_PART: Final = re.compile(r"[A-Za-z0-9_.+@=,~()\- ]+")
_LEFT_OUT: Final = frozenset({"__pycache__", "node_modules"})
_END_OF_ZIP: Final = b"PK\x05\x06"
_END_BYTES: Final = 22
_ENCRYPTED: Final = 0x1
_DATE: Final = (1980, 1, 1, 0, 0, 0)
_PIECE_BYTES: Final = 1 << 16
_PACKINGS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class BadArchive(ValueError):
    """It cannot be submitted; each problem is a sentence."""

    def __init__(self, problems: Sequence[str]) -> None:
        told = list(problems[:_MAX_PROBLEMS])
        if len(problems) > len(told):
            told.append(f"and {len(problems) - len(told)} more")
        super().__init__("\n".join(told))
        self.problems: Final = tuple(told)


@dataclass(frozen=True, slots=True)
class Archive:
    """A submission that keeps all the rules above, as a zip on disk."""

    path: Path
    files: tuple[SubmittedFile, ...]
    """By path."""
    manifest: str
    """The text of its `bot.toml`."""

    @property
    def sha256(self) -> str:
        """Of its contents, the same however they are packed."""
        return contents_sha256(self.files)

    @property
    def paths(self) -> frozenset[str]:
        """Of all its files."""
        return frozenset(each.path for each in self.files)


def read_archive(path: Path) -> Archive:
    """A zip, with every byte of it looked at and none written.

    Raises:
      BadArchive: with all that is wrong with it.
      OSError: if it cannot be read.
    """
    read = read_zip(path, re.compile(re.escape(MANIFEST)), MAX_MANIFEST_BYTES, lacks=_no_manifest)
    try:
        text = read.kept[MANIFEST].decode("utf-8")
    except UnicodeDecodeError:
        raise BadArchive([f"{MANIFEST} is not text in UTF-8"]) from None
    return Archive(path, read.files, text)


@dataclass(frozen=True, slots=True)
class ReadZip:
    """What was found in a zip that keeps the rules above."""

    files: tuple[SubmittedFile, ...]
    """By path."""
    kept: Mapping[str, bytes]
    """The bytes of those that were wanted, by path."""


def read_zip(
    path: Path,
    wanted: re.Pattern[str],
    most_bytes: int,
    *,
    lacks: Callable[[Sequence[str]], str],
    beside: Sequence[SubmittedFile] = (),
) -> ReadZip:
    """Every byte of a zip looked at, and none written: an archive, or a wheel that lies in one.

    Args:
      path: Of the zip.
      wanted: The paths of files whose bytes are kept.
      most_bytes: Of each of these.
      lacks: Says by its paths what the zip has to have and has not; empty if that is nothing.
      beside: What is unpacked with it, and counts for the limits.

    Raises:
      BadArchive: with all that is wrong with it.
      OSError: if it cannot be read.
    """
    files, kept = [], {}
    with _zip(path) as opened:
        for info in _checked(opened, path.stat().st_size, lacks, beside):
            digest, size_bytes, text = hashlib.sha256(), 0, b""
            is_wanted = wanted.fullmatch(info.filename) is not None
            for piece in _pieces(opened, info):
                digest.update(piece)
                size_bytes += len(piece)
                if is_wanted and size_bytes <= most_bytes:
                    text += piece
            if is_wanted and size_bytes > most_bytes:
                raise BadArchive([f"{info.filename} has {size_bytes} bytes; {most_bytes} will do"])
            if is_wanted:
                kept[info.filename] = text
            runs = bool(_mode(info) & stat.S_IXUSR)
            files.append(SubmittedFile(info.filename, runs, digest.hexdigest(), size_bytes))
    return ReadZip(tuple(sorted(files, key=lambda each: each.path)), kept)


def pack(folder: Path, to: Path) -> None:
    """Zip what of a folder is to be submitted: all but hidden files, caches and environments.

    Raises:
      BadArchive: if something in it cannot be submitted.
      OSError: if a file cannot be read or written.
    """
    found, problems = [], []
    for path in _walk(folder):
        name = path.relative_to(folder).as_posix()
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode):
            problems.append(f"{name} is {_kind(mode)}: only plain files can be submitted")
        else:
            found.append((name, path, mode))
        if len(found) > MAX_FILES:
            raise BadArchive([_too_many_files(len(found))])
    size_bytes = sum(path.stat().st_size for _, path, _ in found)
    if size_bytes > MAX_UNPACKED_BYTES:
        problems.append(_too_much(size_bytes))
    if problems:
        raise BadArchive(problems)
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as made:
        for name, path, mode in sorted(found):
            info = zipfile.ZipInfo(name, _DATE)  # no times: the same files make the same zip
            runs = bool(mode & stat.S_IXUSR)
            info.external_attr = (stat.S_IFREG | (0o755 if runs else 0o644)) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            with path.open("rb") as source, made.open(info, "w") as sink:
                shutil.copyfileobj(source, sink, _PIECE_BYTES)


def unpack(archive: Archive, folder: Path) -> None:
    """Write the files of an archive into a folder that is not there yet, and let nobody write to them.

    Raises:
      BadArchive: if the zip is not any more what it was when it was read.
      OSError: if a file cannot be written.
    """
    folder.mkdir(parents=True)
    extract(archive, folder)
    for below, _, _ in os.walk(folder, topdown=False):
        Path(below).chmod(0o555)


def extract(archive: Archive, folder: Path, only: Container[str] | None = None) -> None:
    """Write files of an archive into a folder that is there: all of them, or those of some paths.

    Raises:
      BadArchive, OSError: as `unpack`.
    """
    known = {each.path: each for each in archive.files}
    with _zip(archive.path) as opened:
        for info in _checked(opened, archive.path.stat().st_size, _no_manifest):
            if only is not None and info.filename not in only:
                continue
            expected = known.get(info.filename)
            if expected is None:
                raise BadArchive([f"{info.filename} was not there when the archive was read"])
            path = folder.joinpath(*info.filename.split("/"))
            path.parent.mkdir(parents=True, exist_ok=True)
            digest = hashlib.sha256()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
                for piece in _pieces(opened, info):
                    digest.update(piece)
                    file.write(piece)
            if digest.hexdigest() != expected.sha256:
                raise BadArchive([f"{info.filename} is not what it was when the archive was read"])
            path.chmod(0o555 if expected.executable else 0o444)


@contextmanager
def _zip(path: Path) -> Iterator[zipfile.ZipFile]:
    _require_short_directory(path)
    try:
        with zipfile.ZipFile(path) as opened:
            yield opened
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, struct.error) as error:
        raise BadArchive([f"this is no zip that can be read: {error}"]) from error
    except (UnicodeDecodeError, ValueError) as error:
        if isinstance(error, BadArchive):
            raise
        raise BadArchive(
            ["this is no zip that can be read: its list of files is broken"]
        ) from error


def _require_short_directory(path: Path) -> None:
    """See to it that a zip's list of its files is as long as it may be before it is read."""
    size_bytes = path.stat().st_size
    if size_bytes > MAX_ARCHIVE_BYTES:
        text = f"the archive has {size_bytes} bytes; at most {MAX_ARCHIVE_BYTES} are taken (50 MB)"
        raise BadArchive([text])
    with path.open("rb") as file:
        file.seek(max(0, size_bytes - _END_BYTES - 0xFFFF))
        tail = file.read()
    at = tail.rfind(_END_OF_ZIP)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise BadArchive(["this is no zip: it has no list of its files at its end"])
    count, directory_bytes = struct.unpack_from("<HI", tail, at + 10)
    if count > 2 * MAX_FILES:
        raise BadArchive([_too_many_files(count)])
    if directory_bytes > _MAX_DIRECTORY_BYTES:
        text = f"its list of files has {directory_bytes} bytes; {_MAX_DIRECTORY_BYTES} will do"
        raise BadArchive([text])


def _checked(
    opened: zipfile.ZipFile,
    archive_bytes: int,
    lacks: Callable[[Sequence[str]], str],
    beside: Sequence[SubmittedFile] = (),
) -> list[zipfile.ZipInfo]:
    """The files of a zip that keeps the rules, as far as its own list says."""
    infos = [info for info in opened.infolist() if not info.orig_filename.endswith("/")]
    if any(info.header_offset < 0 for info in opened.infolist()):
        raise BadArchive(["this is no zip that can be read: its list of files is broken"])
    problems = [text for info in opened.infolist() if (text := _problem(info))]
    if len(infos) + len(beside) > MAX_FILES:
        problems.append(_too_many_files(len(infos) + len(beside)))
    names = [info.orig_filename for info in infos]
    problems += twins(names)
    size_bytes = sum(info.file_size for info in infos)
    with_all_bytes = size_bytes + sum(each.size_bytes for each in beside)
    if with_all_bytes > MAX_UNPACKED_BYTES:
        problems.append(_too_much(with_all_bytes))
    elif size_bytes > MAX_RATIO * max(archive_bytes, 1):
        problems.append(
            f"unpacked it is {size_bytes // max(archive_bytes, 1)} times as large as packed; "
            f"at most {MAX_RATIO} times is taken"
        )
    if missing := lacks(names):
        problems.append(missing)
    if problems:
        raise BadArchive(problems)
    return infos


def _problem(info: zipfile.ZipInfo) -> str:
    """Why an entry is not taken; empty if it is."""
    name, mode = info.orig_filename, _mode(info)
    folder = name.endswith("/")
    if text := problem_of_path(name.removesuffix("/")):
        return text
    if info.flag_bits & _ENCRYPTED:
        return f"{name} is encrypted"
    if info.compress_type not in _PACKINGS:
        return f"{name} is packed in a way that is not taken: deflate or store it"
    kind = stat.S_IFMT(mode)
    if kind not in (0, stat.S_IFDIR if folder else stat.S_IFREG):
        return f"{name} is {_kind(mode)}: only plain files can be submitted"
    return f"the folder {name} holds bytes itself" if folder and info.file_size else ""


def problem_of_path(path: str) -> str:
    """Why a path within a submission is not taken, as a sentence; empty if it is.

    Plain ASCII alone, relative, and nothing that some system reads in another way.
    """
    shown = ascii(path)
    if path.startswith("/"):
        return f"{shown} is an absolute path"
    if len(path) > MAX_PATH_CHARS:
        return f"{shown[:60]}… has {len(path)} characters; a path has at most {MAX_PATH_CHARS}"
    for part in path.split("/"):
        if part in ("", ".", ".."):
            return f"{shown} is no plain path: it has the part {part!r}"
        if not _PART.fullmatch(part):
            return f"{shown} is no plain path: letters, digits and . _ - + @ = , ~ ( ) are taken"
        if part[-1] in ". " or part[0] == " ":
            return (
                f"{shown} is no plain path: a part of it ends in a dot, or has a space at its end"
            )
    return ""


def twins(names: Sequence[str]) -> Iterator[str]:
    """Names that are one on some systems, and files that are folders as well."""
    folded: dict[str, str] = {}
    for name in names:
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            yield f"{name} and {other} differ in upper and lower case alone"
    for name, times in Counter(names).items():
        if times > 1:
            yield f"{name} is in it {times} times"
    for low, name in folded.items():
        parts = low.split("/")
        for end in range(1, len(parts)):
            if (file := folded.get("/".join(parts[:end]))) is not None:
                yield f"{file} is a file, and a folder of {name}"


def _pieces(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """The bytes of a file, which are as many as were announced."""
    left = info.file_size
    with opened.open(info) as file:
        while piece := _read(file):
            left -= len(piece)
            if left < 0:
                break
            yield piece
    if left:
        raise BadArchive([f"{info.filename} has not the {info.file_size} bytes that it announces"])


def _read(file: IO[bytes]) -> bytes:
    return file.read(_PIECE_BYTES)


def _walk(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    if any(entry.name == "pyvenv.cfg" for entry in found):
        return  # an environment is what the bot runs in
    for entry in found:
        if entry.name.startswith(".") or entry.name in _LEFT_OUT:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path))
        else:
            yield Path(entry.path)


def _mode(info: zipfile.ZipInfo) -> int:
    """The file's mode, where the zip was made on a system that has modes."""
    return info.external_attr >> 16


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFLNK: "a link",
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "no plain file")


def _no_manifest(names: Sequence[str]) -> str:
    if MANIFEST in names:
        return ""
    below = [name for name in names if name.endswith(f"/{MANIFEST}")]
    hint = f"; there is {below[0]}: zip what is in the folder, not the folder" if below else ""
    return f"there is no {MANIFEST} at its top{hint}"


def _too_many_files(count: int) -> str:
    return f"it has {count} files or more in all; at most {MAX_FILES} are taken"


def _too_much(size_bytes: int) -> str:
    return (
        f"unpacked it has {size_bytes} bytes in all; at most {MAX_UNPACKED_BYTES} are taken "
        f"({MAX_UNPACKED_BYTES >> 20} MB)"
    )
