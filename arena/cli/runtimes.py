"""`arena runtimes`: the programs that run submitted bots, and Python runtimes with packages."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn

from arena.app import runtimes as machine
from arena.app.runtimes import HASH_CHARS, BuildProgress, BuiltRuntime, Runtime
from arena.cli.command_group import CommandGroup
from arena.cli.options import data_folder, json_option, plain_errors, print_json
from arena.cli.terminal.console import PlainConsole, print_table
from arena.cli.terminal.plain import plain, say

_MOST_SHOWN: Final = 6
"""The maximal number of packages of a runtime in the table; `--json` has all."""


_data_option: Final = data_folder("The arena's folder, which has the built runtimes.")


@click.group(
    cls=CommandGroup,
    default="list",
    epilog="""\b
Examples:
  arena runtimes
  arena runtimes --json
  arena runtimes build ml.toml
  arena runtimes remove ml
""",
)
def runtimes() -> None:
    """List the runtimes of submitted bots, or build one with Python packages.

    An arena accepts bots in the languages whose programs are installed on its machine. A built runtime
    is Python with packages; the manifest of a bot names it.
    """


@runtimes.command(
    "list", epilog="\b\nExamples:\n  arena runtimes list\n  arena runtimes list --json"
)
@_data_option
@json_option
def list_runtimes(*, data: Path, as_json: bool) -> None:
    """List the languages that this machine can run, and the built runtimes."""
    languages, built = machine.machine_runtimes(data)
    if as_json:
        rows = [*map(_as_json, languages), *map(_built_json, built)]
        print_json({"runtimes": rows})
        return
    table = [(row.name, row.version or "-", row.lacks or row.program) for row in languages]
    table += [(row.name, row.sha256[:HASH_CHARS], row.lacks or _packages(row)) for row in built]
    print_table(heads := ("runtime", "version", "program"), table, wrapped=heads)


@runtimes.command(
    "build",
    epilog="""\b
Examples:
  arena runtimes build ml.toml
  arena runtimes build ml.toml --from ./wheels     # without a network
  arena runtimes build ml.toml --data /srv/arena --json

\b
ml.toml:
  name = "ml"
  packages = ["numpy==2.1.3"]
""",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--from",
    "found_in",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Take all wheels from this folder, and use no network.",
)
@_data_option
@json_option
def build_runtime(*, file: Path, found_in: Path | None, data: Path, as_json: bool) -> None:
    """Build the runtime that FILE describes, from wheels only.

    The command writes the versions and hashes of all packages to a lock beside FILE. With the lock the
    same runtime is built again on any machine. New versions of bots get the new build; earlier
    versions keep theirs.
    """
    try:
        with plain_errors(), _shown(quiet=as_json) as progress:
            built, new = machine.build_runtime(file, data, progress, found_in=found_in)
    except machine.NotBuilt as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        print_json(_built_json(built) | {"new": new})
        return
    how = "is built" if new else "was built before"
    say(f"{built.name} {built.sha256[:HASH_CHARS]} {how}: {plain(_packages(built))}")
    say(f'Bots use it with runtime = "{built.name}" in their bot.toml.')


@runtimes.command(
    "remove", epilog="\b\nExamples:\n  arena runtimes remove ml\n  arena runtimes remove ml --json"
)
@click.argument("name")
@_data_option
@json_option
def remove_runtime(*, name: str, data: Path, as_json: bool) -> None:
    """Remove the runtime NAME, so that no new version can be submitted for it.

    Builds that existing versions need stay on the disk.
    """
    try:
        with plain_errors():
            kept, versions = machine.remove_runtime(name, data)
    except OSError as error:
        raise click.ClickException(f"{name} is not removed: {error.strerror}") from error
    if as_json:
        hashes = [runtime.sha256 for runtime in kept]
        print_json({"removed": name, "kept": hashes, "versions": versions})
        return
    say(f"{name} is removed: no new version can name it.")
    if versions:
        say(f"It stays on the disk for {', '.join(versions)}.")


@contextlib.contextmanager
def _shown(*, quiet: bool) -> Iterator[BuildProgress]:
    """Show the progress of a build: a bar on a terminal, otherwise a line for each wheel."""
    console = PlainConsole(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    tasks: dict[str, TaskID] = {}

    def show_line(what: str, done: int = 0, size: int = 0) -> None:
        if not (quiet or done or size):
            say(f"  {plain(what)}", err=True)

    def show_bar(what: str, done: int = 0, size: int = 0) -> None:
        if what not in tasks:
            tasks[what] = bars.add_task(plain(what), total=None)
        bars.update(tasks[what], completed=done, total=size or None)

    if quiet or not console.is_terminal:
        yield show_line
        return
    with Progress(*columns, console=console) as bars:
        yield show_bar


def _packages(runtime: BuiltRuntime) -> str:
    shown = ", ".join(runtime.packages[:_MOST_SHOWN])
    more = len(runtime.packages) - _MOST_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _as_json(runtime: Runtime) -> dict[str, object]:
    return {
        "runtime": runtime.name,
        "commands": list(runtime.language.programs),
        "here": runtime.is_here,
        "version": runtime.version,
        "program": runtime.program,
        "lacks": runtime.lacks,
    }


def _built_json(runtime: BuiltRuntime) -> dict[str, object]:
    return {
        "runtime": runtime.name,
        "here": not runtime.lacks,
        "sha256": runtime.sha256,
        "python": runtime.python,
        "packages": list(runtime.packages),
        "lacks": runtime.lacks,
    }
