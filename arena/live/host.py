"""The bridge between the two loops: asyncio runs the process, and trio is its guest on the same thread.

asyncio does the input and output of gRPC and waits for the end of trio's program, nothing else. The callbacks of a
stream call sessions and match runners directly: these are plain state machines, and both loops run on one thread, so
no two of them run at once. Tasks that wait run in trio.

`arena.app.arena_process` builds the parts that run on the two loops.
"""

import asyncio
import contextlib
import functools
import importlib
import math
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final, Generic, TypeVar
from weakref import WeakValueDictionary

import outcome
import trio

T = TypeVar("T")

# As a module of no type: the types of what is private there do not count.
trio_run: Final[Any] = importlib.import_module("trio._core._run")

Deliver = Callable[["outcome.Outcome[Any]"], object]


class GuestWaits(trio.abc.Instrument):
    """Waits for what a guest waits for, on the loop of its host: input, a deadline, or a call from the host.

    trio waits in a thread. Each wait then costs two switches of threads, a wake-up of the host and a contest for the
    interpreter: a sixth of the processor time of short matches. trio's own poll can be polled by the host. trio has no
    setting for it, so its function that starts the thread is replaced (`_begin_wait`), for guests that are known here.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Make the waits of one guest, whose `start_guest_run` gets this as an instrument and `soon` as a function."""
        self._loop = loop
        self._thread = threading.get_ident()
        self._timeout_s = math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._poll = -1
        _waits[loop] = self

    def soon(self, call: Callable[[], object]) -> None:
        """Call on the loop, from any thread."""
        if threading.get_ident() == self._thread:
            self._loop.call_soon(call)
        else:
            self._loop.call_soon_threadsafe(call)

    def before_io_wait(self, timeout: float, /) -> None:
        """As `trio.abc.Instrument.before_io_wait`."""
        self._timeout_s = timeout

    def begin(self, poll: int, get_events: Callable[[], object], deliver: Deliver) -> None:
        """Wait once. `poll` is the descriptor of trio's own poll, and `get_events` reads it without waiting."""
        self._poll = poll
        self._loop.add_reader(poll, self._readable, get_events, deliver)
        self._timer = self._loop.call_later(self._timeout_s, self._due, deliver)

    def _readable(self, get_events: Callable[[], object], deliver: Deliver) -> None:
        self._end()
        deliver(outcome.capture(get_events))

    def _due(self, deliver: Deliver) -> None:
        self._end()
        deliver(outcome.Value([]))

    def _end(self) -> None:
        self._loop.remove_reader(self._poll)
        assert self._timer is not None
        self._timer.cancel()


_waits: Final[WeakValueDictionary[asyncio.AbstractEventLoop, GuestWaits]] = WeakValueDictionary()
"""Of each loop that has a guest."""
_begin_thread: Final = trio_run.start_thread_soon


def _begin_wait(get_events: Callable[[], Any], deliver: Deliver) -> None:
    """Begin a wait of the guest whose turn it is: `start_thread_soon` of trio's guest runs."""
    waits = _waits.get(asyncio.get_running_loop())
    manager: Any = trio_run.GLOBAL_RUN_CONTEXT.runner.io_manager
    poll = getattr(manager, "_epoll", None)
    if waits is None or poll is None:  # another host, or another system
        _begin_thread(get_events, deliver)
    else:
        waits.begin(poll.fileno(), functools.partial(manager.get_events, 0), deliver)


trio_run.start_thread_soon = _begin_wait


class TrioGuest(Generic[T]):
    """A trio program that runs as a guest of the running asyncio loop."""

    def __init__(self, program: Callable[[], Awaitable[T]]) -> None:
        """The program starts with `start`."""
        self._program = program
        self._loop = asyncio.get_running_loop()
        self._scope = trio.CancelScope()
        self._token: trio.lowlevel.TrioToken | None = None
        self.ended: asyncio.Future[outcome.Outcome[T | None]] = self._loop.create_future()
        """The program's outcome once it has ended; its value is None if it was cancelled."""

    def start(self) -> None:
        """Run the program until it ends or is cancelled."""
        waits = GuestWaits(self._loop)
        trio.lowlevel.start_guest_run(
            self._run,
            run_sync_soon_threadsafe=waits.soon,
            run_sync_soon_not_threadsafe=self._loop.call_soon,
            done_callback=self.ended.set_result,
            host_uses_signal_set_wakeup_fd=True,
            instruments=[waits],
        )

    def soon(self, call: Callable[[], object]) -> None:
        """Call this in trio, unless the program has not begun or has ended."""
        if self._token is not None:
            with contextlib.suppress(trio.RunFinishedError):
                self._token.run_sync_soon(call)

    def cancel(self) -> None:
        """Cancel the program, so that its `finally` blocks run."""
        self.soon(self._scope.cancel)

    async def _run(self) -> T | None:
        self._token = trio.lowlevel.current_trio_token()
        with self._scope:
            return await self._program()
        return None


@contextlib.contextmanager
def stop_signals(interrupt: Callable[[], None], terminate: Callable[[], None]) -> Iterator[None]:
    """Call `interrupt` at SIGINT and `terminate` at SIGTERM, on the running loop, within the block.

    On another thread than the main one no signal can be handled, and none is.
    """
    loop = asyncio.get_running_loop()
    added = []
    for number, handler in {signal.SIGINT: interrupt, signal.SIGTERM: terminate}.items():
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, handler)
            added.append(number)
    try:
        yield
    finally:
        for number in added:
            loop.remove_signal_handler(number)


def report_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error in a callback of the loop as asyncio does, except one that is none.

    A wake-up of gRPC that finds nothing to read is no error: the wake-up before it emptied the queue
    (https://github.com/grpc/grpc/pull/36096).
    """
    callback = context.get("message", "")
    if (
        isinstance(context.get("exception"), BlockingIOError)
        and "PollerCompletionQueue" in callback
    ):
        return
    loop.default_exception_handler(context)


async def other_tasks_end(patience_s: float) -> None:
    """Wait for the last steps of calls that gRPC has cancelled but does not wait for.

    If a loop closes while such calls are left, gRPC prints a traceback for each.
    """
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    if rest:
        await asyncio.wait(rest, timeout=patience_s)
