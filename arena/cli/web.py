"""`arena web`: pages of live and past matches, served by a process of its own or exported."""

import sys
from pathlib import Path

import click

from arena.cli.browser import open_in_browser
from arena.cli.command_group import CommandGroup
from arena.cli.options import data_option, log_to, plain_errors, require_folder

WEB_PORT = 7655


@click.group(
    cls=CommandGroup,
    lazy={"export": "arena.cli.web_export:export"},
    default="serve",
    epilog="""\b
Examples:
  arena web
  arena web --data arena-data/demo --port 8000
  arena web --open
  arena web --host 0.0.0.0
  arena web --organiser --port 8001
  arena web export autumn site

\b
The server reads the data folder and writes only DATA/pages, a cache of drawn pages.
To publish the pages, run a proxy with HTTP/2 and TLS in front of it.
""",
)
def web() -> None:
    """Serve pages of the matches, standings and bots in a data folder, until it is interrupted.

    Matches of an arena that runs in the folder are shown live. The pages reveal no hidden card:
    matches of a deal-set that is not complete are sealed.
    """


@web.command(hidden=True, epilog="\b\nExamples:\n  arena web")
@click.option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option(
    "--port",
    default=WEB_PORT,
    type=click.IntRange(0, 65_535),
    envvar="ARENA_WEB_PORT",
    help="Port; 0 takes a free one.",
)
@click.option("--open", "opens", is_flag=True, help="Open the pages in the browser.")
@click.option(
    "--organiser",
    is_flag=True,
    help="Also serve /workers and /competitions/NAME.collusion, which others should not read; on this machine only.",
)
@click.option("--with-parent", is_flag=True, hidden=True, help="End when standard input does.")
@data_option
def serve(
    *, host: str, port: int, opens: bool, organiser: bool, with_parent: bool, data: Path
) -> None:
    """Serve the pages."""
    try:
        from arena.web.serve import CannotServePages
        from arena.web.serve import serve as serve_pages
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in (
            "jinja2",
            "markdown_it",
            "markupsafe",
            "starlette",
            "uvicorn",
        ):
            raise
        raise click.ClickException(
            "pages need what the extra [web] brings: pip install 'cardarena-engine[web]'"
        ) from None
    require_folder(data)
    log_to(data, "web.log")

    def listening(address: str) -> None:
        click.echo(f"Pages are at http://{address}/. Data in {data}. Ctrl-C stops it.")
        if organiser:
            click.echo(
                "For organisers: /workers, and /competitions/NAME.collusion of each competition."
            )
        if opens:
            open_in_browser(f"http://{address}/")

    with plain_errors():
        try:
            lifeline = sys.stdin.fileno() if with_parent else None
            serve_pages(data, host, port, listening, lifeline, organiser=organiser)
        except CannotServePages as error:
            raise click.ClickException(str(error)) from None
    click.echo("Stopped.")
