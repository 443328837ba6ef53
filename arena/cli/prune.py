"""`arena prune`: removes old replays, logs and packages."""

import time
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import click

from arena.cli.keys import LifetimeType
from arena.cli.options import data_option, json_option, plain_errors, print_json, require_folder
from arena.cli.terminal.console import print_table, progress


@click.command(
    epilog="""\b
Examples:
  arena prune --older-than 90d --dry-run
  arena prune --older-than 26w --data /var/lib/card-arena --json

\b
Replays of competitions that are not finished stay, and packages that a bot can be started with.
Journals, keys, commitments, results, official standings and submitted archives always stay.
"""
)
@click.option(
    "--older-than",
    "age",
    type=LifetimeType(),
    required=True,
    metavar="TIME",
    help="Remove what was last written so long ago, such as 90d.",
)
@click.option("--dry-run", is_flag=True, help="Remove nothing; show what would be.")
@json_option
@data_option
def prune(age: timedelta, dry_run: bool, as_json: bool, data: Path) -> None:
    """Remove old replays, notes and logs of bots, installed packages and unpacked archives.

    An arena may serve meanwhile. The verification of a match needs its replay: make a backup first to
    keep it.
    """
    from arena.app import retention

    require_folder(data)
    before_unix_s = time.time() - age.total_seconds()
    with plain_errors(), progress("old files are looked for", quiet=as_json) as tell:
        removed = retention.prune(data, before_unix_s, dry_run=dry_run, progress=tell)
    if as_json:
        kinds = [asdict(kind) for kind in removed]
        print_json({"dry_run": dry_run, "kinds": kinds})
        return
    rows = [(kind.kind, kind.files, f"{kind.size_bytes / 1e6:,.1f}", kind.kept) for kind in removed]
    print_table(("kind", "files", "MB to free" if dry_run else "MB freed", "needed"), rows)
