"""Reads and unpacks submitted zips, which are not trusted, and packs folders for submission.

An archive may have only plain files and folders, with names that mean the same on every system. All
problems are reported at once, and nothing is written before an archive is known to be valid. The sizes
in the zip's directory are checked first; unpacking never writes more than they announce.
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
from fnmatch import translate
from pathlib import Path
from typing import Final

from arena.bots.contents import SubmittedFile, contents_sha256
from arena.sandbox.command import MANIFEST
from arena.validation import InvalidInput, text_of, toml_values

MAX_ARCHIVE_BYTES: Final = 50 << 20
MAX_UNPACKED_BYTES: Final = 200 << 20
MAX_FILES: Final = 2_000
MAX_RATIO: Final = 100
"""The highest ratio of unpacked to packed size; a higher one is a zip bomb."""
MAX_PATH_CHARS: Final = 200
MAX_MANIFEST_BYTES: Final = 4 << 10

_MAX_DIRECTORY_BYTES: Final = MAX_FILES * 600
"""The size limit of a zip's directory, which has 46 bytes and the path for each file."""
_MAX_PROBLEMS: Final = 20
_PART: Final = re.compile(r"[A-Za-z0-9_.+@=,~()\- ]+")
LEFT_OUT: Final = ("__pycache__", "node_modules")
"""Names of files and folders that are not packed, beside hidden ones and virtual environments."""
ENVIRONMENT: Final = "pyvenv.cfg"
"""The file that a virtual environment has at its top."""
_PROGRAMS: Final = (b"#!", b"\x7fELF")
"""How scripts and programs of Linux begin."""
_END_OF_ZIP: Final = b"PK\x05\x06"
_END_BYTES: Final = 22
_ENCRYPTED: Final = 0x1
_DATE: Final = (1980, 1, 1, 0, 0, 0)
_BROKEN: Final = "this is no readable zip: its directory is broken"
_PIECE_BYTES: Final = 1 << 16
_PACKINGS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class BadArchive(ValueError):
    """An archive is not valid. The error has a sentence for each problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        shown = list(problems[:_MAX_PROBLEMS])
        if len(problems) > len(shown):
            shown.append(f"and {len(problems) - len(shown)} more")
        super().__init__("\n".join(shown))
        self.problems: Final = tuple(shown)


@dataclass(frozen=True, slots=True)
class BotArchive:
    """A valid submission: a zip on the disk."""

    path: Path
    files: tuple[SubmittedFile, ...]
    """Sorted by path."""
    manifest: str
    """The text of its `bot.toml`."""

    @property
    def sha256(self) -> str:
        """The SHA-256 of its contents, which does not depend on how they are packed."""
        return contents_sha256(self.files)

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(file.path for file in self.files)


def read_archive(path: Path) -> BotArchive:
    """Read and check all of a zip without writing to the disk.

    Raises `BadArchive` with all problems of the zip, and `OSError` if it cannot be read.
    """
    read = read_zip(path, re.compile(re.escape(MANIFEST)), MAX_MANIFEST_BYTES, lacks=_no_manifest)
    try:
        text = text_of(read.kept[MANIFEST])
    except InvalidInput as error:
        raise BadArchive([f"{MANIFEST}: {error}"]) from None
    return BotArchive(path, read.files, text)


@dataclass(frozen=True, slots=True)
class ReadZip:
    """The files of a valid zip."""

    files: tuple[SubmittedFile, ...]
    """Sorted by path."""
    kept: Mapping[str, bytes]
    """The content of the wanted files, by path."""


def read_zip(
    path: Path,
    wanted: re.Pattern[str],
    most_bytes: int,
    *,
    lacks: Callable[[Sequence[str]], str],
    beside: Sequence[SubmittedFile] = (),
) -> ReadZip:
    """Read and check all of a zip, an archive or a wheel in one, without writing to the disk.

    Args:
      most_bytes: The size limit of the zip.
      lacks: Returns from the zip's paths which required file is missing; empty if none is.
      beside: Files that are unpacked with it, which count towards the limits.

    Raises `BadArchive` with all problems of the zip, and `OSError` if it cannot be read.
    """
    files, kept = [], {}
    # A zip that was made on Windows has no modes, and neither may folders that were copied from it.
    with _zip(path) as opened:
        for info in _checked(opened, path.stat().st_size, lacks, beside):
            digest, size_bytes, text, runs = (
                hashlib.sha256(),
                0,
                b"",
                bool(_mode(info) & stat.S_IXUSR),
            )
            is_wanted = wanted.fullmatch(info.filename) is not None
            for piece in _pieces(opened, info):
                runs = runs or (not size_bytes and piece.startswith(_PROGRAMS))
                digest.update(piece)
                size_bytes += len(piece)
                if is_wanted and size_bytes <= most_bytes:
                    text += piece
            if is_wanted and size_bytes > most_bytes:
                raise BadArchive(
                    [f"{info.filename} has {size_bytes} bytes; at most {most_bytes} are allowed"]
                )
            if is_wanted:
                kept[info.filename] = text
            files.append(SubmittedFile(info.filename, runs, digest.hexdigest(), size_bytes))
    return ReadZip(tuple(sorted(files, key=lambda file: file.path)), kept)


def packed_paths(paths: Sequence[str], manifest: bytes) -> Sequence[str]:
    """Return the files of a folder that are submitted, in order: hidden files, caches and virtual environments are left out.

    If the manifest has `files`, only `bot.toml` and the files that they name are submitted.

    Args:
      paths: All of its files, relative to it.
      manifest: Its `bot.toml`; empty if there is none.

    Raises `BadArchive` if `files` name nothing, or there are too many files.
    """
    above = tuple(path.removesuffix(ENVIRONMENT) for path in paths if _is_environment(path))
    kept = [path for path in paths if not (_is_left_out(path) or path.startswith(above))]
    if patterns := _files_of(manifest):
        names = {pattern: set(filter(_named_by(pattern), kept)) for pattern in patterns}
        if unused := [pattern for pattern, named in names.items() if not named]:
            raise BadArchive(
                [
                    f"{MANIFEST}: files: {pattern!r} names no file of the folder; is the bot built?"
                    for pattern in unused
                ]
            )
        kept = [path for path in kept if path == MANIFEST or any(path in n for n in names.values())]
    if len(kept) > MAX_FILES:
        raise BadArchive([_too_many_files(len(kept))])
    return sorted(kept)


def pack(folder: Path, to: Path) -> None:
    """Zip the files of a folder that `packed_paths` names.

    Raises `BadArchive` if something in it cannot be submitted, and `OSError` if a file cannot be read or written.
    """
    manifest = folder / MANIFEST
    paths = [path.relative_to(folder).as_posix() for path in _walk(folder)]
    entries, problems = [], []
    for name in packed_paths(paths, manifest.read_bytes() if manifest.is_file() else b""):
        path = folder / name
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode):
            problems.append(f"{name} is {_kind(mode)}: only plain files can be submitted")
        else:
            entries.append((name, path, mode))
    size_bytes = sum(path.stat().st_size for _, path, _ in entries)
    if size_bytes > MAX_UNPACKED_BYTES:
        problems.append(_too_much(size_bytes))
    if problems:
        raise BadArchive(problems)
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as made:
        for name, path, mode in entries:
            info = zipfile.ZipInfo(name, _DATE)  # a fixed time: equal files make equal zips
            runs = bool(mode & stat.S_IXUSR)
            info.external_attr = (stat.S_IFREG | (0o755 if runs else 0o644)) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            with path.open("rb") as source, made.open(info, "w") as sink:
                shutil.copyfileobj(source, sink, _PIECE_BYTES)


def unpack(archive: BotArchive, folder: Path) -> None:
    """Write the files of an archive into a new folder, read-only.

    Raises `BadArchive` if the zip has changed since it was read, and `OSError` if a file cannot be written.
    """
    folder.mkdir(parents=True)
    extract(archive, folder)
    for below, _, _ in os.walk(folder, topdown=False):
        Path(below).chmod(0o555)


def extract(archive: BotArchive, folder: Path, only: Container[str] | None = None) -> None:
    """Write files of an archive into an existing folder: all, or those with the paths `only`.

    Raises `BadArchive` or `OSError` as `unpack`.
    """
    known = {file.path: file for file in archive.files}
    with _zip(archive.path) as opened:
        for info in _checked(opened, archive.path.stat().st_size, _no_manifest):
            if only is not None and info.filename not in only:
                continue
            expected = known.get(info.filename)
            if expected is None:
                raise BadArchive([f"{info.filename} was not in the archive when it was read"])
            path = folder.joinpath(*info.filename.split("/"))
            path.parent.mkdir(parents=True, exist_ok=True)
            digest = hashlib.sha256()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
                for piece in _pieces(opened, info):
                    digest.update(piece)
                    file.write(piece)
            if digest.hexdigest() != expected.sha256:
                raise BadArchive([f"{info.filename} has changed since the archive was read"])
            path.chmod(0o555 if expected.executable else 0o444)


@contextmanager
def _zip(path: Path) -> Iterator[zipfile.ZipFile]:
    _require_short_directory(path)
    try:
        with zipfile.ZipFile(path) as opened:
            yield opened
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, struct.error) as error:
        raise BadArchive([f"this is no readable zip: {error}"]) from error
    except BadArchive:
        raise
    except ValueError as error:
        raise BadArchive([_BROKEN]) from error


def _require_short_directory(path: Path) -> None:
    size_bytes = path.stat().st_size
    if size_bytes > MAX_ARCHIVE_BYTES:
        text = (
            f"the archive has {size_bytes} bytes; at most {MAX_ARCHIVE_BYTES} are allowed (50 MB)"
        )
        raise BadArchive([text])
    with path.open("rb") as file:
        file.seek(max(0, size_bytes - _END_BYTES - 0xFFFF))
        tail = file.read()
    at = tail.rfind(_END_OF_ZIP)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise BadArchive(["this is no zip: it has no directory at its end"])
    count, directory_bytes = struct.unpack_from("<HI", tail, at + 10)
    if count > 2 * MAX_FILES:
        raise BadArchive([_too_many_files(count)])
    if directory_bytes > _MAX_DIRECTORY_BYTES:
        text = (
            f"its directory has {directory_bytes} bytes; at most {_MAX_DIRECTORY_BYTES} are allowed"
        )
        raise BadArchive([text])


def _checked(
    opened: zipfile.ZipFile,
    archive_bytes: int,
    lacks: Callable[[Sequence[str]], str],
    beside: Sequence[SubmittedFile] = (),
) -> list[zipfile.ZipInfo]:
    """Return the files of a zip, after a check of its directory."""
    infos = [info for info in opened.infolist() if not info.orig_filename.endswith("/")]
    if any(info.header_offset < 0 for info in opened.infolist()):
        raise BadArchive([_BROKEN])
    problems = [text for info in opened.infolist() if (text := _problem(info))]
    if len(infos) + len(beside) > MAX_FILES:
        problems.append(_too_many_files(len(infos) + len(beside)))
    names = [info.orig_filename for info in infos]
    problems += twins(names)
    size_bytes = sum(info.file_size for info in infos)
    with_all_bytes = size_bytes + sum(file.size_bytes for file in beside)
    if with_all_bytes > MAX_UNPACKED_BYTES:
        problems.append(_too_much(with_all_bytes))
    elif size_bytes > MAX_RATIO * max(archive_bytes, 1):
        problems.append(
            f"unpacked it is {size_bytes // max(archive_bytes, 1)} times as large as packed; "
            f"at most {MAX_RATIO} times is allowed"
        )
    if missing := lacks(names):
        problems.append(missing)
    if problems:
        raise BadArchive(problems)
    return infos


def _problem(info: zipfile.ZipInfo) -> str:
    """Return why an entry is not allowed; empty if it is."""
    name, mode = info.orig_filename, _mode(info)
    folder = name.endswith("/")
    if text := problem_of_path(name.removesuffix("/")):
        return text
    if info.flag_bits & _ENCRYPTED:
        return f"{name} is encrypted"
    if info.compress_type not in _PACKINGS:
        return f"{name} is compressed in an unsupported way: use deflate or store"
    kind = stat.S_IFMT(mode)
    if kind not in (0, stat.S_IFDIR if folder else stat.S_IFREG):
        return f"{name} is {_kind(mode)}: only plain files can be submitted"
    return f"the folder {name} has content of its own" if folder and info.file_size else ""


def problem_of_path(path: str) -> str:
    """Return why a path within a submission is not allowed, as a sentence; empty if it is.

    Paths are relative, in ASCII, and without parts that a system interprets differently.
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
            return f"{shown} is no plain path: use letters, digits and . _ - + @ = , ~ ( )"
        if part[-1] in ". " or part[0] == " ":
            return f"{shown} is no plain path: a part of it ends in a dot, or has a space at an end"
    return ""


