"""`arena worker`: play deal-sets for an arena on another machine."""

import functools
import math
from collections.abc import Callable
from pathlib import Path

import click

from arena.app.worker import (
    HOST,
    MOST_LOCAL,
    SpeedClass,
    Stop,
    WorkersFailed,
    host_name,
    run_workers,
)
from arena.cli.arena_client import Server, dial_options
from arena.cli.options import data_folder, log_to, make_folder, token_file_option
from arena.cli.sandbox_options import SandboxChoice, competition_sandbox_options
from arena.cli.terminal.plain import say
from arena.cli.worker_process import worker_command
from arena.errors import exits
from arena.pictures.sentences import counted
from arena.validation import InvalidInput, text_of


def host_of(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str:
    """Return the name of this machine, from the option or the system."""
    if value is not None and not (value and HOST.fullmatch(value)):
        raise click.BadParameter("up to 64 letters, digits, dots, hyphens and underscores")
    return value or host_name()


@click.command(
    epilog="""\b
Examples:
  arena keys new worker m1 --to worker-token     at the arena
  arena worker --server https://arena.example:7654 --token-file worker-token
  arena worker --server https://arena.example:7654 --token-file worker-token --workers 4
  arena worker --server https://arena.example:7654 --token-file worker-token --exit-when-idle 300 --for 42000

\b
A competition is played by such workers if its plan has a speed class.
SIGTERM drains: the workers finish what they play, and take nothing new. A second one ends them.
The exit code is 0 if they were stopped or stopped by themselves, and 1 if the arena refused one, or
they stopped by themselves and never reached the arena.
"""
)
@click.option(
    "--server",
    "address",
    metavar="ADDRESS",
    required=True,
    help="The arena: https://HOST:PORT, or HOST:PORT on this machine.",
)
@token_file_option
@click.option(
    "--workers",
    default=1,
    type=click.IntRange(1, MOST_LOCAL),
    metavar="N",
    help="Worker processes; one for each two cores.",
)
@click.option(
    "--speed-class",
    type=click.IntRange(-50, 50),
    help="Speed class of this machine.  [default: measured, and again every hour when idle]",
)
@click.option(
    "--host",
    callback=host_of,
    metavar="NAME",
    help="Name of this machine: spot checks compare machines.  [default: its host name]",
)
@click.option(
    "--exit-when-idle",
    "idle_s",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Stop when no worker process has played for so long, the time before the first deal-set included.",
)
@click.option(
    "--for",
    "after_s",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Take nothing new after so long, finish what is in play, and stop.",
)
@click.option(
    "--drain-with-input",
    is_flag=True,
    help="Take nothing new once standard input has ended, finish what is in play, and stop.",
)
@dial_options
@competition_sandbox_options
@data_folder("Folder of archives, logs and matches in play. It may be deleted afterwards.")
def worker(
    *,
    address: str,
    token_file: Path,
    workers: int,
    speed_class: int | None,
    host: str,
    idle_s: float | None,
    after_s: float | None,
    drain_with_input: bool,
    server_at: Callable[[str, str], Server],
    confinement: SandboxChoice,
    data: Path,
) -> None:
    """Play deal-sets for an arena on another machine, until it is stopped.

    Workers see the cards of what they play: run them on machines of the arena's organiser only.
    """
    make_folder(data)
    log_to(data)
    try:
        token = text_of(token_file.read_bytes()).strip()
    except InvalidInput as error:
        raise click.ClickException(f"{token_file}: {error}") from None
    server = server_at(address, token)
    measured = SpeedClass(speed_class)
    processes = counted(workers, "worker process")
    click.echo(
        f"Speed class {measured.current}. Playing for {address} with {processes}. Ctrl-C stops."
    )
    command = worker_command(
        data, confinement=confinement, take_all=False, server=server, host=host
    )
    say_line = functools.partial(say, err=True)
    stop = Stop(idle_s or math.inf, after_s or math.inf, with_input=drain_with_input)
    try:
        run_workers(command, data, token, workers, measured, say_line, stop)
    except WorkersFailed as error:
        if str(error):
            raise click.ClickException(str(error)) from None
        raise click.exceptions.Exit(exits.FAILED) from None  # the processes have printed the reason
    click.echo("Stopped.")
