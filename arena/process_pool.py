"""Processes beside this one that compute, so that its event loop stays free."""

import logging
import os
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_context, parent_process
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

T = TypeVar("T")

NICENESS: Final = 10
"""By default the processes have lower priority than an arena and bots on the same machine."""

_log = logging.getLogger(__name__)


class PoolClosed(Exception):
    """The pool was closed, and accepts no calls."""


class ProcessPool:
    """Processes that call functions, which start when calls need them and end with this process.

    Used on any thread. Functions and their arguments are pickled.
    """

    def __init__(
        self,
        processes: int,
        begin: Callable[..., None] | None = None,
        *given: object,
        niceness: int = NICENESS,
    ) -> None:
        """Start at most `processes` processes, each of which first calls `begin` with the arguments `given`."""
        self._processes = processes
        self._initargs = (niceness, begin, given)
        self._pool: ProcessPoolExecutor | None = None
        self._lock = Lock()
        self._closed = False

    @property
    def started(self) -> "list[BaseProcess]":
        return list((getattr(self._pool, "_processes", None) or {}).values())

    def submit(self, function: Callable[..., T], *given: object) -> "Future[T]":
        """Call a function in a process. If a process has died, new ones are started first.

        The future raises what the function raises, or `BrokenProcessPool` if a process died during the call.

        Raises `PoolClosed` if the pool was closed.
        """
        with self._lock:
            if self._closed:
                raise PoolClosed
            if self._pool is not None:
                try:
                    return self._pool.submit(function, *given)
                except BrokenProcessPool:
                    fields = {"calls": function.__module__}
                    _log.warning("a process has died, and others are started", extra=fields)
            # Never fork: a forked gRPC process may deadlock.
            self._pool = ProcessPoolExecutor(
                self._processes, get_context("spawn"), _begin, self._initargs
            )
            return self._pool.submit(function, *given)

    def close(self) -> None:
        """Kill the processes, also while they compute."""
        with self._lock:
            self._closed = True
            processes, pool = self.started, self._pool
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()


def _begin(niceness: int, begin: Callable[..., None] | None, given: tuple[object, ...]) -> None:
    os.nice(niceness)
    # Ctrl-C is for the parent, which ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None
    Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    if begin is not None:
        begin(*given)


def _end_with(sentinel: int) -> None:
    """End this process at once when its parent has ended, for any reason."""
    connection.wait([sentinel])
    os._exit(1)