def twins(names: Sequence[str]) -> Iterator[str]:
    """Problems of names that are equal on some systems, and of files that are also folders."""
    folded: dict[str, str] = {}
    for name in names:
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            yield f"{name} and {other} differ in upper and lower case only"
    for name, times in Counter(names).items():
        if times > 1:
            yield f"{times} files have the path {name}"
    for low, name in folded.items():
        parts = low.split("/")
        for end in range(1, len(parts)):
            if (file := folded.get("/".join(parts[:end]))) is not None:
                yield f"{file} is a file, and a folder of {name}"


def _pieces(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the content of a file, which must have its announced size."""
    left = info.file_size
    with opened.open(info) as file:
        while piece := file.read(_PIECE_BYTES):
            left -= len(piece)
            if left < 0:
                break
            yield piece
    if left:
        raise BadArchive([f"{info.filename} does not have its announced {info.file_size} bytes"])


def _walk(folder: Path) -> Iterator[Path]:
    """Yield all files of a folder, without looking into folders that are left out."""
    with os.scandir(folder) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    if any(_is_environment(entry.name) for entry in ordered):
        return
    for entry in ordered:
        if _is_left_out(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path))
        else:
            yield Path(entry.path)


def _is_left_out(path: str) -> bool:
    return any(part.startswith(".") or part in LEFT_OUT for part in path.split("/"))


def _is_environment(path: str) -> bool:
    return path.rpartition("/")[2] == ENVIRONMENT


def _files_of(manifest: bytes) -> Sequence[str]:
    """Return the `files` of a manifest; none if it cannot be read or is too long, which is reported when it is validated."""
    if len(manifest) > MAX_MANIFEST_BYTES:
        return ()
    try:
        files = toml_values(text_of(manifest)).get("files")
    except InvalidInput:
        return ()
    if not isinstance(files, list) or not all(isinstance(pattern, str) for pattern in files):
        return ()
    return files


def _named_by(pattern: str) -> Callable[[str], object]:
    """Return whether a pattern matches a path or a folder above it."""
    whole = translate(pattern.rstrip("/"))[: -len(r"\Z")]
    return re.compile(rf"{whole}(?:/|\Z)").match


def _mode(info: zipfile.ZipInfo) -> int:
    """Return the file's mode; 0 if the zip was made on a system without modes."""
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
    hint = f"; there is {below[0]}: zip the content of the folder, not the folder" if below else ""
    return f"there is no {MANIFEST} at its top{hint}"


def _too_many_files(count: int) -> str:
    return f"it has {count} files or more in all; at most {MAX_FILES} are allowed"


def _too_much(size_bytes: int) -> str:
    return (
        f"unpacked it has {size_bytes} bytes in all; at most {MAX_UNPACKED_BYTES} are allowed "
        f"({MAX_UNPACKED_BYTES >> 20} MB)"
    )
