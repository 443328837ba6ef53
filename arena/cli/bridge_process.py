"""The program of a worker whose deal-sets are tasks of an engine, which only `arena tournament --on` starts."""

import asyncio
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

import click

from arena.app.placement.bridge import Bridge, dials
from arena.app.worker import local_address
from arena.cli.arena_client import Server
from arena.cli.terminal.plain import say
from arena.cli.worker_process import ArenaCalls
from arena.errors import exits
from arena.local.engines import Engine, EngineError

PROGRAM: Final = ("-m", "arena.cli.bridge_process")
"""Arguments of Python that run this module."""


def bridge_command(data: Path, engine: str, sandbox: str) -> list[str]:
    """Return the command that starts a bridge between the arena of a folder and an engine."""
    words = ("--cache", str(data), "--on", engine, "--sandbox", sandbox)
    return [sys.executable, *PROGRAM, *words]


@click.command()
@click.option("--cache", type=click.Path(path_type=Path), required=True, help="The arena's folder.")
@click.option("--on", "name", required=True)
@click.option("--sandbox", required=True)
def bridge(*, cache: Path, name: str, sandbox: str) -> None:
    """Play the deal-sets of an arena as tasks; the first line of standard input has the token of its calls."""
    with open(0, "rb", buffering=0, closefd=False) as lines:
        token = lines.readline().decode().strip()
    status = os.dup(1)
    os.dup2(2, 1)  # other output must not mix with the status
    calls = ArenaCalls(Server(local_address(cache), token), 1, is_local=True)
    begins = dials(status)

    async def main(engine: Engine) -> None:
        passing = Bridge(engine, calls.work, calls.archive, sandbox=sandbox)
        playing = asyncio.ensure_future(passing.run(status, begins))
        # The process ends with the program that started it.
        ended = asyncio.ensure_future(asyncio.to_thread(os.read, 0, 1))
        await asyncio.wait({playing, ended}, return_when=asyncio.FIRST_COMPLETED)
        playing.cancel()

    try:
        with closing(Engine.named(name)) as engine:
            asyncio.run(main(engine))
    except EngineError as error:
        say(str(error), err=True)
        sys.exit(exits.USAGE)  # a restart does not help


if __name__ == "__main__":
    bridge()
