"""Archives for the submission of a bot."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from arena.bots.archive import BadArchive, BotArchive, pack, read_archive
from arena.bots.blobs import Blobs
from arena.bots.command import portable_files
from arena.bots.manifest import BadManifest, read_manifest
from arena.bots.wheels import read_wheels
from arena.live.players import ArchivedBot
from arena.sandbox.command import MANIFEST, BadCommand, BotCommand

_OF_ONE_FILE: Final = 'command = ["python", "bot.py"]\nruntime = "python"\n'
_GAME: Final = '\n[[games]]\nid = "{}"\n'


class CannotSubmit(Exception):
    """An arena would not accept the bot; the text has all problems."""


@contextlib.contextmanager
def packed_bot(path: Path) -> Iterator[BotArchive]:
    """Pack a folder, or copy a zip, into an archive that exists within the block.

    Raises `CannotSubmit` if it is no valid submission, or cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="bot-") as folder:
        packed = Path(folder) / "bot.zip"
        try:
            if path.is_dir():
                pack(path, packed)
            else:
                shutil.copyfile(path, packed)
            archive = read_archive(packed)
            if read_manifest(archive.manifest, archive.paths).runs_python:
                read_wheels(archive)
        except (BadArchive, BadManifest) as error:
            lines = "".join(f"\n  {problem}" for problem in error.problems)
            raise CannotSubmit(f"{path} cannot be submitted:{lines}") from error
        except OSError as error:
            raise CannotSubmit(f"cannot read {path}: {error.strerror}") from error
        yield archive


def packed_command(data: Path, command: BotCommand, games: Sequence[str]) -> ArchivedBot:
    """Pack the bot of a command into the archives of a data folder.

    It is its folder with `bot.toml`, or a single file of Python, which plays these `games`.

    Raises `BadCommand` if it is neither, or no valid submission, and `OSError` if the archive cannot be written.
    """
    files = portable_files(command)
    try:
        with _folder_of(files, games) as folder, packed_bot(folder) as archive:
            manifest = read_manifest(archive.manifest, archive.paths)
            sha256, _ = Blobs(data).keep(archive)
    except CannotSubmit as error:
        raise BadCommand(str(error)) from error
    return ArchivedBot(command.name, sha256, manifest.as_json(), "")


@contextlib.contextmanager
def _folder_of(files: Path, games: Sequence[str]) -> Iterator[Path]:
    if files.is_dir():
        yield files
        return
    with tempfile.TemporaryDirectory(prefix="bot-") as made:
        folder = Path(made)
        shutil.copyfile(files, folder / "bot.py")
        (folder / MANIFEST).write_text("".join((_OF_ONE_FILE, *map(_GAME.format, games))), "utf-8")
        yield folder


__all__ = ["BotArchive", "CannotSubmit", "packed_bot", "packed_command"]
