"""`arena workers`: processes of `arena worker` on an engine that runs programs on other machines."""

import functools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import click

from arena.app.placement.placement import ENGINES, WorkerPlacement, WorkerProgram, open_placement
from arena.app.placement.scaling import EVERY_S, ArenaAway, Bounds, Scaling
from arena.cli.arena_client import NoAnswer, Server, ServiceClient, dial_options, service_client
from arena.cli.command_group import CommandGroup
from arena.cli.options import json_option, print_json, token_file_option, with_options
from arena.cli.terminal.console import print_table
from arena.cli.terminal.plain import say
from arena.local.engines import EngineError
from arena.pictures.sentences import counted
from cardarena.v1 import work_pb2
from cardarena.v1.work_pb2_grpc import WorkServiceStub

F = TypeVar("F", bound=Callable[..., Any])
CLUSTERS: Final = ("local", "ssh", "slurm", "pbs", "lsf", "htcondor", "kubernetes")


@dataclass(frozen=True, slots=True)
class ChosenEngine:
    """The engine that a command line names, with its options."""

    name: str
    options: Mapping[str, Any]

    def require_running(self) -> None:
        """Require a running cluster: one that is started for a command has no workers of other commands.

        Raises:
          click.UsageError: if the options start one.
        """
        if "cluster" in self.options:
            raise click.UsageError(
                "--cluster starts another cluster; give the --scheduler that arena workers up has printed"
            )
        if self.options.get("address") == "local":
            raise click.UsageError(
                "--address local starts another cluster; give the --address that arena workers up has printed"
            )

    @contextmanager
    def opened(self, program: WorkerProgram) -> Iterator[WorkerPlacement]:
        """Open the engine for the block. Raises `click.ClickException` if it cannot be used."""
        try:
            with closing(open_placement(self.name, program, self.options)) as placement:
                yield placement
        except EngineError as error:
            raise click.ClickException(str(error)) from error


class KeyValue(click.ParamType[tuple[str, Any]]):
    """A name and a value, which is JSON or otherwise a text."""

    name = "key=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Any]:
        if isinstance(value, tuple):
            return value
        key, equals, text = value.partition("=")
        if not key or not equals:
            self.fail(f"{value!r} is not like KEY=VALUE", param, ctx)
        try:
            return key, json.loads(text)
        except ValueError:
            return key, text


class EngineOption(NamedTuple):
    """An option of some engines."""

    engines: tuple[str, ...]
    keyword: str
    """Its name in the engine's `connect`; empty for values that are keywords themselves."""
    metavar: str
    text: str
    type: Any = str
    multiple: bool = False


_OPTIONS: Final = {
    "scheduler": EngineOption(("dask",), "scheduler", "ADDRESS", "The scheduler of a cluster that runs: tls://HOST:PORT."),
    "cluster": EngineOption(("dask",), "cluster", "KIND", f"Start a cluster by Dask's own configuration files: {', '.join(CLUSTERS)}.", click.Choice(CLUSTERS)),
    "setting": EngineOption(("dask",), "", "KEY=VALUE", 'A keyword of the cluster\'s class: hosts=["m1","m2"].', KeyValue(), multiple=True),
    "address": EngineOption(("ray",), "address", "ADDRESS", "The cluster that runs, or local.  [default: auto]"),
    "cores": EngineOption(("ray",), "cores", "N", "Cores of each worker.  [default: 1]", float),
    "resource": EngineOption(("dask", "ray"), "resources", "NAME=N", "What a worker takes of the engine's resources: sandbox:S2=1.", KeyValue(), multiple=True),
    "script": EngineOption(("slurm",), "script", "FILE", "The batch script: deploy/slurm/workers.sbatch."),
    "job-name": EngineOption(("slurm",), "name", "NAME", "The name of the jobs.  [default: arena-worker]"),
    "logs": EngineOption(("slurm",), "logs", "FOLDER", "The folder of their output.  [default: this folder]"),
    "submit": EngineOption(("slurm",), "submit", "OPTION", "A further option of sbatch: --partition=long.", multiple=True),
    "deployment": EngineOption(("kubernetes",), "deployment", "NAME", "The Deployment.  [default: workers]"),
    "namespace": EngineOption(("kubernetes",), "namespace", "NAME", "Its namespace.  [default: default]"),
}  # fmt: skip


def engine_options(command: F) -> F:
    """Add `--on` and the options of the engines; the command gets one `engine`."""

    @functools.wraps(command)
    def with_engine(*, on: str, **rest: Any) -> Any:
        options: dict[str, Any] = {}
        for name, option in _OPTIONS.items():
            value = rest.pop(name.replace("-", "_"))
            if value in (None, ()):
                continue
            if on not in option.engines:
                raise click.UsageError(f"--{name} is for --on {' and --on '.join(option.engines)}")
            if isinstance(option.type, KeyValue):
                value = dict(value)
            options |= {option.keyword: value} if option.keyword else value
        return command(engine=ChosenEngine(on, options), **rest)

    rows = [
        click.option(
            f"--{name}",
            metavar=option.metavar,
            type=option.type,
            multiple=option.multiple,
            help=f"{'/'.join(option.engines)}: {option.text}",
        )
        for name, option in _OPTIONS.items()
    ]
    on = click.option("--on", type=click.Choice(ENGINES), required=True, help="The engine.")
    return with_options(with_engine, on, *rows)  # type: ignore[return-value]


