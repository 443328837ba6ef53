"""A worker whose deal-sets are tasks of an engine.

It is a separate process, because the client of an engine unpickles what tasks send. It reads no data folder and has no
key: it passes bytes on, which the arena verifies.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from threading import Event, Thread
from typing import Any, Final

from arena.app.placement.assignments import play_assignment, probe
from arena.app.worker import GetArchive, Work
from arena.contests.workers.player import LOOK_S
from arena.contests.workers.processes import Activity
from arena.local.engines import Engine
from cardarena.v1 import work_pb2

MOST_AHEAD: Final = 16
"""The number of simultaneous deal-sets at the engine: as many as a worker gets before it has reported any."""


def dials(status: int) -> Callable[[], None]:
    """Write an idle `Activity` to a descriptor every second, until the returned function is called.

    A cluster may have no machine for minutes, and the arena ends a process that is silent for one.
    """
    begun = Event()

    def dial() -> None:
        while not begun.wait(LOOK_S):
            os.write(status, Activity.DIALS)

    Thread(target=dial, daemon=True).start()
    return begun.set


class Bridge:
    """A bridge that passes assignments to an engine. Runs on asyncio."""

    def __init__(
        self, engine: Engine, work: Work, get_archive: GetArchive, *, sandbox: str
    ) -> None:
        """Make a bridge that calls nothing until `run`.

        Args:
          work: Calls the arena, see `arena.app.worker.Work`.
          sandbox: The value of the option `--sandbox` of `arena worker`.
        """
        self._engine, self._work, self._get_archive = engine, work, get_archive
        self._sandbox = sandbox
        self._requests = asyncio.Queue[work_pb2.WorkRequest]()
        self._archives: dict[str, asyncio.Task[Any]] = {}
        """What stands for an archive at the engine, by its hash."""
        self._in_play = 0

    async def run(self, status: int, begins: Callable[[], object]) -> None:
        """Play until the arena ends the call; write an `Activity` to a descriptor every second.

        `begins` is called before that, once a machine of the engine has answered.
        """
        ready = await self._run(probe, self._sandbox)
        begins()
        tasks = set[asyncio.Task[None]]()
        counting = asyncio.create_task(self._count(status))

        async def begun() -> AsyncIterator[work_pb2.WorkRequest]:
            described = work_pb2.WorkerReady.FromString(ready)
            described.ClearField("host")  # tasks run on many
            yield work_pb2.WorkRequest(ready=described)
            while True:
                yield await self._requests.get()

        try:
            async for message in self._work(begun):
                if message.HasField("joined"):
                    for _ in range(MOST_AHEAD):
                        self._send(takes=work_pb2.WorkerTakes())
                elif message.HasField("assignment"):
                    task = asyncio.create_task(self._play(message))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)
        finally:
            for task in (*tasks, counting):
                task.cancel()

    async def _play(self, message: work_pb2.WorkResponse) -> None:
        self._in_play += 1
        try:
            archives = {
                entrant.archive_sha256: await self._at_engine(entrant.archive_sha256)
                for entrant in message.assignment.entrants
                if entrant.archive_sha256
            }
            parts = await self._run(
                play_assignment,
                self._sandbox,
                message.SerializeToString(),
                tuple(archives),
                *archives.values(),
            )
            for part in parts:
                self._requests.put_nowait(work_pb2.WorkRequest.FromString(part))
        except Exception as error:  # an error of the engine, or of a task whose machine died
            failed = work_pb2.WorkFailed(why=f"{type(error).__name__}: {error}")
            self._send(begin=message.begin, failed=failed)
        finally:
            self._in_play -= 1
        self._send(takes=work_pb2.WorkerTakes())

    async def _at_engine(self, sha256: str) -> Any:
        """Return the engine's reference to an archive, which is fetched and sent once."""
        if sha256 not in self._archives:
            self._archives[sha256] = asyncio.create_task(self._sent(sha256))
        return await self._archives[sha256]

    async def _sent(self, sha256: str) -> Any:
        content = b"".join([piece async for piece in self._get_archive(sha256)])
        return await asyncio.to_thread(self._engine.put, content)

    async def _run(self, call: Callable[..., Any], *given: Any) -> Any:
        future = await asyncio.to_thread(self._engine.submit, call, *given)
        return await asyncio.wrap_future(future)

    async def _count(self, status: int) -> None:
        while True:
            os.write(status, Activity.PLAYS if self._in_play else Activity.IDLE)
            self._send(counts=work_pb2.WorkerCounts(matches=self._in_play))
            await asyncio.sleep(LOOK_S)

    def _send(self, **body: Any) -> None:
        self._requests.put_nowait(work_pb2.WorkRequest(**body))
