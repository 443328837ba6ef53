"""Workers on a cluster of Dask: each is one long task, which Dask restarts on another machine if its machine dies."""

import logging
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread
from typing import Any, Final

from distributed import Client, Event, Future, fire_and_forget, get_client

from arena.app.placement.child import WorkerChild
from arena.app.placement.placement import NAME, PlacedWorker, WorkerPlacement, WorkerProgram
from arena.local.engines import EngineError, require_private

CLUSTERS: Final = {
    "local": ("distributed", "LocalCluster"),
    "ssh": ("distributed", "SSHCluster"),
    "slurm": ("dask_jobqueue", "SLURMCluster"),
    "pbs": ("dask_jobqueue", "PBSCluster"),
    "lsf": ("dask_jobqueue", "LSFCluster"),
    "htcondor": ("dask_jobqueue", "HTCondorCluster"),
    "kubernetes": ("dask_kubernetes.operator", "KubeCluster"),
}
"""The classes that start clusters. Their settings are those of Dask's own configuration files, or keywords."""
_log = logging.getLogger(
    "distributed.worker.card-arena"
)  # what Dask keeps of a worker is below this name

CONNECT_S: Final = 30.0
CLOSE_S: Final = 2.0
ENDED: Final = ("memory", "erred", "released", "forgotten")
"""States of a task whose worker has ended."""


def run_worker(program: WorkerProgram, name: str) -> str:
    """Run a worker until it ends or its event is set; return why it ended. This function is the task."""
    child = WorkerChild(program, _log.info)
    drains = Event(f"{name}-drains", client=get_client())  # found by this thread alone

    def drain() -> None:
        # The scheduler ends with a cluster that `up` started.
        with suppress(OSError, CancelledError):
            drains.wait()
            child.drain()

    Thread(target=drain, daemon=True).start()
    return child.wait()


class DaskPlacement(WorkerPlacement):
    """Places workers as tasks. See `WorkerPlacement`."""

    def __init__(
        self,
        connect: Callable[[], Client],
        cluster: Any,
        program: WorkerProgram,
        resources: Mapping[str, float],
    ) -> None:
        """Connect; `connect` is called again after the scheduler was lost."""
        self._connect, self._cluster = connect, cluster
        self._client: Client | None = None
        self._program, self._resources = program, dict(resources)
        with self._answering():
            pass

    @contextmanager
    def _answering(self) -> Iterator[Client]:
        """Provide a client of the scheduler; after a failure it is a new one, because a client gives up by itself.

        Raises `EngineError` if the scheduler does not answer.
        """
        try:
            self._client = self._client or self._connect()
            yield self._client
        except (OSError, TimeoutError, RuntimeError, CancelledError) as error:
            self._leave()
            raise EngineError(
                f"the scheduler of Dask does not answer: {str(error) or type(error).__name__}"
            ) from error

    def _leave(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):  # the scheduler may have ended
                client.close(timeout=CLOSE_S)

    @property
    def started_at(self) -> str:
        return "" if self._cluster is None else f"--scheduler {self._cluster.scheduler_address}"

    def scale(self, number: int) -> None:
        placed = self.running()
        if self._cluster is not None and number >= len(placed):
            self._cluster.scale(number)
        with self._answering() as client:
            for _ in range(number - len(placed)):
                name = f"{NAME}-{secrets.token_hex(4)}"
                task = client.submit(
                    run_worker, self._program, name, key=name, pure=False, resources=self._resources
                )
                fire_and_forget(task)
            # Workers that wait for a machine have nothing to finish.
            surplus = sorted(placed, key=lambda worker: bool(worker.where))
            for worker in surplus[: len(placed) - number]:
                # Dask learns late that a task has begun. Then the event drains the task, although Dask has forgotten
                # it.
                Event(f"{worker.id}-drains", client=client).set()
                if not worker.where:
                    client.cancel([Future(worker.id, client)], force=True)

    def running(self) -> Sequence[PlacedWorker]:
        prefix = f"{NAME}-"

        # A nested function is pickled by value, so the scheduler needs no arena.
        def tasks(dask_scheduler: Any) -> list[tuple[str, str, str]]:
            events = dask_scheduler.extensions["events"]._events
            # A task may be assigned to a Dask worker that has no room for it yet.
            return [
                (key, "executing", task.processing_on.host)
                if task.processing_on and task in task.processing_on.executing
                else (key, task.state, "")
                for key, task in dask_scheduler.tasks.items()
                if isinstance(key, str) and key.startswith(prefix)
                if not (f"{key}-drains" in events and events[f"{key}-drains"].is_set())
            ]

        with self._answering() as client:
            placed = client.run_on_scheduler(tasks)
        return [PlacedWorker(*task) for task in placed if task[1] not in ENDED]

    def logs(self, worker_id: str) -> Iterator[str]:
        """Do as `WorkerPlacement.logs` says; Dask keeps the lines of each of its workers."""
        with self._answering() as client:
            where = {key: address for address, keys in client.processing().items() for key in keys}
            if worker_id not in where:
                raise EngineError(f"Dask runs no task {worker_id}")
            kept = client.get_worker_logs(workers=[where[worker_id]])
        for lines in kept.values():
            yield from (line for _, line in reversed(lines))

    def close(self) -> None:
        self._leave()
        if self._cluster is not None:
            self._cluster.close()


def connect(
    program: WorkerProgram,
    *,
    scheduler: str = "",
    cluster: str = "",
    resources: Mapping[str, float] | None = None,
    **keywords: Any,
) -> DaskPlacement:
    """Join a cluster by the address of its scheduler, or start one of a kind of `CLUSTERS` with these keywords.

    Raises `EngineError` if there is none, or the connection would be readable for others.
    """
    if bool(scheduler) == bool(cluster):
        raise EngineError("give --scheduler or --cluster")
    started = None
    if cluster:
        module, kind = CLUSTERS[cluster]
        try:
            started = getattr(import_module(module), kind)(**keywords)
        except ImportError as error:
            package = str(error.name).replace("_", "-")
            raise EngineError(
                f"--cluster {cluster} needs the package {package}: pip install {package}"
            ) from error
    try:
        # because of the worker's key
        require_private(started.scheduler_address if started else scheduler)
    except EngineError:
        if started:
            started.close()
        raise
    return DaskPlacement(
        lambda: Client(started or scheduler, timeout=CONNECT_S, set_as_default=False),
        started,
        program,
        resources or {},
    )
