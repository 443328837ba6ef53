"""`arena serve`: an arena that bots dial in to."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import click
import trio

from arena.cli.arguments import data_option, log_to, plain_errors
from arena.cli.jail import jailed, level_of
from arena.cli.playing import playing_command
from arena.cli.web import WEB_PORT
from arena.jail import Demand, Level, Wall, raise_wall
from arena.replay.signing import arena_key
from arena.server.arena import Arena
from arena.server.bots import BotId
from arena.server.competitions.hall import Hall
from arena.server.competitions.playing_processes import Command, PlayingProcesses
from arena.server.data_folder import store_path
from arena.server.gate.key_watch import KeySource, KeyWatch
from arena.server.gate.tokens import Tokens
from arena.server.host import ServerSettings
from arena.server.host import serve as run_server
from arena.server.listen import TlsFiles, is_local, require_this_machine
from arena.server.office import Office
from arena.server.refusals import Refused
from arena.server.submissions.qualifier import Qualifier
from arena.server.submissions.remote_versions import RemoteVersions
from arena.server.tables_apart import TablesApart
from arena.store import Store, keep_in, open_store

DEFAULT_PORT = 7654
WEB_STOP_S = 10.0
MOST_PROCESSES = 64
_HANDED_ON = ("PATH", "LANG", "LC_ALL", "HOME", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH")
"""What `arena web` gets of this program's environment."""
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
  arena serve --processes 4
  arena serve --store postgresql://arena@db.example/arena
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
@click.option(
    "--web",
    "with_web",
    is_flag=True,
    help="Serve pages as well: starts `arena web` for the same folder, as a process of its own.",
)
@click.option(
    "--web-port",
    default=WEB_PORT,
    show_default=True,
    type=_PORT,
    help="Port of the pages; 0 takes a free one.",
)
@click.option(
    "--spectator-delay",
    default=0.0,
    type=click.FloatRange(0, 600),
    show_default=True,
    metavar="SECONDS",
    help="How long after it happened who watches a match is told of it. Deal-sets need none: "
    "they are sealed while they are played.",
)
@click.option(
    "--open-hands",
    is_flag=True,
    help="Show who watches all hands of practice: of matches made with a seed, and of no others. "
    "Only where none but this machine is listened to.",
)
@click.option(
    "--processes",
    default=1,
    type=click.IntRange(1, MOST_PROCESSES),
    show_default=True,
    metavar="N",
    help="Deal out the deal-sets of bots that the arena launches to N processes. With 1 this one "
    "plays them; bots that dial in play in this one always.",
)
@click.option(
    "--store",
    "store_url",
    default="",
    envvar="ARENA_STORE",
    metavar="URL",
    help="Keep results in PostgreSQL, postgresql://HOST/DATABASE, not in a file; the folder "
    "remembers it, for all commands.",
)
@jailed
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
    processes: int,
    store_url: str,
    demand: str,
    read_only: tuple[Path, ...],
    data: Path,
) -> None:
    """Run an arena until it is interrupted.

    Ctrl-C stops at once; SIGTERM lets the matches in play end first.
    """
    if guests and not is_local(host):
        text = "guests are let in on this machine only; for other addresses make keys: arena keys"
        raise click.UsageError(text)
    tls = _tls_files(tls_cert, tls_key, tls_client_ca)
    log_to(data)
    path = store_path(data)
    with plain_errors():
        if open_hands:
            require_this_machine(host)  # before anything is started
        if store_url:
            keep_in(store_url, path)
        open_store(path).close()  # made, or brought up to date, with patience for other programs
        # For the bots of competitions; it is raised before gRPC is.
        wall = raise_wall(Demand(demand), data=data, read_only=read_only)
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
            spectator_delay_s=spectator_delay,
            open_hands=open_hands,
            play_socket=level_of(wall) != Level.S0.value,
            jail=level_of(wall),
        )
        command = playing_command(
            data, demand=demand, read_only=read_only, drain_s=drain, take_all=take_all
        )
        with (
            contextlib.nullcontext() if wall is None else wall,
            open_store(path, busy_timeout_s=0) as store,
            open_store(path) as patient,
        ):
            keys = store.keys()
            tokens = Tokens(guests=is_local(host) if guests is None else guests, keys=keys.all())
            with contextlib.ExitStack() as pages:

                def listening() -> None:
                    if with_web:  # only now: so its line comes after that of the arena
                        pages.enter_context(_web(data, web_port))

                _run(settings, tokens, keys, patient, wall, command, processes, listening)


@contextlib.contextmanager
def _web(data: Path, port: int) -> Iterator[None]:
    """`arena web` beside this arena, for as long as it runs.

    It is another program, so that nothing that this one holds in memory is in it, and it gives way
    by itself. Of the environment it gets no secret. Its standard input is a pipe of which this
    process holds the other end: it ends with this one, however that came.
    """
    command = [sys.executable, "-m", "arena", "web", "--data", str(data), "--port", str(port)]
    kept = {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
    process = subprocess.Popen(
        [*command, "--with-parent"],
        env=kept,
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


def _run(
    settings: ServerSettings,
    tokens: Tokens,
    keys: KeySource,
    store: Store,
    wall: Wall | None,
    command: Command,
    processes: int,
    listening: Callable[[], None],
) -> None:
    """Serve, and play the competitions of a store, which may wait for other programs.

    `listening` is called once the arena's address has been said.
    """

    async def main(arena: Arena) -> None:
        address = f"https://{arena.address}" if settings.tls else arena.address
        click.echo(f"The arena listens on {address}. Data in {settings.data}. Ctrl-C stops it.")
        if settings.open_hands:
            click.echo("Hands are open: whoever watches a match made with a seed sees all cards.")
        if not tokens.guests and tokens.change == 0:
            click.echo("Nobody has a key yet: `arena keys new --help` says how to make one.")
        listening()

        def hang_up(bot: BotId, verdict: Refused) -> None:
            session = arena.sessions.get(bot)
            if session is not None:
                session.close(verdict)

        registry = store.registry()
        versions = RemoteVersions(registry, _now)
        arena.on_version = versions.heard
        tables = TablesApart(store_path(settings.data))
        office = Office(store.competitions(), arena_key(settings.data), make=tables.unsigned)
        with contextlib.closing(tables):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(KeyWatch(keys, tokens, hang_up, store.news()).run)
                nursery.start_soon(versions.run)
                qualifier = Qualifier(settings.data, registry, _now, news=store.news())
                nursery.start_soon(qualifier.run)
                # One process plays for itself. Where there were more before, they end what they began.
                number = processes if processes > 1 else 0
                elsewhere = PlayingProcesses(arena, settings.data, command, number)
                await nursery.start(elsewhere.run)
                hall = Hall(
                    arena, store, office, settings.data, nursery, wall=wall, elsewhere=elsewhere
                )
                nursery.start_soon(hall.run)

    try:
        run_server(settings, tokens, main)
    except KeyboardInterrupt:
        click.echo("Stopped.")
    else:
        click.echo("Drained.")


def _now() -> datetime:
    return datetime.now(UTC)


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
