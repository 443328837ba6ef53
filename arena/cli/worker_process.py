"""The program of a worker process, which only `arena serve --workers` and `arena worker` start."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from arena.cli.options import data_option, log_to, plain_errors
from arena.cli.sandbox_options import SandboxChoice, level_of, sandbox_options
from arena.sandbox import Level
from arena.server.app import ServerSettings
from arena.server.data_folder import bots_of_worker
from arena.server.programs import play_as_worker

PROGRAM: Final = ("-m", "arena.cli.worker_process")
"""Arguments of Python that run this module."""
_FOLDER: Final = click.Path(file_okay=False, path_type=Path)


def worker_command(
    data: Path, *, confinement: SandboxChoice, take_all: bool, speed_class: int = 0
) -> Callable[[int, Path], list[str]]:
    """The command that starts a worker with the archives of a folder, by the worker's number and own folder."""
    words = [sys.executable, *PROGRAM, "--cache", str(data), "--sandbox", confinement.demand]
    words += [word for path in confinement.read_only for word in ("--ro", str(path))]
    words += ["--take-all"] * take_all + ["--speed-class", str(speed_class)]

    def command(number: int, folder: Path) -> list[str]:
        own = {
            "--data": folder,
            "--bots": bots_of_worker(data, number),
            "--log": data / f"worker-{number}.log",
        }
        return [*words, *(str(word) for pair in own.items() for word in pair)]

    return command


@click.command()
@click.option("--cache", type=_FOLDER, required=True, help="Archives, wheels and runtimes of bots.")
@click.option("--bots", type=_FOLDER, required=True, help="Gets the folders and logs of bots.")
@click.option("--log", type=click.Path(dir_okay=False, path_type=Path), required=True)
@click.option("--take-all", is_flag=True)
@click.option("--speed-class", type=int, default=0)
@sandbox_options
@data_option
def worker(
    *,
    cache: Path,
    bots: Path,
    log: Path,
    take_all: bool,
    speed_class: int,
    confinement: SandboxChoice,
    data: Path,
) -> None:
    """Play the deal-sets that standard input hands out, and report them to standard output."""
    asks, answers = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # so that other output does not mix with the answers
    log_to(log.parent, log.name)
    with plain_errors(), confinement.raised(cache) as sandbox:
        level = level_of(sandbox)
        settings = ServerSettings(
            data,
            is_worker=True,
            limits_load=not take_all,
            play_socket=level != Level.S0.value,
            sandbox=level,
        )
        play_as_worker(
            settings,
            asks,
            answers,
            cache=cache,
            bots=bots,
            sandbox=sandbox,
            speed_class=speed_class,
        )


if __name__ == "__main__":
    worker()
