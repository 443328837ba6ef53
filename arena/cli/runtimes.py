"""`arena runtimes`: what runs the bots that are submitted, and what of Python's is built for them."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from arena.cli.arguments import data_folder, plain_errors
from arena.cli.options import with_options
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import plain, say
from arena.competition.runtime_file import HASH_CHARS, BadRuntime, is_name
from arena.server.data_folder import store_path
from arena.server.submissions.building import NotBuilt, Told, build
from arena.server.submissions.built_runtimes import BuiltRuntime, BuiltRuntimes
from arena.server.submissions.runtimes import Runtime
from arena.server.submissions.runtimes import runtimes as looked_for
from arena.store import is_there, open_store

_MOST_SHOWN: Final = 6
"""Packages of a runtime in the table; `--json` has all."""


def _options(command: Any) -> Any:
    """Adds `--data` and `--json`."""
    return with_options(
        command,
        data_folder("The arena's folder, which has the runtimes that were built."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    )


@click.group(
    invoke_without_command=True,
    epilog="""\b
Examples:
  arena runtimes
  arena runtimes --json
  arena runtimes build ml.toml
  arena runtimes remove ml
""",
)
@_options
@click.pass_context
def runtimes(context: click.Context, *, data: Path, as_json: bool) -> None:
    """List what runs submitted bots, or build a runtime of Python packages for them.

    Each language is looked for on this machine, and asked for its version; an arena takes the bots of
    those that are here. A runtime that was built is Python with packages, and a manifest names it.
    """
    if context.invoked_subcommand is not None:
        return
    found, built = looked_for(), BuiltRuntimes(data).all()
    if as_json:
        rows = [*map(_as_json, found), *map(_built_json, built)]
        click.echo(json.dumps({"runtimes": rows}, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("runtime", "version", "program"):
        table.add_column(column)
    for each in found:
        table.add_row(each.name, each.version or "-", Text(each.lacks or each.program))
    for one in built:
        table.add_row(one.name, one.sha256[:HASH_CHARS], Text(plain(one.lacks or _packages(one))))
    PlainConsole().print(table)


@runtimes.command(
    "build",
    epilog="""\b
Examples:
  arena runtimes build ml.toml
  arena runtimes build ml.toml --from ./wheels     # these, and no network
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
    help="Take all wheels from this folder; nothing is asked of a network.",
)
@_options
def build_runtime(*, file: Path, found_in: Path | None, data: Path, as_json: bool) -> None:
    """Build the runtime that FILE asks for, of wheels alone.

    What is found for it is written into a lock beside it, with hashes; with the lock the same is built
    again, elsewhere too. New versions of bots that name it get it; those before keep theirs.
    """
    try:
        with plain_errors(), _shown(quiet=as_json) as told:
            built, new = build(file, data.absolute(), told, found_in=found_in)
    except BadRuntime as error:
        lines = "".join(f"\n  {each}" for each in error.problems)
        raise click.ClickException(f"{file} cannot be built:{lines}") from error
    except NotBuilt as error:
        raise click.ClickException(f"{file} is not built: {error}") from error
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{file} is not text in UTF-8") from error
    except OSError as error:
        raise click.ClickException(f"{file} is not built: {error.strerror or error}") from error
    if as_json:
        click.echo(json.dumps(_built_json(built) | {"new": new}, indent=2))
        return
    how = "is built" if new else "was built before"
    say(f"{built.name} {built.sha256[:HASH_CHARS]} {how}: {plain(_packages(built))}")
    say(f'Bots are run by it that say runtime = "{built.name}" in their bot.toml.')


@runtimes.command(
    "remove", epilog="\b\nExamples:\n  arena runtimes remove ml\n  arena runtimes remove ml --json"
)
@click.argument("name")
@_options
def remove_runtime(*, name: str, data: Path, as_json: bool) -> None:
    """Remove the runtime NAME, so that no new version can be submitted for it.

    What versions that may still play were submitted for stays on the disk.
    """
    held = BuiltRuntimes(data)
    if not is_name(name) or held.named(name) is None:
        known = ", ".join(each.name for each in held.all())
        hint = f"; there is {known}" if known else ""
        raise click.ClickException(f"there is no runtime {name!r} that was built{hint}")
    try:
        with plain_errors(), held.changing():
            kept = _run_by(data)
            stay = held.remove(name, kept)
    except OSError as error:
        raise click.ClickException(f"{name} is not removed: {error.strerror}") from error
    versions = [each for runtime in stay for each in kept[runtime.sha256]]
    if as_json:
        told = {"removed": name, "kept": [each.sha256 for each in stay], "versions": versions}
        click.echo(json.dumps(told, indent=2))
        return
    say(f"{name} is removed: no new version can name it.")
    if versions:
        say(f"It stays on the disk for {', '.join(versions)}.")


def _run_by(data: Path) -> dict[str, list[str]]:
    """The versions that need a runtime, by its hash."""
    path = store_path(data)
    if not is_there(path):
        return {}
    with open_store(path) as store:
        return {key: list(map(str, found)) for key, found in store.registry().run_by().items()}


@contextlib.contextmanager
def _shown(*, quiet: bool) -> Iterator[Told]:
    """Shows how far a build is: a bar where somebody looks, and else a line for each wheel."""
    console = PlainConsole(stderr=True)
    if quiet or not console.is_terminal:
        yield _Lines(quiet=quiet)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=console) as progress:
        yield _Bars(progress)


class _Lines:
    """A line for each wheel, as it begins to come."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet

    def __call__(self, what: str, done: int = 0, size: int = 0) -> None:
        if not self._quiet and not (done or size):
            say(f"  {plain(what)}", err=True)


class _Bars:
    """A bar for each wheel."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, Any] = {}

    def __call__(self, what: str, done: int = 0, size: int = 0) -> None:
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(plain(what), total=None)
        self._progress.update(self._tasks[what], completed=done, total=size or None)


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
