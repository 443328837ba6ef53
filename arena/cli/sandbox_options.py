"""The options that choose a sandbox for launched bots, and the messages about it."""

import contextlib
import functools
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from arena.cli.options import with_options
from arena.cli.terminal.plain import say
from arena.sandbox import BotCommand, Level, Sandbox, SandboxDemand, raise_sandbox, why_never

_log = logging.getLogger(__name__)

LEVELS: Final = {
    Level.S3.value: "S3: launched bots are sandboxed, with limits for each bot as a whole, and frozen between moves",
    Level.S2.value: "S2: launched bots are sandboxed, and may compute between their moves",
    Level.S1.value: "S1: launched bots are confined, without namespaces of their own",
    Level.S0.value: "S0: launched bots run unsandboxed",
}
"""Each level, in words."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class SandboxChoice:
    """The sandbox that a command line asks for."""

    demand: SandboxDemand
    read_only: tuple[Path, ...]
    """Files and folders that bots may read besides their own."""

    def raised(self, data: Path) -> contextlib.AbstractContextManager[Sandbox | None]:
        """A new sandbox, which hides the data folder; None if bots run without one.

        Raises:
          NoSandbox: if it is required and this machine cannot build one.
        """
        sandbox = raise_sandbox(self.demand, data=data, read_only=self.read_only)
        return contextlib.nullcontext() if sandbox is None else sandbox

    @contextlib.contextmanager
    def open(self, data: Path, commands: Sequence[BotCommand]) -> Iterator[Sandbox | None]:
        """The sandbox for these bots; a weaker one than S2 is reported on standard error.

        Raises:
          NoSandbox: if it is required and this machine cannot build one.
        """
        for path in self.read_only:
            if why := why_never(path.absolute(), data.absolute()):
                raise click.UsageError(f"--ro {path}: it {why}")
        with self.raised(data) as sandbox:
            _log.info("bots are launched", extra={"sandbox": level_of(sandbox)})
            if sandbox is None:
                _warn("bots run unsandboxed: --sandbox off was said")
            elif sandbox.level is Level.S0:
                _warn(f"bots run unsandboxed: {sandbox.why_not_better}")
            else:
                if sandbox.level is Level.S1:
                    _warn(f"bots are sandboxed at S1 only: {sandbox.why_not_better}")
                for line in _hidden_folders(sandbox, commands):
                    say(line, err=True)
            yield sandbox


def sandbox_options(command: F) -> F:
    """Add `--sandbox` and `--ro`; the command gets one `confinement`."""

    @functools.wraps(command)
    def with_sandbox(*, demand: str, read_only: tuple[Path, ...], **rest: Any) -> Any:
        return command(confinement=SandboxChoice(SandboxDemand(demand), read_only), **rest)

    return with_options(  # type: ignore[return-value]
        with_sandbox,
        click.option(
            "--sandbox",
            "demand",
            type=click.Choice([each.value for each in SandboxDemand]),
            default=SandboxDemand.AUTO.value,
            envvar="ARENA_SANDBOX",
            help="`auto`: the best sandbox of this machine; `require`: S2 or an error; `off`: none.",
        ),
        click.option(
            "--ro",
            "read_only",
            multiple=True,
            metavar="PATH",
            type=click.Path(exists=True, path_type=Path),
            help="Let sandboxed bots read this file or folder; repeatable.",
        ),
    )


def level_of(sandbox: Sandbox | None) -> str:
    """The level, as results name it."""
    return Level.S0.value if sandbox is None else sandbox.level.value


def _warn(text: str) -> None:
    click.secho(text, fg="yellow", err=True)


def _hidden_folders(sandbox: Sandbox, commands: Sequence[BotCommand]) -> Iterator[str]:
    """A line for each bot that sees only its file, although its folder has more files like it."""
    for command in commands:
        visible = sandbox.visible_to(command)
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
