"""`arena web`: pages of live and past matches, which a separate process serves, or which are exported."""

import contextlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from arena.cli.browser import open_in_browser
from arena.cli.command_group import CommandGroup
from arena.cli.options import data_option, log_to, plain_errors, require_folder

WEB_PORT = 7655
_WEB_PACKAGES = frozenset(
    {
        "jinja2",
        "markdown_it",
        "markupsafe",
        "python_multipart",
        "starlette",
        "uvicorn",
        "websockets",
    }
)


@contextlib.contextmanager
def needs_web_packages() -> Iterator[None]:
    """Print what to install if the modules of pages cannot be imported within the block."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _WEB_PACKAGES:
            raise
        raise click.ClickException(
            f"pages need what the extra [web] brings ({error.name} is missing): "
            "pip install 'cardarena-engine[web]'"
        ) from None


def _web_address(_context: click.Context, _option: click.Parameter, value: str) -> str:
    if value and not re.fullmatch(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?/?", value):
        raise click.BadParameter(f"{value!r} is not like https://arena.example: no path follows")
    return value.rstrip("/")


address_option = click.option(
    "--address",
    default="",
    envvar="ARENA_WEB_ADDRESS",
    metavar="URL",
    callback=_web_address,
    help="Where readers find the site, such as https://arena.example, for whole links in previews and feeds.",
)


@click.group(
    cls=CommandGroup,
    lazy={"export": "arena.cli.web_export:export"},
    default="serve",
    epilog="""\b
Examples:
  arena web
  arena web --data arena-data/demo --port 8000
  arena web --open
  arena web --host 0.0.0.0 --address https://arena.example
  arena web --embed-in https://blog.example
  arena web --organiser --port 8001
  arena web --data pages --store postgresql://public_pages@db.example/arena
  arena web export autumn site

\b
The server reads the data folder and writes only DATA/pages, a cache of drawn pages with replays of people's matches, and DATA/web.log.
Of the folder it needs replays/, live/ and, unless --store names another, the store.
To publish the pages, run a proxy with HTTP/2 and TLS in front of it.
""",
)
def web() -> None:
    """Serve pages of the matches, standings and bots in a data folder, until it is interrupted.

    Matches of an arena that runs in the folder are shown live. The pages reveal no hidden card:
    matches of a deal-set that is not complete are sealed. At /play/ people play house bots, unrated.
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
@click.option(
    "--store",
    "store_url",
    default="",
    envvar="ARENA_STORE",
    metavar="URL",
    help="Read results from PostgreSQL, postgresql://HOST/DATABASE, instead of the store of the folder. "
    "The role public_pages is enough.",
)
@address_option
@click.option(
    "--embed-in",
    multiple=True,
    metavar="URL",
    callback=lambda context, option, values: [_web_address(context, option, v) for v in values],
    help="A site whose pages may contain matches, as /embed/m/ID/VIEWER/HAND in a frame; several times for several.",
)
@click.option(
    "--bots-from",
    multiple=True,
    metavar="URL",
    callback=lambda context, option, values: [_web_address(context, option, v) for v in values],
    help="Another site whose pages may connect bots of their readers' browsers at /seat; several times for several.",
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
    *,
    host: str,
    port: int,
    store_url: str,
    address: str,
    embed_in: list[str],
    bots_from: list[str],
    opens: bool,
    organiser: bool,
    with_parent: bool,
    data: Path,
) -> None:
    """Serve the pages."""
    with needs_web_packages():
        from arena.web.serve import CannotServePages
        from arena.web.serve import serve as serve_pages
    require_folder(data)
    log_to(data, "web.log")

    def listening(at: str) -> None:
        click.echo(f"Pages are at http://{at}/. Data in {data}. Ctrl-C stops it.")
        if organiser:
            click.echo(
                "For organisers: /workers, and /competitions/NAME.collusion of each competition."
            )
        if opens:
            open_in_browser(f"http://{at}/")

    with plain_errors():
        try:
            lifeline = sys.stdin.fileno() if with_parent else None
            serve_pages(
                data,
                host,
                port,
                listening,
                lifeline,
                store_url=store_url,
                organiser=organiser,
                site_address=address,
                embed_in=embed_in,
                bots_from=bots_from,
            )
        except CannotServePages as error:
            raise click.ClickException(str(error)) from None
    click.echo("Stopped.")
