"""`arena export-site`: a tournament as a folder of pages, for a disk or any host of files."""

import os
from pathlib import Path

import click
from rich.progress import Progress

from arena.cli.arguments import data_option, plain_errors
from arena.cli.named import require_folder
from arena.cli.near import nearest
from arena.cli.terminal.console import PlainConsole
from arena.server.data_folder import store_path
from arena.store import is_there, open_store

_EYES = ("all", "spectator", "seats")


@click.command(
    "export-site",
    epilog="""\b
Examples:
  arena export-site autumn site
  arena export-site autumn site --eyes all,spectator
  arena export-site autumn site --data arena-data/demo
""",
)
@click.argument("tournament")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--eyes",
    default=",".join(_EYES),
    show_default=True,
    help="Through whose eyes matches are shown.",
)
@click.option(
    "--matches",
    type=click.IntRange(0),
    help="Of how many matches there are pages, the newest; all, if it is not said.",
)
@data_option
def export_site(
    *, tournament: str, folder: Path, eyes: str, matches: int | None, data: Path
) -> None:
    """Write the pages of TOURNAMENT, its bots and matches into FOLDER.

    They are the pages that `arena web` serves, and need no server: open index.html. A tournament
    with an open deal-set is refused, as its tables play the same boards.
    """
    try:
        from arena.web.export import CannotExport, Wanted, export
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"pages need what the extra [web] brings ({error.name} is missing): "
            "pip install 'cardarena-engine[web]'"
        ) from None
    chosen = tuple(each.strip() for each in eyes.split(","))
    if unknown := set(chosen) - set(_EYES):
        raise click.UsageError(
            f"no eyes {', '.join(sorted(unknown))}: choose of {', '.join(_EYES)}"
        )
    require_folder(data)
    if not is_there(store_path(data)):
        raise click.ClickException(f"no tournament was played in the folder {data} yet")
    with plain_errors(), open_store(store_path(data)) as store:  # brings an older file up to date
        names = [each.name for each in store.tournaments()]
    if tournament not in names:
        raise click.ClickException(
            f"there is no tournament {tournament!r}; {nearest(tournament, names)}"
        )
    wanted = Wanted(tournament, chosen, per_game=matches)
    try:
        with plain_errors(), Progress(console=PlainConsole(stderr=True), transient=True) as bars:
            bar = bars.add_task("matches", total=None)
            files = export(
                data,
                folder,
                wanted,
                workers=os.cpu_count() or 1,
                progress=lambda done, of: bars.update(bar, completed=done, total=of),
            )
    except CannotExport as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"cannot write {folder}: {error.strerror}") from None
    click.echo(f"{files} files. Open {(folder / 'index.html').resolve().as_uri()}")
