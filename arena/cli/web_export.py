"""`arena web export`: a competition as a folder of pages, for a disk or any host of files."""

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import click
from rich.progress import Progress

from arena.cli.options import data_option, plain_errors
from arena.cli.suggestions import nearest
from arena.cli.terminal.console import PlainConsole
from arena.cli.terminal.plain import say
from arena.cli.web import address_option, needs_web_packages
from arena.pictures.sentences import counted

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
"""
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
@address_option
@data_option
def export(
    *,
    competition: str,
    folder: Path | None,
    viewers: str,
    limit_mb: int,
    estimate: bool,
    address: str,
    data: Path,
) -> None:
    """Write the pages of COMPETITION, its bots and matches into FOLDER.

    They are the pages that `arena web` serves; open index.html, without a server: it is the page of
    the competition. A match is one file. Any competition can be exported, also one in play: deal-sets that are open
    are left out, because their finished matches reveal the cards of those in play.
    """
    if folder is None and not estimate:
        raise click.UsageError("name a folder for the pages, or give --estimate")
    with needs_web_packages():
        from arena.cli.competition_client import CompetitionClient
        from arena.cli.services import local_services, require_store
        from arena.web.site_export import CannotExport, ExportSelection, prepare
    chosen = tuple(viewer.strip() for viewer in viewers.split(","))
    if unknown := set(chosen) - set(_VIEWERS):
        raise click.UsageError(
            f"no viewer {', '.join(sorted(unknown))}: choose of {', '.join(_VIEWERS)}"
        )
    with local_services(data, CompetitionClient, require=require_store) as client:
        names = [row.name for row in client.all()]
    if competition not in names:
        raise click.ClickException(
            f"no such competition: {competition!r}; {nearest(competition, names)}"
        )
    selection = ExportSelection(competition, chosen, limit_mb, address)
    workers = os.cpu_count() or 1
    try:
        with plain_errors():
            prepared = prepare(data, selection, workers=workers)
            for sentence in sentences(prepared.estimate, workers):
                say(sentence, err=True)
            if folder is None or estimate:
                return
            with ExportProgress(prepared.estimate.matches) as progress:
                files, size = prepared.write(folder, workers=workers, progress=progress.show)
    except CannotExport as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"cannot write {folder}: {error.strerror}") from None
    click.echo(
        f"{files} files, {size / 1e6:.1f} MB. Open {(folder / 'index.html').resolve().as_uri()}"
    )


def sentences(estimate: "ExportEstimate", workers: int) -> Iterator[str]:
    """Yield sentences about the files that will be written, and those that are left out."""
    yield (
        f"{counted(estimate.matches, 'match')} in about {estimate.files} files, {estimate.size_mb:.1f} MB, "
        f"{estimate.time_s:.0f} s on {counted(workers, 'processor')}."
    )
    if estimate.left_out:
        yield (
            f"Left out: the oldest {counted(estimate.left_out, 'match')}. With all it would be "
            f"{estimate.all_mb:.0f} MB: --limit-mb {math.ceil(estimate.all_mb) + 1}."
        )
    if estimate.open_deal_sets:
        yield f"Left out: {counted(estimate.open_deal_sets, 'deal-set')} in play, until complete."


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
        if self._bars is not None:
            self._bars.update(self._bar, completed=done)
        elif done * 10 // self._matches > self._tenths:
            self._tenths = done * 10 // self._matches
            say(f"{done} of {counted(self._matches, 'match')}", err=True)
