"""`arena serve`: an arena that bots dial in to."""

from pathlib import Path

import click

from arena.cli.arguments import data_option, log_to, plain_errors
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.data_folder import store_path
from arena.server.gate.key_watch import KeySource, KeyWatch
from arena.server.gate.tokens import Tokens
from arena.server.host import ServerSettings
from arena.server.host import serve as run_server
from arena.server.listen import TlsFiles, is_local
from arena.server.refusals import Refused
from arena.store import open_store

DEFAULT_PORT = 7654
_PORT = click.IntRange(0, 65_535)
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(
    epilog="""\b
Examples:
  arena serve
  arena serve --host unix:arena.sock
  arena serve --host 0.0.0.0 --tls-cert arena.crt --tls-key arena.key

\b
Bots are let in with the keys that `arena keys` makes, also while the arena runs.
On this machine a bot without a key is let in as a guest, by the token `guest:NAME`.
`arena bots` lists who is there, and `arena match` makes a match between them.
"""
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on, or unix:PATH for a socket file.",
)
@click.option(
    "--port",
    default=DEFAULT_PORT,
    show_default=True,
    type=_PORT,
    envvar="ARENA_PORT",
    help="Port; 0 takes a free one.",
)
@click.option("--tls-cert", type=_FILE, help="Certificate and those that lead to its root, in PEM.")
@click.option("--tls-key", type=_FILE, help="The certificate's private key, in PEM.")
@click.option(
    "--tls-client-ca", type=_FILE, help="Let in only who has a certificate signed by one of these."
)
@click.option("--insecure", is_flag=True, help="Let plain text leave this machine.")
@click.option(
    "--guests/--no-guests",
    default=None,
    help="Whether bots without a key are let in; as long as only this machine is served, they are.",
)
@click.option(
    "--drain",
    default=120.0,
    type=click.FloatRange(0),
    show_default=True,
    metavar="SECONDS",
    help="After SIGTERM, longest time for matches in play.",
)
@click.option(
    "--metrics-port",
    default=0,
    type=_PORT,
    show_default=True,
    help="Port of the metrics, for Prometheus, and of what `arena status` reads; 0 takes a free one.",
)
@click.option(
    "--metrics-host", default="127.0.0.1", show_default=True, help="Address of the metrics."
)
@click.option("--no-metrics", is_flag=True, help="Serve no metrics and no status.")
@click.option(
    "--take-all",
    is_flag=True,
    help="Take new matches also while the arena is late or its disk is nearly full.",
)
@data_option
def serve(
    *,
    host: str,
    port: int,
    tls_cert: Path | None,
    tls_key: Path | None,
    tls_client_ca: Path | None,
    insecure: bool,
    guests: bool | None,
    drain: float,
    metrics_port: int,
    metrics_host: str,
    no_metrics: bool,
    take_all: bool,
    data: Path,
) -> None:
    """Run an arena until it is interrupted.

    Ctrl-C stops at once; SIGTERM lets the matches in play end first.
    """
    if guests and not is_local(host):
        text = "guests are let in on this machine only; for other addresses make keys: arena keys"
        raise click.UsageError(text)
    tls = _tls_files(tls_cert, tls_key, tls_client_ca)
    settings = ServerSettings(
        data,
        host,
        port,
        drain,
        tls=tls,
        insecure=insecure,
        metrics_port=None if no_metrics else metrics_port,
        metrics_host=metrics_host,
        limits_load=not take_all,
    )
    log_to(data)
    path = store_path(data)
    with plain_errors():
        open_store(path).close()  # made, or brought up to date, with patience for other programs
        with open_store(path, busy_timeout_s=0) as store:
            keys = store.keys()
            tokens = Tokens(guests=is_local(host) if guests is None else guests, keys=keys.all())
            _run(settings, tokens, keys)


def _run(settings: ServerSettings, tokens: Tokens, keys: KeySource) -> None:
    async def main(arena: Arena) -> None:
        address = f"https://{arena.address}" if settings.tls else arena.address
        click.echo(f"The arena listens on {address}. Data in {settings.data}. Ctrl-C stops it.")
        if not tokens.guests and tokens.change == 0:
            click.echo("Nobody has a key yet: `arena keys new --help` says how to make one.")

        def hang_up(bot: BotId, verdict: Refused) -> None:
            session = arena.sessions.get(bot)
            if session is not None:
                session.close(verdict)

        await KeyWatch(keys, tokens, hang_up).run()

    try:
        run_server(settings, tokens, main)
    except KeyboardInterrupt:
        click.echo("Stopped.")
    else:
        click.echo("Drained.")


def _tls_files(
    certificate: Path | None, key: Path | None, client_ca: Path | None
) -> TlsFiles | None:
    if certificate is not None and key is not None:
        return TlsFiles(certificate, key, client_ca)
    if certificate is not None or key is not None:
        raise click.UsageError("TLS needs both --tls-cert and --tls-key")
    if client_ca is not None:
        raise click.UsageError("--tls-client-ca needs --tls-cert and --tls-key")
    return None
