"""`arena backup` and `arena restore`: copies of all that an arena keeps."""

import contextlib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from arena.cli.options import data_option, json_option, plain_errors, print_json, require_folder
from arena.cli.terminal.console import progress
from arena.cli.terminal.plain import say


@contextlib.contextmanager
def _written() -> Iterator[None]:
    """Print a failure of the disk as a sentence."""
    try:
        yield
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        raise click.ClickException(f"{name}{error.strerror}") from error


@click.command(
    epilog="""\b
Examples:
  arena backup arena-2026-11-26.backup
  arena backup /mnt/backups/arena.backup --data /var/lib/card-arena --json

\b
A backup has keys, and the secrets of deals in play: store it where the data folder could be.
Bots' work folders, packages and unpacked archives are left out, as they are made again.
"""
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@json_option
@data_option
def backup(file: Path, as_json: bool, data: Path) -> None:
    """Write a backup of a data folder and its store to FILE, while the arena serves.

    Only the owner can read FILE. `arena restore` makes a data folder of it.
    """
    from arena.server.backup import back_up

    require_folder(data)
    with plain_errors(), _written(), progress(f"{file} is written", quiet=as_json) as tell:
        copied = back_up(data, file, tell)
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
"""
)
@click.argument("file", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option(
    "--store",
    "url",
    metavar="URL",
    default="",
    envvar="ARENA_STORE",
    help="An empty database, for a backup of a store in PostgreSQL.",
)
@json_option
@data_option
def restore(file: Path, url: str, as_json: bool, data: Path) -> None:
    """Make a data folder of the backup FILE.

    The folder must be empty or missing. All checksums are verified before it appears.
    """
    from arena.server import backup as backups

    with plain_errors(), _written(), progress(f"{file} is restored", quiet=as_json) as tell:
        copied = backups.restore(file, data, url, tell)
    if as_json:
        print_json({"data": str(data), **asdict(copied)})
    else:
        say(f"{data} has {copied.files} files, {copied.size_bytes / 1e6:,.1f} MB.")
        for sentence in copied.damage:
            say(
                f"The journal of the backup: {sentence}. Matches of it that had not ended may be lost."
            )
