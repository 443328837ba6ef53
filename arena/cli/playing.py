"""The program of a process that plays for an arena, which `arena serve --processes` starts: nobody else does."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import click
import trio

from arena.cli.arguments import data_option, log_to, plain_errors
from arena.cli.jail import jailed, level_of
from arena.jail import Demand, Level, Wall, raise_wall
from arena.server.arena import Arena
from arena.server.competitions.playing import Playing
from arena.server.data_folder import playing_bots, playing_folder, store_path
from arena.server.gate.tokens import Tokens
from arena.server.host import ServerSettings
from arena.server.host import serve as run_server
from arena.store import Store, open_store

PROGRAM: Final = ("-m", "arena.cli.playing")
"""What Python is told to run: this module."""


def playing_command(
    data: Path,
    *,
    demand: str,
    read_only: Sequence[Path],
    drain_s: float = 0.0,
    take_all: bool = False,
) -> Callable[[int], list[str]]:
    """What starts the process of a number for the arena of a folder."""
    words = [sys.executable, *PROGRAM, "--data", str(data), "--jail", demand]
    words += [word for path in read_only for word in ("--ro", str(path))]
    words += ["--drain", str(drain_s)] + ["--take-all"] * take_all
    return lambda number: [*words, "--number", str(number)]


@click.command()
@click.option("--number", type=click.IntRange(1), required=True)
@click.option("--drain", "drain_s", type=click.FloatRange(0), required=True)
@click.option("--take-all", is_flag=True)
@jailed
@data_option
def playing(
    *,
    number: int,
    drain_s: float,
    take_all: bool,
    demand: str,
    read_only: tuple[Path, ...],
    data: Path,
) -> None:
    """Play what standard input asks for, and say on standard output what became of it."""
    asks, answers = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # whatever else is printed is no answer
    folder = playing_folder(data, number)
    folder.mkdir(parents=True, exist_ok=True)
    log_to(folder)
    with plain_errors():
        wall = raise_wall(Demand(demand), data=data, read_only=read_only)
        level = level_of(wall)
        settings = ServerSettings(
            folder,
            plays_for=data,
            drain_s=drain_s,
            limits_load=not take_all,
            play_socket=level != Level.S0.value,
            jail=level,
        )
        with (
            contextlib.nullcontext() if wall is None else wall,
            open_store(store_path(data)) as store,
        ):
            _run(settings, store, wall, (asks, answers))


def _run(settings: ServerSettings, store: Store, wall: Wall | None, pipes: tuple[int, int]) -> None:
    async def main(arena: Arena) -> None:
        asks, answers = map(trio.lowlevel.FdStream, pipes)
        bots = playing_bots(settings.house, settings.data)
        async with asks, answers, trio.open_nursery() as nursery:
            play = Playing(arena, store, settings.house, bots, nursery, wall=wall)
            await play.run(asks, answers)
            # As by Ctrl-C: what is in play must have stopped before its bots end, or they would be gone.
            signal.raise_signal(signal.SIGINT)
            await trio.sleep_forever()

    with contextlib.suppress(KeyboardInterrupt):
        run_server(settings, Tokens(guests=False), main)


if __name__ == "__main__":
    playing()
