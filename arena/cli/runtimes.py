"""`arena runtimes`: the programs that run submitted bots, and Python runtimes with packages."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from arena.cli.command_group import CommandGroup
from arena.cli.options import data_folder, json_option, plain_errors, print_json
from arena.cli.terminal.console import PlainConsole, print_table
from arena.cli.terminal.plain import plain, say
from arena.server.data_folder import store_path
from arena.server.submissions.built_runtimes import BuiltRuntime, BuiltRuntimes
from arena.server.submissions.runtime_build import BuildProgress, NotBuilt, build
from arena.server.submissions.runtimes import Runtime
from arena.server.submissions.runtimes import runtimes as looked_for
from arena.store import is_there, open_store
from arena.submission.runtime_file import HASH_CHARS, BadRuntime, is_name

_MOST_SHOWN: Final = 6
"""Packages of a runtime in the table; `--json` has all."""


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
    found, built = looked_for(), BuiltRuntimes(data).all()
    if as_json:
        rows = [*map(_as_json, found), *map(_built_json, built)]
        print_json({"runtimes": rows})
        return
    table = [(each.name, each.version or "-", each.lacks or each.program) for each in found]
    table += [(one.name, one.sha256[:HASH_CHARS], one.lacks or _packages(one)) for one in built]
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
        print_json(told)
        return
    say(f"{name} is removed: no new version can name it.")
    if versions:
        say(f"It stays on the disk for {', '.join(versions)}.")


def _run_by(data: Path) -> dict[str, list[str]]:
    """The versions that need a runtime, by the hash of the runtime."""
    path = store_path(data)
    if not is_there(path):
        return {}
    with open_store(path) as store:
        return {key: list(map(str, found)) for key, found in store.registry().run_by().items()}


@contextlib.contextmanager
def _shown(*, quiet: bool) -> Iterator[BuildProgress]:
    """Show the progress of a build: a bar on a terminal, otherwise a line for each wheel."""
    console = PlainConsole(stderr=True)
    if quiet or not console.is_terminal:
        yield _Lines(quiet=quiet)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=console) as progress:
        yield _Bars(progress)


class _Lines:
    """Prints a line for each wheel when its download begins."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet

    def __call__(self, what: str, done: int = 0, size: int = 0) -> None:
        if not self._quiet and not (done or size):
            say(f"  {plain(what)}", err=True)


class _Bars:
    """Shows a bar for each wheel."""

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