@click.group(
    cls=CommandGroup,
    epilog="""\b
Examples:
  arena keys new worker cluster > worker-token        at the arena
  arena workers up --on dask --scheduler tls://10.0.0.5:8786 \\
      --server https://arena.example:7654 --token-file worker-token --max 20
  arena workers status --on dask --scheduler tls://10.0.0.5:8786
""",
)
def workers() -> None:
    """Keep as many workers on an engine as the arena needs."""


@workers.command(
    epilog="""\b
Examples:
  arena workers up --on dask --cluster local --server 127.0.0.1:7654 --token-file worker-token
  arena workers up --on ray --server https://arena.example:7654 --token-file worker-token --max 8
  arena workers up --on slurm --script deploy/slurm/workers.sbatch --submit=--partition=long \\
      --server https://arena.example:7654 --token-file ~/.arena-worker --max 100 -- --workers 4
  arena workers up --on kubernetes --deployment workers --server https://arena.example:7654 \\
      --token-file worker-token --max 50

\b
Options after -- are those of `arena worker`. The command needs no data folder: run it as a user
of its own. When it ends, workers stay, and end when they have nothing to play; started again, it
finds them. `arena workers down` drains them. A cluster that it has started itself (--cluster,
--address local) ends with it.
"""
)
@engine_options
@click.option(
    "--server",
    "arena_address",
    metavar="ADDRESS",
    required=True,
    help="The arena, as the workers dial it: https://HOST:PORT.",
)
@token_file_option
@click.option(
    "--speed-class",
    type=click.IntRange(-50, 50),
    default=0,
    show_default=True,
    help="The speed class of the machines.",
)
@click.option(
    "--min", "least", type=click.IntRange(0), default=0, show_default=True, help="Fewest workers."
)
@click.option(
    "--max", "most", type=click.IntRange(1), default=4, show_default=True, help="Most workers."
)
@click.option(
    "--target",
    "target_s",
    type=click.FloatRange(1),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="Time in which all that waits should be played.",
)
@click.option(
    "--idle",
    "idle_s",
    type=click.FloatRange(1),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="Time after which workers that are not needed are drained.",
)
@click.option("--once", is_flag=True, help="Look at the queue once, and end.")
@click.argument("worker_options", nargs=-1, metavar="[-- OPTIONS]")
@dial_options
def up(
    *,
    engine: ChosenEngine,
    arena_address: str,
    token_file: Path,
    speed_class: int,
    least: int,
    most: int,
    target_s: float,
    idle_s: float,
    once: bool,
    worker_options: tuple[str, ...],
    server_at: Callable[[str, str], Server],
) -> None:
    """Place workers on an engine, as many as the arena needs, until it is stopped."""
    if least > most:
        raise click.UsageError(f"--min {least} is more than --max {most}")
    server = server_at(arena_address, token_file.read_text("utf-8").strip())
    files = {"token": str(token_file.absolute())}
    if server.ca:
        files["ca"] = str(Path(server.ca).absolute())
    program = WorkerProgram(
        arena_address,
        server.token,
        ca=Path(server.ca).read_text("utf-8") if server.ca else "",
        speed_class=speed_class,
        options=(
            *("--exit-when-idle", f"{2 * idle_s:g}"),
            *(["--insecure"] if server.insecure else []),
            *worker_options,
        ),
        files=files,
    )
    bounds = Bounds(least, most, target_s, idle_s)
    with engine.opened(program) as placement, service_client(server, WorkServiceStub) as client:
        scaling = Scaling(
            placement, functools.partial(_reported, client), bounds, engine.name, speed_class,
            time.monotonic,
        )  # fmt: skip
        if placement.started_at:
            say(f"a cluster runs until this command ends; others find it by {placement.started_at}")
        last = ""
        while True:
            sentence = scaling.step()
            if sentence != last:
                click.echo(sentence)
            last = sentence
            if once:
                break
            time.sleep(EVERY_S)


def _reported(
    client: ServiceClient[Any], request: work_pb2.ReportPlacementRequest
) -> work_pb2.ReportPlacementResponse:
    try:
        answer: work_pb2.ReportPlacementResponse = client.call(client.stub.ReportPlacement, request)
    except NoAnswer as error:
        if not error.passes and error.reason != "DRAINING":
            raise
        raise ArenaAway(error.message) from error
    return answer


@workers.command(
    epilog="""\b
Examples:
  arena workers status --on ray
  arena workers status --on slurm --script deploy/slurm/workers.sbatch --log 4711_2
"""
)
@engine_options
@click.option("--log", metavar="ID", help="Print the last lines of this worker instead.")
@json_option
def status(*, engine: ChosenEngine, log: str | None, as_json: bool) -> None:
    """Show the workers of an engine. `arena status` shows those that have joined the arena."""
    engine.require_running()
    with engine.opened(WorkerProgram("", "")) as placement:
        if log is not None:
            for line in placement.logs(log):
                click.echo(line)
            return
        placed = placement.running()
    if as_json:
        print_json([{"id": row.id, "state": row.state, "machine": row.where} for row in placed])
    elif not placed:
        say(f"no worker runs on {engine.name}, and none waits for a machine")
    else:
        print_table(
            ("worker", "state", "machine"), [(row.id, row.state, row.where) for row in placed]
        )


@workers.command(
    epilog="""\b
Examples:
  arena workers down --on dask --scheduler tls://10.0.0.5:8786
"""
)
@engine_options
def down(*, engine: ChosenEngine) -> None:
    """Drain all workers of an engine: they finish what they play, and end.

    Stop `arena workers up` first: it places new workers while deal-sets wait.
    """
    engine.require_running()
    with engine.opened(WorkerProgram("", "")) as placement:
        number = len(placement.running())
        placement.scale(0)
    say(f"{counted(number, 'worker')} drained")
