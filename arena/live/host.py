"""The bridge between the two loops: asyncio runs the process, and trio is its guest on the same thread.

asyncio does only the input and output of gRPC, and waits for the end of trio's program. The callbacks of a stream call
sessions and match runners directly: these are plain state machines, and both loops run on one thread, so no two of them
run at once. Tasks that wait run in trio.

`arena.app.arena_process` builds the parts that run on the two loops.
"""

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import trio

if TYPE_CHECKING:
    import outcome

T = TypeVar("T")


class TrioGuest(Generic[T]):
    """A trio program that runs as a guest of the running asyncio loop."""

    def __init__(self, program: Callable[[], Awaitable[T]]) -> None:
        """Take a program, which `start` runs."""
        self._program = program
        self._loop = asyncio.get_running_loop()
        self._scope = trio.CancelScope()
        self._token: trio.lowlevel.TrioToken | None = None
        self.ended: asyncio.Future[outcome.Outcome[T | None]] = self._loop.create_future()
        """The program's outcome once it has ended; its value is None if it was cancelled."""

    def start(self) -> None:
        """Run the program until it ends or is cancelled."""
        trio.lowlevel.start_guest_run(
            self._run,
            run_sync_soon_threadsafe=self._loop.call_soon_threadsafe,
            run_sync_soon_not_threadsafe=self._loop.call_soon,
            done_callback=self.ended.set_result,
            host_uses_signal_set_wakeup_fd=True,
        )

    def soon(self, call: Callable[[], object]) -> None:
        """Call `call` in trio, unless the program has not begun or has ended."""
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

    On a thread other than the main one, signals cannot be handled, and this does nothing.
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
