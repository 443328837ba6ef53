"""Plays several matches at once: on threads, or on an event loop of asyncio or trio.

Each piece of work is of one match. The pieces of a match are done in order, one at a time; pieces of different matches
are done at the same time.
"""

import asyncio
import contextlib
import importlib
import queue
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from cardarena._errors import Misconfigured
from cardarena._play import Author, Port, do, finished
from cardarena._session import Work


def pieces(work: Work) -> Iterator[tuple[int, Work]]:
    """Yield the work as pieces of one match each, in order."""
    for news in work.news:
        yield news.match, Work([news], [])
    for ask in work.asks:
        yield ask.match, Work([], [ask])


class Lanes:
    """The waiting pieces of each match."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lanes: dict[int, deque[Work]] = {}

    def put(self, match: int, piece: Work) -> bool:
        """Add a piece; return true if no piece of the match is waiting or being done, so that the caller must begin."""
        with self._lock:
            begins = match not in self._lanes
            self._lanes.setdefault(match, deque()).append(piece)
            return begins

    def next(self, match: int) -> Work | None:
        """Remove and return the next piece of a match; None if the match has no more, which ends its lane until `put`."""
        with self._lock:
            lane = self._lanes[match]
            if lane:
                return lane.popleft()
            del self._lanes[match]
            return None


def play_on_threads(author: Author, port: Port, workers: int) -> None:
    """Play until the connection is over, on threads. The bot's methods must be plain functions."""
    lanes = Lanes()
    ready: queue.SimpleQueue[int | None] = queue.SimpleQueue()

    def serve() -> None:
        try:
            while (match := ready.get()) is not None:
                while (piece := lanes.next(match)) is not None:
                    finished(do(author, piece, port))
        except BaseException as error:  # this includes SystemExit, which ends the program
            port.fail(error)

    threads = [
        threading.Thread(target=serve, name=f"cardarena-worker-{number}", daemon=True)
        for number in range(1, workers + 1)
    ]
    for thread in threads:
        thread.start()
    while (work := port.take()) is not None:
        for match, piece in pieces(work):
            if lanes.put(match, piece):
                ready.put(match)
    for _ in threads:
        ready.put(None)
    for thread in threads:
        thread.join()
    port.take()  # raises the error of a thread


def play_on_asyncio(author: Author, port: Port) -> None:
    """Play until the connection is over, on an event loop of asyncio."""
    asyncio.run(_on_asyncio(author, port))


async def _on_asyncio(author: Author, port: Port) -> None:
    lanes, loop = Lanes(), asyncio.get_running_loop()
    over: asyncio.Future[BaseException | None] = loop.create_future()

    def end(error: BaseException | None) -> None:
        if not over.done():
            over.set_result(error)

    async def serve(match: int) -> None:
        try:
            while (piece := lanes.next(match)) is not None:
                await do(author, piece, port)
        except (KeyboardInterrupt, SystemExit) as error:
            end(error)  # raised here, it would leave the loop with its tasks running

    def begin(work: Work) -> None:
        if over.done():
            return  # the group accepts no tasks any more
        for match, piece in pieces(work):
            if lanes.put(match, piece):
                group.create_task(serve(match))

    # After Ctrl-C the loop would wait for a thread of its own pool.
    feed = threading.Thread(
        target=_feed, args=(port, loop, begin, end), name="cardarena-feed", daemon=True
    )
    feed.start()
    async with asyncio.TaskGroup() as group:
        error = await over
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise error
    if error is not None:
        raise error


def _feed(
    port: Port,
    loop: asyncio.AbstractEventLoop,
    begin: Callable[[Work], None],
    end: Callable[[BaseException | None], None],
) -> None:
    """Pass the work to an event loop, and the error that ends play."""
    error: BaseException | None = None
    with contextlib.suppress(RuntimeError):  # the loop may be closed
        try:
            while (work := port.take()) is not None:
                loop.call_soon_threadsafe(begin, work)
        except Exception as raised:
            error = raised
        loop.call_soon_threadsafe(end, error)


def play_on_trio(author: Author, port: Port) -> None:
    """Play until the connection is over, on trio.

    Raises:
      Misconfigured: if trio is not installed.
    """
    trio, lanes = _trio(), Lanes()

    async def serve(match: int) -> None:
        while (piece := lanes.next(match)) is not None:
            await do(author, piece, port)

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            take = port.take
            while (work := await trio.to_thread.run_sync(take, abandon_on_cancel=True)) is not None:
                for match, piece in pieces(work):
                    if lanes.put(match, piece):
                        nursery.start_soon(serve, match)

    try:
        trio.run(main)
    except BaseExceptionGroup as group:
        raise _only(group) from None


def on_trio(coroutine: Awaitable[Any]) -> Any:
    """Run a coroutine on trio, and return its result.

    Raises:
      Misconfigured: if trio is not installed.
      Exception: the exception of the coroutine.
    """

    async def main() -> Any:
        return await coroutine

    return _trio().run(main)


def _trio() -> Any:
    try:
        return importlib.import_module("trio")
    except ImportError:
        raise Misconfigured("trio is not installed: pip install 'cardarena[trio]'") from None


def _only(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first exception in nested groups, which ended play."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
