"""The options that choose a sandbox for launched bots, and the messages about it."""

import contextlib
import functools
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from arena.cli.options import Option, with_options
from arena.cli.terminal.plain import say
from arena.sandbox.command import BotCommand
from arena.sandbox.sandbox import UPLOADS_AT, Sandbox, SandboxDemand, raise_sandbox
from arena.sandbox.spawner.order import Level
from arena.sandbox.visible_files import why_never

_log = logging.getLogger(__name__)

LEVELS: Final = {
    Level.S3.value: "S3: launched bots are sandboxed, with limits for each bot as a whole, and frozen between moves",
    Level.S2.value: "S2: launched bots are sandboxed, and may compute between their moves",
    Level.S1.value: "S1: launched bots are confined, without namespaces of their own",
    Level.S0.value: "S0: launched bots run unsandboxed",
}
"""The description of each level."""

_MEMORY, _DISK = "memory", "disk"

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class SandboxChoice:
    """The sandbox that a command line requests."""

    demand: SandboxDemand
    read_only: tuple[Path, ...]
    """Files and folders that bots may read besides their own."""
    in_memory: bool = False
    """Whether bots read copies of files in memory."""

    def raised(self, data: Path) -> contextlib.AbstractContextManager[Sandbox | None]:
        """Return a new sandbox, which hides the data folder; None if bots run without one.

        Raises `NoSandbox` if it is required and this machine cannot build one.
        """
        sandbox = raise_sandbox(
            self.demand, data=data, read_only=self.read_only, in_memory=self.in_memory
        )
        return contextlib.nullcontext() if sandbox is None else sandbox

    @contextlib.contextmanager
    def open(self, data: Path, commands: Sequence[BotCommand]) -> Iterator[Sandbox | None]:
        """Start the sandbox for these bots within the block; a level below S2 is reported on standard error.

        Raises `NoSandbox` if it is required and this machine cannot build one.
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
                self.warn_of_disk(sandbox, commands)
                for line in _hidden_folders(sandbox, commands):
                    say(line, err=True)
            yield sandbox

    def warn_of_disk(self, sandbox: Sandbox | None, commands: Sequence[BotCommand] = ()) -> None:
        """Report on standard error if bots read files from a disk although the choice forbids it."""
        if not self.in_memory or sandbox is None or sandbox.level not in UPLOADS_AT:
            return
        reasons = (sandbox.why_disk, *map(sandbox.why_reads_disk, commands))
        if why := next(filter(None, reasons), ""):
            _log.warning("bots read files from a disk", extra={"why": why})
            _warn(f"bots can tell by time which files other bots have read: {why}")


def sandbox_options(command: F) -> F:
    """Add `--sandbox` and `--ro`; the command gets one `confinement`. Its bots are of one author."""
    return _with_sandbox(command, _SANDBOX, _READ_ONLY)


def competition_sandbox_options(command: F) -> F:
    """Add the options of `sandbox_options` and `--bot-files`, for commands whose bots have several owners."""
    return _with_sandbox(command, _SANDBOX, _READ_ONLY, _BOT_FILES)


def _with_sandbox(command: F, *options: Option) -> F:
    @functools.wraps(command)
    def with_sandbox(
        *, demand: str, read_only: tuple[Path, ...], bot_files: str = _DISK, **rest: Any
    ) -> Any:
        choice = SandboxChoice(SandboxDemand(demand), read_only, bot_files == _MEMORY)
        return command(confinement=choice, **rest)

    return with_options(with_sandbox, *options)  # type: ignore[return-value]


_SANDBOX: Final = click.option(
    "--sandbox",
    "demand",
    type=click.Choice([demand.value for demand in SandboxDemand]),
    default=SandboxDemand.AUTO.value,
    envvar="ARENA_SANDBOX",
    help="`auto`: the best sandbox of this machine; `require`: S2 or an error; `off`: none.",
)
_READ_ONLY: Final = click.option(
    "--ro",
    "read_only",
    multiple=True,
    metavar="PATH",
    type=click.Path(exists=True, path_type=Path),
    help="Let sandboxed bots read this file or folder; repeatable.",
)
_BOT_FILES: Final = click.option(
    "--bot-files",
    type=click.Choice([_MEMORY, _DISK]),
    default=_MEMORY,
    envvar="ARENA_BOT_FILES",
    help="`memory`: bots read copies, and none can tell what another one has read; `disk`: they read originals.",
)


def level_of(sandbox: Sandbox | None) -> str:
    """Return the name of the level in results."""
    return Level.S0.value if sandbox is None else sandbox.level.value


def _warn(text: str) -> None:
    click.secho(text, fg="yellow", err=True)


def _hidden_folders(sandbox: Sandbox, commands: Sequence[BotCommand]) -> Iterator[str]:
    """Yield a line for each bot that sees only its file, although its folder has more files like it."""
    for command in commands:
        visible = sandbox.visible_to(command)
        if visible.alone is None:
            continue
        folder, suffix = visible.alone.parent, visible.alone.suffix
        with contextlib.suppress(OSError):
            others = [path for path in folder.iterdir() if path.suffix == suffix and suffix]
            if len(others) > 1:
                yield (
                    f"{command.name} sees {visible.alone.name} alone, as its folder"
                    f" {visible.why_alone}; give the bot a folder of its own, or add --ro PATH"
                )
