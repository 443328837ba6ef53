"""The interface of every engine that runs workers, and the program that it runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, Protocol

from arena.local.engines import EngineError

ENGINES: Final = ("dask", "ray", "slurm", "kubernetes")
NAME: Final = "arena-worker"
"""The prefix of the names of workers at an engine."""


@dataclass(frozen=True, slots=True)
class PlacedWorker:
    """A worker as its engine sees it."""

    id: str
    """Its name at the engine."""
    state: str
    """In the engine's own words."""
    where: str = ""
    """Its machine, or empty while it waits for one."""


class WorkerPlacement(Protocol):
    """Places workers on an engine, which keeps them while this program is away. Calls may block."""

    @property
    def started_at(self) -> str:
        """The option by which other commands find the cluster that this one has started; empty if it has started none."""
        return ""

    def scale(self, number: int) -> None:
        """Set the number of workers that run or wait for a machine; surplus ones are drained.

        Raises `EngineError` if the engine refuses.
        """

    def running(self) -> Sequence[PlacedWorker]:
        """Return the workers that run or wait for a machine, without those that drain.

        Raises `EngineError` if the engine does not answer.
        """

    def logs(self, worker_id: str) -> Iterator[str]:
        """Return the last lines of a worker's output.

        Raises `EngineError` if the engine knows no such worker, or keeps no output.
        """

    def close(self) -> None:
        """Leave the engine. Workers stay, unless the engine was started by this program."""


@dataclass(frozen=True, slots=True)
class WorkerProgram:
    """`arena worker`, as an engine starts it."""

    server: str
    """The arena's address, as workers dial it."""
    token: str = field(repr=False)
    ca: str = ""
    """The certificate that signs the arena's, as text; empty for those of the system."""
    speed_class: int = 0
    """That of the machines."""
    options: Sequence[str] = ()
    """Further options of `arena worker`."""
    command: Sequence[str] = ("-m", "arena", "worker")
    """Arguments of Python that run it."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Paths of `token` and `ca` on a file system that all machines share, for engines that only start commands."""


def open_placement(
    engine: str, program: WorkerProgram, options: Mapping[str, Any]
) -> WorkerPlacement:
    """Connect to an engine, of which each option is a keyword of its class.

    Raises `EngineError` if its package is missing, or it does not answer.
    """
    try:
        module = import_module(f"arena.app.placement.{engine}_engine")
    except ImportError as error:
        raise EngineError(
            f"--on {engine} needs the package {error.name}: pip install 'cardarena-engine[{engine}]'"
        ) from error
    placement: WorkerPlacement = module.connect(program, **options)
    return placement
