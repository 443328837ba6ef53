"""`arena backup` and `arena restore`: copies of all data of an arena."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from arena.cli.options import data_option, json_option, plain_errors, print_json, require_folder
from arena.cli.terminal.console import progress
from arena.cli.terminal.plain import say


@contextlib.contextmanager
def _written(wanted: Path, unfinished: str) -> Iterator[None]:
    """Print a failure of the disk within the block as a sentence; an incomplete file has the name `unfinished`."""
    try:
        yield
    except OSError as error:
        hidden = str(wanted.absolute().with_name(unfinished.format(wanted.absolute().name)))
        name = str(Path(error.filename or wanted).absolute())
        place = f"{wanted}{name.removeprefix(hidden)}" if name.startswith(hidden) else name
        raise click.ClickException(f"{place}: {error.strerror}; nothing was made") from error


@click.command(
    epilog="""\b
Examples:
  arena backup arena-2026-11-26.backup
  arena backup /mnt/backups/arena.backup --data /var/lib/card-arena --json
  arena backup /mnt/backups --keep 14

\b
A backup has keys, and the secrets of deals in play: store it where the data folder could be.
Bots' work folders, packages, Python and unpacked archives are left out, as they are made again.
"""
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--keep",
    type=click.IntRange(1),
    metavar="N",
    help="When the backup is complete, remove older ones of the folder FILE, except the newest N.",
)
@json_option
@data_option
def backup(file: Path, keep: int | None, as_json: bool, data: Path) -> None:
    """Write a backup of a data folder and its store to FILE, while the arena serves.

    If FILE is a folder, the backup gets the time as its name there. Only the owner can read FILE. `arena restore` makes
    a data folder of it. FILE appears after it was read back and the checksums of all files in it were compared;
    otherwise the exit code is 1.
    """
    from arena.app.backup import back_up, name_in, remove_older

    require_folder(data)
    folder = file if file.is_dir() else None
    if folder is not None:
        file = name_in(folder, time.time())
    elif keep is not None:
        raise click.UsageError(
            f"--keep needs a folder of backups, and {file} is no folder: mkdir {file}"
        )
    with (
        plain_errors(),
        _written(file, ".{}.partial"),
        progress(f"backing up into {file}", quiet=as_json) as tell,
    ):
        copied = back_up(data, file, tell)
        if folder is not None and keep is not None:
            remove_older(folder, keep)
    if as_json:
        print_json({"file": str(file), **asdict(copied)})
    else:
        say(
            f"{file} has {copied.files} files, {copied.size_bytes / 1e6:,.1f} MB before compression."
        )


@click.command(
    epilog="""\b
Examples:
  arena restore arena.backup --data new-data
  arena restore arena.backup --data new-data --store postgresql://arena@db/arena
  arena serve --data new-data

\b
Fair deal-sets that were in play are played again, with new packs. Stop the old arena for good:
two arenas with one key would sign different results.

\b
Restore backups of your own only: results, keys and commands of bots are taken as they are.
"""
)
@click.argument("file", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option(
    "--store",
    "url",
    metavar="URL",
    default="",
    envvar="ARENA_STORE",
    help="An empty database, for a backup of a store in PostgreSQL. A backup itself names none.",
)
@json_option
@data_option
def restore(file: Path, url: str, as_json: bool, data: Path) -> None:
    """Make a data folder of the backup FILE.

    The folder must be empty or missing. It appears after all of FILE was verified. If a backup is damaged, or has files
    that no arena writes, no folder is made.
    """
    from arena.app import backup as backups

    with (
        plain_errors(),
        _written(data, ".{}.restoring"),
        progress(f"restoring {file}", quiet=as_json) as tell,
    ):
        copied = backups.restore(file, data, url, tell)
    if as_json:
        print_json({"data": str(data), **asdict(copied)})
    else:
        say(f"{data} has {copied.files} files, {copied.size_bytes / 1e6:,.1f} MB.")
        for sentence in copied.damage:
            say(
                f"The journal of the backup: {sentence}. Matches of it that had not ended may be lost."
            )
