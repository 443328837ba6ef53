"""Engines that run tasks: processes of this machine, an executor, a cluster of Dask, or one of Ray."""

import os
from concurrent.futures import Executor, Future
from functools import partial
from importlib import import_module
from ipaddress import ip_address
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from arena.process_pool import ProcessPool

if TYPE_CHECKING:
    from collections.abc import Callable

RAY_CURE: Final = "if its head began with a token, set RAY_AUTH_MODE=token here, too"
"""The advice if Ray does not answer: `ray start` uses a token that it finds, and `ray.init` does not."""


class EngineError(Exception):
    """An engine cannot be used. The text says why, and what to do."""


class ThisProcess(Executor):
    """Runs a task in the thread that waits for its result, when it waits."""

    def submit(self, call: "Callable[..., Any]", /, *given: Any, **named: Any) -> "Future[Any]":
        return _Later(partial(call, *given, **named))


class _Later(Future[Any]):
    def __init__(self, call: "Callable[[], Any]") -> None:
        super().__init__()
        self._call = call

    def result(self, timeout: float | None = None) -> Any:  # noqa: ARG002
        return self._call()


class Engine:
    """Runs tasks in processes of this machine, or by a client. Used on any thread."""

    def __init__(self, client: Any = None, processes: int | None = None) -> None:
        """Start nothing yet.

        Args:
          client: None for processes of this machine, the `Client` of a Dask cluster, the module `ray` after `ray.init`,
            or an executor of `concurrent.futures`.
          processes: Without a client, the number of processes; by default one for each core.

        Raises `TypeError` if the client is none of these.
        """
        self._close: list[Callable[[], object]] = []
        self.put: Callable[[Any], Any] = lambda value: value
        """Keeps a value at the engine; returns what stands for it as an argument of a task."""
        if client is None:
            pool = ProcessPool(processes or os.cpu_count() or 1, niceness=0)
            self._close.append(pool.close)
            self.submit: Callable[..., Future[Any]] = pool.submit
            """Runs a function with arguments; all of them travel as pickles."""
        elif isinstance(client, Executor):
            self.submit = client.submit
        elif hasattr(client, "get_executor"):  # of Dask
            self.submit = client.get_executor(pure=False).submit
            self.put = lambda value: client.scatter(value, hash=False)
        elif isinstance(client, ModuleType) and hasattr(client, "remote"):  # Ray
            self.submit = lambda call, *given: client.remote(call).remote(*given).future()
            self.put = client.put
        else:
            raise TypeError(
                f"a {type(client).__name__} runs no tasks; give the Client of Dask, the module ray, an executor, or None"
            )

    def close(self) -> None:
        """End the processes or the cluster that were started for this engine."""
        while self._close:
            self._close.pop()()

    @classmethod
    def named(cls, text: str) -> "Engine":
        """Connect to the engine that a command line names: `dask:ADDRESS`, `ray:ADDRESS` or `processes`.

        The address `local` starts a cluster on this machine.

        Raises `EngineError` if there is no such engine, its package is missing, or it does not answer.
        """
        name, _, address = text.partition(":")
        try:
            if name == "dask" and address:
                return _dask(address)
            if name == "ray" and address:
                return _ray(address)
        except ImportError as error:
            raise EngineError(
                f"{name} needs the package {error.name}: pip install 'cardarena-engine[{name}]'"
            ) from error
        except (OSError, TimeoutError) as error:
            cure = f"; {RAY_CURE}" if name == "ray" else ""
            raise EngineError(f"no {name} answers at {address}: {error}{cure}") from error
        if text != "processes":
            raise EngineError(f"{text!r} is not like dask:ADDRESS, ray:ADDRESS or processes")
        return cls()


def _dask(address: str) -> Engine:
    distributed = import_module("distributed")
    ends: list[Callable[[], object]] = []
    if address == "local":
        cluster = distributed.LocalCluster(threads_per_worker=1, dashboard_address=None)
        ends.append(cluster.close)
    else:
        require_private(address)
        cluster = address
    client = distributed.Client(cluster, set_as_default=False)
    engine = Engine(client)
    engine._close += [*ends, client.close]
    return engine


def _ray(address: str) -> Engine:
    ray = import_module("ray")
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            include_dashboard=False if address == "local" else None,
        )
    except OSError:
        raise
    except Exception as error:  # Ray has no error class for a node that does not start in time
        raise EngineError(f"Ray does not start: {error}") from error
    engine = Engine(ray)
    engine._close.append(ray.shutdown)
    return engine


def require_private(address: str) -> None:
    """Require that the traffic to an address of Dask cannot be read by others.

    Raises `EngineError` if it is on another machine and its scheme is not `tls`.
    """
    if not address.startswith("tls://") and not is_this_machine(address):
        raise EngineError(
            f"{address} is on another machine, and needs TLS, as what travels there must not be read: tls://HOST:PORT"
        )


def is_this_machine(address: str) -> bool:
    """Return whether an address as `tcp://HOST:PORT` is of this machine alone."""
    host = (urlsplit(address if "//" in address else f"//{address}").hostname or "").lower()
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


__all__ = ["Engine", "EngineError", "ThisProcess", "is_this_machine", "require_private"]
