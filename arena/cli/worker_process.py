"""The program of a worker process, which only `arena serve --workers` and `arena worker` start."""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final

import click

from arena.app.placement.assignments import FrameCalls
from arena.app.worker import PROGRAM, local_address, play_as_worker
from arena.cli.arena_client import NoAnswer, Server, aio_channel_of, call_errors, dial_options
from arena.cli.options import data_option, log_to, plain_errors
from arena.cli.sandbox_options import SandboxChoice, competition_sandbox_options
from arena.cli.terminal.plain import say
from arena.errors import exits
from cardarena.v1 import work_pb2, work_pb2_grpc

AGAIN_S: Final = 1.0
"""Seconds before the next call while the arena does not answer; doubled after each call."""
LONGEST_AGAIN_S: Final = 30.0
_KEEPALIVE: Final = (
    # Otherwise a disconnected worker would notice it only after minutes.
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
)
_KEY_HINT: Final = "make a key with: arena keys new worker"
_FOLDER: Final = click.Path(file_okay=False, path_type=Path)

_log = logging.getLogger(__name__)


def worker_command(
    data: Path,
    *,
    confinement: SandboxChoice,
    take_all: bool,
    server: Server | None = None,
    host: str = "",
) -> Callable[[int, Path], list[str]]:
    """Return the command that starts a worker with the archives of a folder, by the worker's number and own folder.

    Without a `server` it plays for the arena of the folder. The server's token is not part of the command.
    """
    words = [sys.executable, *PROGRAM, "--cache", str(data), "--sandbox", confinement.demand]
    words += [word for path in confinement.read_only for word in ("--ro", str(path))]
    words += ["--bot-files", "memory" if confinement.in_memory else "disk"]
    words += ["--take-all"] * take_all
    words += ["--host", host] if host else []
    if server is not None:
        named = {
            "--server": server.address,
            "--ca": server.ca,
            "--client-cert": server.client_cert,
            "--client-key": server.client_key,
        }
        words += [word for name, value in named.items() if value for word in (name, value)]
        words += ["--insecure"] * server.insecure
    return lambda number, folder: [*words, "--number", str(number), "--data", str(folder)]


class ArenaCalls:
    """The calls of a worker to its arena. A worker on another machine calls again until the arena answers."""

    def __init__(self, server: Server, number: int, *, is_local: bool) -> None:
        self._server, self._number, self._is_local = server, number, is_local
        self._metadata = (("authorization", f"Bearer {server.token}"),)
        self._stub: Any = None
        """The stub of asyncio, which has no type of its own; None before the first call."""

    async def work(
        self, requests: Callable[[], AsyncIterator[work_pb2.WorkRequest]]
    ) -> AsyncIterator[work_pb2.WorkResponse]:
        """Yield the messages of a call; `requests` makes the first messages of the worker.

        Raises `NoAnswer` if the arena refuses the worker, so that calling again does not help.
        """
        has_joined, wait_s, last = False, AGAIN_S, ""
        async with aio_channel_of(self._server, _KEEPALIVE) as channel:
            self._stub = work_pb2_grpc.WorkServiceStub(channel)
            while not has_joined:
                try:
                    with call_errors(self._server, _KEY_HINT):
                        async for message in self._stub.Work(requests(), metadata=self._metadata):
                            has_joined = True
                            yield message
                except NoAnswer as error:
                    if not error.passes and error.reason != "DRAINING":
                        raise
                    _log.warning("the call has failed", extra={"why": error.message})
                    if error.message != last and not self._is_local:
                        say(f"worker {self._number}: {error.message}; it connects again", err=True)
                    last = error.message
                if self._is_local:
                    return
                await asyncio.sleep(0 if has_joined else wait_s)
                wait_s = min(LONGEST_AGAIN_S, 2 * wait_s)

    async def archive(self, sha256: str) -> AsyncIterator[bytes]:
        request = work_pb2.GetArchiveRequest(sha256=sha256)
        with call_errors(self._server, _KEY_HINT):
            async for response in self._stub.GetArchive(request, metadata=self._metadata):
                yield response.piece


@click.command()
@click.option("--server", "address", help="The arena; by default that of the folder --cache.")
@click.option("--cache", type=_FOLDER, required=True, help="Archives and output of bots, and logs.")
@click.option("--number", type=int, required=True)
@click.option("--take-all", is_flag=True)
@click.option("--speed-class", type=int, default=0)
@click.option("--host", default="")
@click.option("--frames", metavar="IN,OUT", help="Pipes of a task, in place of calls.")
@dial_options
@competition_sandbox_options
@data_option
def worker(
    *,
    address: str | None,
    cache: Path,
    number: int,
    take_all: bool,
    speed_class: int,
    host: str,
    frames: str | None,
    server_at: Callable[[str, str], Server],
    confinement: SandboxChoice,
    data: Path,
) -> None:
    """Play the deal-sets that an arena assigns; the first line of standard input has the token of its calls."""
    with open(0, "rb", buffering=0, closefd=False) as lines:
        token = lines.readline().decode().strip()
    status = os.dup(1)
    os.dup2(2, 1)  # so that other output does not mix with the status
    log_to(cache, f"worker-{number}.log")
    server = server_at(address or local_address(cache), token)
    calls: ArenaCalls | FrameCalls = ArenaCalls(server, number, is_local=address is None)
    if frames is not None:
        reads, writes = map(int, frames.split(","))
        calls = FrameCalls((reads, writes))
    with plain_errors(), confinement.raised(cache) as sandbox:
        try:
            play_as_worker(
                calls.work,
                calls.archive,
                data,
                sandbox,
                number=number,
                cache=cache,
                status=status,
                speed_class=speed_class,
                host=host,
                limits_load=not take_all,
                is_local=address is None and frames is None,
                one_at_a_time=frames is not None,
            )
        except click.ClickException as error:
            error.show()
            sys.exit(exits.USAGE)  # a restart does not help


if __name__ == "__main__":
    worker()
