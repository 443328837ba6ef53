"""`arena serve`: an arena that bots dial in to."""

from pathlib import Path

import click
import trio

from arena.cli.arguments import data_option, log_to, plain_errors
from arena.server.arena import Arena
from arena.server.host import ServerSettings
from arena.server.host import serve as run_server
from arena.server.session import BotId
from arena.server.tokens import NAME, Tokens

DEFAULT_PORT = 7654
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command(
    epilog="""\b
Examples:
  arena serve
  arena serve --port 7700 --tokens tokens.txt

\b
A bot that says hello as `guest:NAME` is let in as NAME on this machine only.
Make a match between connected bots with the LobbyService, as from grpcurl:
  grpcurl -plaintext -d '{"game":"abstrac","bots":["a","b"]}' \\
    localhost:7654 cardarena.v1.LobbyService/CreateMatch
"""
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=DEFAULT_PORT, show_default=True, help="Port; 0 takes a free one.")
@click.option(
    "--tokens",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File of bots that are let in, a line each: NAME TOKEN.",
)
@click.option(
    "--drain",
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="After SIGTERM, longest time for matches in play.",
)
@data_option
def serve(host: str, port: int, tokens: Path | None, drain: float, data: Path) -> None:
    """Run an arena until it is interrupted.

    Ctrl-C stops at once; SIGTERM lets the matches in play end first.
    """
    known = Tokens(guests=host in _LOOPBACK)
    if tokens is not None:
        _read_tokens(tokens, known)
    elif host not in _LOOPBACK:
        text = "guests are let in on this machine only; for other addresses give --tokens FILE"
        raise click.UsageError(text)

    async def main(arena: Arena) -> None:
        click.echo(f"The arena listens on {arena.address}. Data in {data}. Ctrl-C stops it.")
        await trio.sleep_forever()

    log_to(data)
    with plain_errors():
        try:
            run_server(ServerSettings(data, host, port, drain), known, main)
        except KeyboardInterrupt:
            click.echo("Stopped.")
        else:
            click.echo("Drained.")


def _read_tokens(path: Path, tokens: Tokens) -> None:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, token = line.strip().rpartition(" ")
        if not NAME.fullmatch(name) or len(token) < 16:
            text = f"{path}, line {number}: NAME TOKEN expected, the token of 16 characters or more"
            raise click.UsageError(text)
        tokens.add(token, BotId(name))
