"""`arena serve`: an arena that bots connect to."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from arena.app.programs import ServerSettings, TlsFiles, serve_bots
from arena.app.worker import MOST_LOCAL
from arena.cli.options import data_option, log_to, plain_errors
from arena.cli.sandbox_options import SandboxChoice, competition_sandbox_options
from arena.cli.web import WEB_PORT
from arena.cli.worker_process import worker_command

DEFAULT_PORT = 7654
WEB_STOP_S = 10.0
_HANDED_ON = ("PATH", "LANG", "LC_ALL", "HOME", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH")
"""Environment variables that `arena web` inherits."""
_PORT = click.IntRange(0, 65_535)
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(
    epilog="""\b
Examples:
  arena serve
  arena serve --web
  arena serve --web --spectator-delay 60
  arena serve --web --open-hands
  arena serve --host unix:arena.sock
  arena serve --workers 4
  arena serve --house
  arena serve --store postgresql://arena@db.example/arena
  arena serve --host 0.0.0.0 --tls-cert arena.crt --tls-key arena.key

\b
Bots connect with keys, which `arena keys new` creates, also while the arena runs.
On this machine a bot without a key connects as a guest, with the token `guest:NAME`.
`arena bots list` lists the connected bots; `arena match create` creates a match between them.
"""
)
@click.option(
    "--host", default="127.0.0.1", help="Address to listen on, or unix:PATH for a socket file."
)
@click.option(
    "--port",
    default=DEFAULT_PORT,
    type=_PORT,
    envvar="ARENA_PORT",
    help="Port; 0 takes a free one.",
)
@click.option(
    "--tls-cert", type=_FILE, help="Certificate chain in PEM; a renewed one needs no restart."
)
@click.option("--tls-key", type=_FILE, help="Private key of the certificate, in PEM.")
@click.option(
    "--tls-client-ca", type=_FILE, help="Require client certificates signed by one of these."
)
@click.option("--insecure", is_flag=True, help="Accept plain-text connections from other machines.")
@click.option(
    "--guests/--no-guests",
    default=None,
    help="Whether bots without a key may connect.  [default: yes, if only this machine is served]",
)
@click.option(
    "--drain",
    default=120.0,
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="Time limit for matches in play after SIGTERM.",
)
@click.option(
    "--metrics-port",
    default=0,
    type=_PORT,
    help="Port of the metrics for Prometheus and of the status page; 0 takes a free one.",
)
@click.option("--metrics-host", default="127.0.0.1", help="Address of the metrics.")
@click.option("--no-metrics", is_flag=True, help="Serve no metrics and no status.")
@click.option(
    "--take-all",
    is_flag=True,
    help="Accept new matches also while the arena is late or its disk is nearly full.",
)
@click.option(
    "--web",
    "with_web",
    is_flag=True,
    help="Also run `arena web` for the same folder, in a process of its own.",
)
@click.option(
    "--web-port", default=WEB_PORT, type=_PORT, help="Port of the pages; 0 takes a free one."
)
@click.option(
    "--spectator-delay",
    default=0.0,
    type=click.FloatRange(0, 600),
    metavar="SECONDS",
    help="Delay of events for spectators. Deal-sets need none, because they are sealed "
    "while they are played.",
)
@click.option(
    "--open-hands",
    is_flag=True,
    help="Show all hands of matches with a seed (practice) to spectators. "
    "Allowed only if the arena serves this machine alone.",
)
@click.option(
    "--workers",
    default=0,
    type=click.IntRange(0, MOST_LOCAL),
    metavar="N",
    help="Play deal-sets of launched bots in N processes; with 0, in the arena's own. "
    "Matches of connected bots are always played in the arena's own process.",
)
@click.option(
    "--house",
    is_flag=True,
    help="Enter the arena's own bots, one of each level, in every ladder that any bot may enter. "
    "They are launched when another bot is there to play with.",
)
@click.option(
    "--store",
    "store_url",
    default="",
    envvar="ARENA_STORE",
    metavar="URL",
    help="Store results in PostgreSQL, postgresql://HOST/DATABASE, instead of a file; the folder "
    "remembers the address for all commands.",
)
@click.option(
    "--webhook-host",
    "webhook_hosts",
    multiple=True,
    metavar="HOST",
    help="A host to which webhooks may be sent by http and at a private address; may be repeated.",
)
@competition_sandbox_options
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
    with_web: bool,
    web_port: int,
    spectator_delay: float,
    open_hands: bool,
    workers: int,
    house: bool,
    store_url: str,
    webhook_hosts: tuple[str, ...],
    confinement: SandboxChoice,
    data: Path,
) -> None:
    """Run an arena until it is interrupted.

    Ctrl-C stops it at once. SIGTERM drains it: matches in play finish first.
    """
    settings = ServerSettings(
        data,
        host,
        port,
        drain,
        tls=_tls_files(tls_cert, tls_key, tls_client_ca),
        insecure=insecure,
        metrics_port=None if no_metrics else metrics_port,
        metrics_host=metrics_host,
        limits_load=not take_all,
        spectator_delay_s=spectator_delay,
        open_hands=open_hands,
        webhook_hosts=frozenset(webhook_hosts),
    )
    if guests and not settings.is_local:
        text = "guests are let in on this machine only; for other addresses make keys: arena keys"
        raise click.UsageError(text)
    log_to(data)
    with plain_errors(), contextlib.ExitStack() as stack:
        # The sandbox is for the bots of competitions. It must be built before gRPC.
        sandbox = stack.enter_context(confinement.raised(data))
        confinement.warn_of_disk(sandbox)

        def listening(address: str, needs_key: bool) -> None:
            _print(settings, address, needs_key=needs_key)
            if with_web:  # this line follows the arena's own line
                stack.enter_context(_web(data, web_port))

        try:
            serve_bots(
                settings,
                worker_command(data, confinement=confinement, take_all=take_all),
                workers=workers,
                house=house,
                guests=guests,
                store_url=store_url,
                sandbox=sandbox,
                listening=listening,
            )
        except KeyboardInterrupt:
            click.echo("Stopped.")
        else:
            click.echo("Drained.")


def _print(settings: ServerSettings, address: str, *, needs_key: bool) -> None:
    url = f"https://{address}" if settings.tls else address
    click.echo(f"The arena listens on {url}. Data in {settings.data}. Ctrl-C stops it.")
    if settings.open_hands:
        click.echo("Hands are open: spectators of a match made with a seed see all cards.")
    if needs_key:
        click.echo("There is no key yet: `arena keys new --help` says how to create one.")


@contextlib.contextmanager
def _web(data: Path, port: int) -> Iterator[None]:
    """Run `arena web` beside this arena.

    It is a separate process: it shares no memory with the arena, has a lower priority and inherits no secrets from the
    environment. Its standard input is a pipe from this process, so that it ends when this process ends.
    """
    command = [sys.executable, "-m", "arena", "web", "--data", str(data), "--port", str(port)]
    environment = {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
    process = subprocess.Popen(
        [*command, "--with-parent"],
        env=environment,
        stdin=subprocess.PIPE,
        start_new_session=True,
        close_fds=True,
    )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(WEB_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdin is not None
        process.stdin.close()


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
