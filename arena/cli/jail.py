"""The options by which commands jail the bots that they launch, and what they say of it."""

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from arena.cli.options import with_options
from arena.cli.terminal.plain import say
from arena.jail import BotCommand, Demand, Level, Wall, raise_wall, why_never

_log = logging.getLogger(__name__)

LEVELS: Final = {
    Level.S3.value: "S3: launched bots are behind a wall, and what they use together is bounded",
    Level.S2.value: "S2: launched bots are behind a wall",
    Level.S1.value: "S1: launched bots are confined, in the same system as all else",
    Level.S0.value: "S0: launched bots run unjailed",
}
"""Each level, in words."""

F = TypeVar("F", bound=Callable[..., Any])


def jailed(command: F) -> F:
    """Adds `--jail` and `--ro`."""
    return with_options(
        command,
        click.option(
            "--jail",
            "demand",
            type=click.Choice([each.value for each in Demand]),
            default=Demand.AUTO.value,
            show_default=True,
            envvar="ARENA_JAIL",
            help="Whether bots run behind a wall: as well as possible, or else not at all, or never.",
        ),
        click.option(
            "--ro",
            "read_only",
            multiple=True,
            metavar="PATH",
            type=click.Path(exists=True, path_type=Path),
            help="Let jailed bots read this file or folder too; may be said many times.",
        ),
    )


@contextlib.contextmanager
def walled(
    demand: str, data: Path, read_only: Sequence[Path], commands: Sequence[BotCommand]
) -> Iterator[Wall | None]:
    """The wall for these bots, and a line on standard error where it is not a whole one.

    Raises:
      NoWall: if it is required, and cannot be had.
    """
    for path in read_only:
        if why := why_never(path.absolute(), data.absolute()):
            raise click.UsageError(f"--ro {path}: it {why}")
    wall = raise_wall(Demand(demand), data=data, read_only=read_only)
    with contextlib.nullcontext() if wall is None else wall:
        _log.info("bots are launched", extra={"jail": level_of(wall)})
        if wall is None:
            say_unjailed("--jail off was said")
        elif wall.level is Level.S0:
            say_unjailed(wall.why_not_better)
        else:
            if wall.level is Level.S1:
                _warn(f"bots are jailed at S1 only: {wall.why_not_better}")
            for line in _kept_from(wall, commands):
                say(line, err=True)
        yield wall


def level_here(data: Path) -> str:
    """The level that this machine allows, found by trial."""
    with Wall(data=data) as wall:
        return wall.level.value


def say_unjailed(why: str) -> None:
    """Say that bots run with all rights of whoever launches them."""
    _warn(f"bots run unjailed: {why}")


def level_of(wall: Wall | None) -> str:
    """The level, as results have it."""
    return Level.S0.value if wall is None else wall.level.value


def _warn(text: str) -> None:
    click.secho(text, fg="yellow", err=True)


def _kept_from(wall: Wall, commands: Sequence[BotCommand]) -> Iterator[str]:
    """A line for each bot that does not see its folder, if there is more in that."""
    for command in commands:
        visible = wall.visible_to(command)
        if visible.alone is None:
            continue
        folder, suffix = visible.alone.parent, visible.alone.suffix
        with contextlib.suppress(OSError):
            others = [each for each in folder.iterdir() if each.suffix == suffix and suffix]
            if len(others) > 1:
                yield (
                    f"{command.name} sees {visible.alone.name} alone, as its folder"
                    f" {visible.why_alone}; give the bot a folder of its own, or add --ro PATH"
                )
