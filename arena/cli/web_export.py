"""`arena web export`: a competition as a folder of pages, for a disk or any host of files."""

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import click
from rich.progress import Progress

from arena.cli.options import data_option, plain_errors, require_folder
from arena.cli.suggestions import nearest
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import say
from arena.scenes.sentences import counted
from arena.server.data_folder import store_path
from arena.store import NoCompetition, is_there, open_store

if TYPE_CHECKING:
    from arena.web.site_export import ExportEstimate

_VIEWERS: Final = ("all", "spectator", "seats")


@click.command(
    epilog="""\b
Examples:
  arena web export autumn site
  arena web export autumn --estimate
  arena web export autumn site --viewers all,spectator
  arena web export autumn site --limit-mb 2000
  arena web export autumn site --data arena-data/demo
""",
)
@click.argument("competition")
@click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--viewers",
    default=",".join(_VIEWERS),
    help="The perspectives of match pages, separated by commas.",
)
@click.option(
    "--limit-mb",
    type=click.IntRange(0),
    default=500,
    show_default=True,
    help="Size of the files of matches, about, in megabytes; older matches beyond it are left out.",
)
@click.option("--estimate", is_flag=True, help="Estimate files, size and time, and write nothing.")
@data_option
def export(
    *,
    competition: str,
    folder: Path | None,
    viewers: str,
    limit_mb: int,
    estimate: bool,
    data: Path,
) -> None:
    """Write the pages of COMPETITION, its bots and matches into FOLDER.

    They are the pages that `arena web` serves; open index.html, without a server. A match is one file,
    which needs JavaScript. Any competition can be exported, also one in play: deal-sets that are open
    are left out, because their finished matches reveal the cards of those in play.
    """
    if folder is None and not estimate:
        raise click.UsageError("name a folder for the pages, or give --estimate")
    try:
        from arena.web.site_export import CannotExport, ExportSelection, prepare
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"pages need what the extra [web] brings ({error.name} is missing): "
            "pip install 'cardarena-engine[web]'"
        ) from None
    chosen = tuple(each.strip() for each in viewers.split(","))
    if unknown := set(chosen) - set(_VIEWERS):
        raise click.UsageError(
            f"no viewer {', '.join(sorted(unknown))}: choose of {', '.join(_VIEWERS)}"
        )
    require_folder(data)
    if not is_there(store_path(data)):
        raise click.ClickException(f"the folder {data} has no competition yet")
    with (
        plain_errors(),
        open_store(store_path(data)) as store,
    ):  # updates the schema of an older file
        names = [each.name for each in store.competitions().all()]
    if competition not in names:
        raise click.ClickException(
            f"{NoCompetition.entry.message(repr(competition))}; {nearest(competition, names)}"
        )
    wanted = ExportSelection(competition, chosen, limit_mb)
    workers = os.cpu_count() or 1
    try:
        with plain_errors():
            made = prepare(data, wanted, workers=workers)
            for each in sentences(made.estimate, workers):
                say(each, err=True)
            if folder is None or estimate:
                return
            with ExportProgress(made.estimate.matches) as progress:
                files, size = made.write(folder, workers=workers, progress=progress.show)
    except CannotExport as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"cannot write {folder}: {error.strerror}") from None
    click.echo(
        f"{files} files, {size / 1e6:.1f} MB. Open {(folder / 'index.html').resolve().as_uri()}"
    )


def sentences(found: "ExportEstimate", workers: int) -> Iterator[str]:
    """What will be written, and what is left out."""
    yield (
        f"{counted(found.matches, 'match')} in about {found.files} files, {found.size_mb:.1f} MB, "
        f"{found.time_s:.0f} s on {counted(workers, 'processor')}."
    )
    if found.left_out:
        yield (
            f"Left out: the oldest {counted(found.left_out, 'match')}. With all it would be "
            f"{found.all_mb:.0f} MB: --limit-mb {math.ceil(found.all_mb) + 1}."
        )
    if found.open_deal_sets:
        yield f"Left out: {counted(found.open_deal_sets, 'deal-set')} in play, until complete."


class ExportProgress:
    """A bar on a terminal; otherwise a line for each tenth of the matches."""

    def __init__(self, matches: int) -> None:
        console = PlainConsole(stderr=True)
        self._matches, self._tenths = matches, 0
        self._bars = Progress(console=console, transient=True) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._bars is not None:
            self._bars.start()
            self._bar = self._bars.add_task("matches", total=self._matches)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def show(self, done: int) -> None:
        """Show the number of matches so far."""
        if self._bars is not None:
            self._bars.update(self._bar, completed=done)
        elif done * 10 // self._matches > self._tenths:
            self._tenths = done * 10 // self._matches
            say(f"{done} of {counted(self._matches, 'match')}", err=True)
