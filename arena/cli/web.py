"""`arena web`: pages of what is played and was played, as a process of its own."""

import sys
from pathlib import Path

import click

from arena.cli.arguments import data_option, log_to, plain_errors
from arena.cli.browser import open_in_browser
from arena.cli.named import require_folder

WEB_PORT = 7655


@click.command(
    epilog="""\b
Examples:
  arena web
  arena web --data arena-data/demo --port 8000
  arena web --open
  arena web --host 0.0.0.0

\b
It reads the folder and writes nothing to it but DATA/pages, where pages that were drawn are kept.
Put a proxy that speaks HTTP/2 and TLS in front of it where others are to see it.
"""
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    default=WEB_PORT,
    show_default=True,
    type=click.IntRange(0, 65_535),
    envvar="ARENA_WEB_PORT",
    help="Port; 0 takes a free one.",
)
@click.option("--open", "opens", is_flag=True, help="Open the pages in the browser.")
@click.option("--with-parent", is_flag=True, hidden=True, help="End when standard input does.")
@data_option
def web(*, host: str, port: int, opens: bool, with_parent: bool, data: Path) -> None:
    """Serve pages of the matches, tables and bots in a folder, until it is interrupted.

    An arena that runs in the folder is watched live. The pages show nothing that is secret while
    it is: matches of a deal-set that is open are sealed.
    """
    try:
        from arena.web.serve import CannotServePages, serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "markdown_it"):
            raise
        raise click.ClickException(
            "pages need what the extra [web] brings: pip install 'cardarena-engine[web]'"
        ) from None
    require_folder(data)
    log_to(data, "web.log")

    def listening(address: str) -> None:
        click.echo(f"Pages are at http://{address}/. Data in {data}. Ctrl-C stops it.")
        if opens:
            open_in_browser(f"http://{address}/")

    with plain_errors():
        try:
            serve(data, host, port, listening, sys.stdin.fileno() if with_parent else None)
        except CannotServePages as error:
            raise click.ClickException(str(error)) from None
    click.echo("Stopped.")
