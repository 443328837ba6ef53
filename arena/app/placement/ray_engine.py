"""Workers on a cluster of Ray: each is a detached actor, which Ray restarts on another machine if its machine dies."""

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any, Final

import ray
from ray.exceptions import RayActorError, RayError, RpcError
from ray.util import list_named_actors

from arena.app.placement.child import WorkerChild
from arena.app.placement.placement import NAME, PlacedWorker, WorkerPlacement, WorkerProgram
from arena.local.engines import RAY_CURE, EngineError

NAMESPACE: Final = "card-arena"
ANSWER_S: Final = 5.0
"""Seconds for an actor to answer; one that does not answer is waiting for a machine."""


class WorkerActor:
    """The actor, which runs a worker. Ray makes it again when it restarts the actor."""

    def __init__(self, program: WorkerProgram) -> None:
        self._child = WorkerChild(program, lambda _: None)
        self._state = "ALIVE"
        actor = ray.get_runtime_context().current_actor

        def end() -> None:
            self._child.wait()
            ray.kill(actor)  # otherwise its resources would stay taken

        Thread(target=end, daemon=True).start()

    def drain(self) -> None:
        """Let the worker finish what it plays and end."""
        self._state = "DRAINING"
        self._child.drain()

    def state(self) -> tuple[str, str]:
        return self._state, os.uname().nodename

    def lines(self) -> list[str]:
        return list(self._child.lines)


class RayPlacement(WorkerPlacement):
    """Places workers as actors. See `WorkerPlacement`."""

    def __init__(
        self,
        connect: Callable[[], object],
        program: WorkerProgram,
        cores: float,
        resources: Mapping[str, float],
        *,
        is_own: bool = False,
    ) -> None:
        """Connect; `connect` is called again after the cluster was lost. `is_own` says that it starts the cluster."""
        self._connect, self._is_own = connect, is_own
        self._program = program
        self._options = {
            "namespace": NAMESPACE,
            "lifetime": "detached",
            "max_restarts": -1,
            "max_concurrency": 4,  # it answers while its worker plays
            "num_cpus": cores,
            "resources": dict(resources),
        }
        with self._answering():
            pass

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Keep a connection within the block. Raises `EngineError` if the cluster does not answer."""
        try:
            if not ray.is_initialized():
                self._connect()
            yield
        except (RayError, RpcError, OSError, RuntimeError) as error:
            ray.shutdown()
            raise EngineError(f"the cluster of Ray does not answer: {error}; {RAY_CURE}") from error

    @property
    def started_at(self) -> str:
        """See `WorkerPlacement.started_at`."""
        return f"--address {ray.get_runtime_context().gcs_address}" if self._is_own else ""

    def scale(self, number: int) -> None:
        placed = self.running()
        with self._answering():
            for _ in range(number - len(placed)):
                name = f"{NAME}-{secrets.token_hex(4)}"
                ray.remote(WorkerActor).options(**self._options, name=name).remote(self._program)
            # Workers that wait for a machine have nothing to finish.
            surplus = sorted(placed, key=lambda worker: bool(worker.where))
            for worker in surplus[: len(placed) - number]:
                with suppress(RayActorError, EngineError):  # it may have ended
                    actor = _actor_of(worker.id)
                    if worker.where:
                        ray.get(actor.drain.remote(), timeout=ANSWER_S)
                    else:
                        ray.kill(actor)

    def running(self) -> Sequence[PlacedWorker]:
        with self._answering():
            return self._running()

    def _running(self) -> Sequence[PlacedWorker]:
        states = {}
        for actor in list_named_actors(all_namespaces=True):
            if actor["namespace"] == NAMESPACE and actor["name"].startswith(f"{NAME}-"):
                with suppress(EngineError):  # it may have ended
                    states[_actor_of(actor["name"]).state.remote()] = actor["name"]
        if not states:
            return []
        answered, waiting = ray.wait(list(states), num_returns=len(states), timeout=ANSWER_S)
        placed = [PlacedWorker(states[call], "PENDING") for call in waiting]
        for call in answered:
            try:
                state, where = ray.get(call)
            except RayActorError:
                continue  # it has just ended
            if state == "ALIVE":
                placed.append(PlacedWorker(states[call], state, where))
        return placed

    def logs(self, worker_id: str) -> Iterator[str]:
        with self._answering():
            lines: list[str] = ray.get(_actor_of(worker_id).lines.remote(), timeout=ANSWER_S)
        yield from lines

    def close(self) -> None:
        ray.shutdown()


def _actor_of(worker_id: str) -> Any:
    try:
        return ray.get_actor(worker_id, namespace=NAMESPACE)
    except ValueError:
        raise EngineError(f"Ray runs no actor {worker_id}") from None


def connect(
    program: WorkerProgram,
    *,
    address: str = "auto",
    cores: float = 1.0,
    resources: Mapping[str, float] | None = None,
    **keywords: Any,
) -> RayPlacement:
    """Join the cluster of an address, or start one on this machine with the address `local`.

    Raises `EngineError` if there is none.
    """

    def join() -> None:
        ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, **keywords)

    return RayPlacement(join, program, cores, resources or {}, is_own=address == "local")
