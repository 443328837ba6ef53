"""`arena worker`: play deal-sets for an arena on another machine."""

import logging
import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import click

from arena.cli.arena_client import Server, dial_options
from arena.cli.options import data_folder, log_to, make_folder
from arena.cli.sandbox_options import SandboxChoice, sandbox_options
from arena.cli.terminal.plain import say
from arena.cli.worker_link import Stopped, WorkerLink, limit_cache
from arena.scenes.sentences import counted
from arena.server.workers.local import MOST_LOCAL
from arena.server.workers.speed import speed_class as measured

MAX_CACHE_BYTES: Final = 10 * 2**30
"""Archives, and likewise installed wheels, that a worker keeps from its last run."""

MEASURE_AGAIN_S: Final = 3600.0
"""Time from one measurement of the speed class to the next, which waits until nothing is in play."""

_log = logging.getLogger(__name__)


@click.command(
    epilog="""\b
Examples:
  arena keys new worker m1 > worker-token     at the arena
  arena worker --server https://arena.example:7654 --token-file worker-token
  arena worker --server https://arena.example:7654 --token-file worker-token --workers 4

\b
A competition is played by such workers if its plan has a speed class.
SIGTERM drains: the workers finish what they play, and take nothing new. A second one ends them.
"""
)
@click.option(
    "--server",
    "address",
    metavar="ADDRESS",
    required=True,
    help="The arena: https://HOST:PORT, or HOST:PORT on this machine.",
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    help="File with the token of a key of `arena keys new worker`.",
)
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
@dial_options
@sandbox_options
@data_folder("Folder of archives, logs and matches in play. It may be deleted afterwards.")
def worker(
    *,
    address: str,
    token_file: Path,
    workers: int,
    speed_class: int | None,
    server_at: Callable[[str, str], Server],
    confinement: SandboxChoice,
    data: Path,
) -> None:
    """Play deal-sets for an arena on another machine, until it is stopped.

    Workers see the cards of what they play: run them on machines of the arena's organiser only.
    """
    make_folder(data)
    log_to(data)
    limit_cache(data, MAX_CACHE_BYTES)
    server = server_at(address, token_file.read_text("utf-8").strip())
    again = None
    if speed_class is None:
        speed_class = measured()
        again = SpeedClass(speed_class, measured, time.monotonic)
    processes = counted(workers, "worker process")
    click.echo(f"Speed class {speed_class}. Playing for {address} with {processes}. Ctrl-C stops.")
    links = [
        WorkerLink(number, server, data, confinement=confinement, speed_class=speed_class)
        for number in range(1, workers + 1)
    ]
    _run(links, again)
    click.echo("Stopped.")


class SpeedClass:
    """The speed class of this machine, measured again every hour while nothing is in play."""

    def __init__(
        self, current: int, measured: Callable[[], int], now_s: Callable[[], float]
    ) -> None:
        self._current, self._measured, self._now_s = current, measured, now_s
        self._due_s = now_s() + MEASURE_AGAIN_S

    def measure_if_due(self, links: Sequence[WorkerLink]) -> None:
        """Measure if it is time to, and let the links enrol anew if the class is another one."""
        if self._now_s() < self._due_s or not all(link.is_idle for link in links):
            return
        found = self._measured()
        self._due_s = self._now_s() + MEASURE_AGAIN_S
        if found != self._current:
            say(f"The speed class is {found} now; it was {self._current}.", err=True)
            self._current = found
            for link in links:
                link.change_speed_class(found)


def _run(links: list[WorkerLink], speed_class: SpeedClass | None) -> None:
    """Run all links until they are stopped, or the arena refuses one."""
    failures: list[str] = []

    def run(link: WorkerLink) -> None:
        try:
            link.run(lambda text: say(text, err=True))
        except Stopped as stopped:
            failures.append(str(stopped))
        except Exception:
            _log.exception("a worker failed")
            failures.append("a worker failed: the log in the data folder says why")

    threads = [threading.Thread(target=run, args=(link,)) for link in links]

    _handle_signals(links)
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():  # so that signals are handled
            thread.join(0.2)
            if speed_class is not None:
                speed_class.measure_if_due(links)
    if failures:
        raise click.ClickException(failures[0])


def _handle_signals(links: list[WorkerLink]) -> None:
    """Drain at SIGTERM, and stop at a second one and at SIGINT."""

    def drain(*_: object) -> None:
        for link in links:
            link.stop() if link.is_draining else link.drain()

    def stop(*_: object) -> None:
        for link in links:
            link.stop()

    signal.signal(signal.SIGTERM, drain)
    signal.signal(signal.SIGINT, stop)
