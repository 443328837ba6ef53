"""The place where the matches of comparisons are played, as options of a command."""

import contextlib
import functools
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from arena.app import author_matches
from arena.app.comparison_tasks import compare_by_tasks
from arena.cli.options import log_to, plain_errors, with_options
from arena.cli.sandbox_options import SandboxChoice, sandbox_options
from arena.cli.terminal.console import progress
from arena.cli.terminal.plain import say
from arena.local.engines import Engine, EngineError, ThisProcess
from arena.local.many import Unplayed
from arena.results.anytime.verdict import Verdict
from arena.sandbox.command import BotCommand
from arena.sandbox.sandbox import SandboxDemand
from cardarena.v1 import comparisons_pb2

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class ComparisonPlace:
    """The place of play: an arena of the command, this process, or an engine."""

    in_process: bool
    engine: str | None
    confinement: SandboxChoice

    @property
    def way(self) -> str:
        """Return the option with which bots play without an arena; empty without one."""
        return "--on" if self.engine else "--in-process" if self.in_process else ""

    @contextlib.contextmanager
    def open(
        self, data: Path, commands: Sequence[BotCommand]
    ) -> Iterator[Callable[..., comparisons_pb2.Comparison]]:
        """Provide a function that plays comparisons between some of these bots; its arguments are those of `arena.app.author_matches.compare`, without the last two.

        Exceptions in the bots' code are printed at the end, and expected errors as one sentence.
        """
        log_to(data)
        with plain_errors(), contextlib.ExitStack() as stack:
            if not self.way:
                sandbox = stack.enter_context(self.confinement.open(data, commands))
                yield partial(author_matches.compare, data=data, sandbox=sandbox)
                return
            exceptions = stack.enter_context(printed_exceptions())
            engine = stack.enter_context(opened_engine(self.engine))
            yield partial(compare_by_tasks, engine=engine, on_exception=exceptions)


def place_options(command: F) -> F:
    """Add `--in-process`, `--on` and the sandbox options; the command gets one `place`."""

    @functools.wraps(command)
    def with_place(
        *, in_process: bool, engine: str | None, confinement: SandboxChoice, **rest: Any
    ) -> Any:
        place = ComparisonPlace(in_process, engine, confinement)
        if in_process and engine:
            raise click.UsageError("choose one of --in-process and --on")
        if place.way and confinement.demand is SandboxDemand.REQUIRE:
            raise click.UsageError(f"choose one of {place.way} and --sandbox require")
        return command(place=place, **rest)

    return with_options(  # type: ignore[return-value]
        sandbox_options(with_place),
        click.option(
            "--in-process",
            is_flag=True,
            help="Play bots of Python in this process: many times faster, without a sandbox or clocks.",
        ),
        click.option(
            "--on",
            "engine",
            metavar="ENGINE",
            help="As --in-process, in other processes: processes (one for each core), dask:tls://HOST:PORT, "
            "dask:local, ray:auto or ray:local. All machines have the bots' files at the same paths.",
        ),
    )


@contextlib.contextmanager
def printed_exceptions() -> Iterator[Callable[[str, str], None]]:
    """Gather exceptions of bots' code by the name of the bot and the text; at the end print their number and the first one."""
    exceptions = defaultdict[str, list[str]](list)
    yield lambda name, text: exceptions[name].append(text)
    for name, raised in exceptions.items():
        count = f"{len(raised)} exceptions, the first" if len(raised) > 1 else "an exception"
        say(f"{name} had {count} in its own code: {raised[0]}", err=True)


@contextlib.contextmanager
def opened_engine(name: str | None) -> Iterator[Engine]:
    """Provide the engine of a name, or this process. The output of bots in this process goes to standard error.

    Raises `click.ClickException` if there is no such engine, or a process dies repeatedly.
    """
    where = f"--on {name}" if name else "--in-process"
    say(f"warning: bots run without a sandbox or clocks ({where})", err=True)
    try:
        with (
            contextlib.redirect_stdout(sys.stderr),
            contextlib.closing(Engine.named(name) if name else Engine(ThisProcess())) as engine,
        ):
            yield engine
    except (EngineError, Unplayed) as error:
        raise click.ClickException(str(error)) from error


def waiting_for_bots(*, quiet: bool) -> contextlib.AbstractContextManager[Callable[[str], None]]:
    """Return the progress of comparisons on standard error; see `progress`."""
    return progress("waiting for the bots", quiet=quiet)


def so_far(verdict: Verdict) -> str:
    """Return a verdict so far, as a line of progress."""
    return (
        f"{verdict.deal_sets} deal-sets, {verdict.mean:+.2f} points, "
        f"E = {verdict.e_value:.2g} (20 decides)"
    )
