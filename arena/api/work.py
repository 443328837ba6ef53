"""Workers, which join by a call that lasts as long as they play."""

import asyncio
import itertools
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

import grpc
import trio
from google.protobuf.message import DecodeError

from arena.api.admission.access import holder_of
from arena.api.admission.calls import ends_with_its_call
from arena.api.bots import pieces
from arena.bots.blobs import Blobs
from arena.bots.tokens import Tokens
from arena.contests.workers.pool import MOST_OF_KEY, WorkerPool
from arena.contests.workers.processes import MOST_LOCAL
from arena.contests.workers.worker import Connection, Worker
from arena.errors.refused import DRAINING, Refused
from arena.live.limits import Context
from arena.live.metrics import Traffic
from arena.results.worker_names import HOST
from arena.sandbox.sandbox import UPLOADS_AT
from arena.sandbox.spawner.order import Level
from arena.store.data_folder import arena_version
from arena.token_bucket import TokenBucket
from cardarena.v1 import work_pb2, work_pb2_grpc

MESSAGES_PER_S: Final = 200.0
"""The number of messages a second of a worker; one that plays needs about one, and five for each deal-set."""
MESSAGES: Final = 1_000
"""The number of messages of a worker in a burst."""
MESSAGES_OF_KEY_PER_S: Final = 1_000.0
"""The number of messages a second of all workers of a key."""
MESSAGES_OF_KEY: Final = 4_000
LONG_BYTES: Final = 16_384
"""The length from which a message is part of a report, which has a separate limit and does not count."""

_log = logging.getLogger(__name__)


def _why_unfit(ready: work_pb2.WorkerReady) -> str:
    """Return why a worker on another machine cannot play here; empty if it can."""
    if ready.engine != arena_version():
        return f"it runs version {ready.engine}, and the arena {arena_version()}"
    if ready.sandbox not in UPLOADS_AT:
        least = min(level.value for level in UPLOADS_AT)
        return f"its sandbox is {ready.sandbox or Level.S0}, and uploaded bots need {least}"
    if not HOST.fullmatch(ready.host):
        return f"{ready.host!r} is no name of a host"
    return ""


class WorkCalls(work_pb2_grpc.WorkServiceServicer):
    """Serves `cardarena.v1.WorkService` on the host's loop, for the workers of a pool in trio."""

    def __init__(
        self,
        tokens: Tokens,
        traffic: Traffic,
        blobs: Blobs,
        waiting: Callable[[], Mapping[int | None, int]],
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Refuse workers until `run`.

        `blobs` has the archives of uploaded versions. `waiting` reads the deal-sets that wait, by speed class; it blocks.
        """
        self._waiting = waiting
        self._now_s = now_s
        self._messages: dict[str, TokenBucket] = {}
        """By key: a worker that is cut and connects again has no further burst."""
        self._tokens, self._traffic, self._blobs = tokens, traffic, blobs
        self._pool: WorkerPool | None = None
        self._numbers: Final = itertools.count(MOST_LOCAL + 1)

    async def run(self, pool: WorkerPool) -> None:
        """Let workers join this pool, until cancelled."""
        self._pool = pool
        try:
            async with trio.open_nursery() as nursery:
                if pool.spot_checker is not None:
                    nursery.start_soon(pool.spot_checker.run, pool.find_other)
                await pool.end_silent()
        finally:
            self._pool = None

    async def Work(self, _: object, context: Context) -> AsyncIterator[work_pb2.WorkResponse]:
        if (pool := self._pool) is None:
            raise Refused(DRAINING)
        holder = holder_of(context, self._tokens)
        number = holder.local_worker
        if not number and pool.is_full(holder.owner):
            raise Refused("TOO_MANY_OPEN", f"{MOST_OF_KEY} workers of this key are here already")
        worker = pool.local(number) if number else pool.add(next(self._numbers), holder.owner)
        connection = Connection()
        worker.connect(connection)
        reading = asyncio.ensure_future(self._read(context, worker, connection, remote=not number))
        ends_with_its_call(reading)
        _log.info("a worker has connected", extra={"worker": worker.name})
        try:
            while (message := await connection.outgoing.get()) is not None:
                yield message
        finally:
            connection.has_ended = True
            worker.disconnect(connection)
            if not number:
                pool.remove(worker)
            _log.info("the call of a worker has ended", extra={"worker": worker.name})
        if reading.done():
            reading.result()

    async def _read(
        self, context: Context, worker: Worker, connection: Connection, *, remote: bool
    ) -> None:
        """Take what the worker sends, until the call ends.

        Raises `Refused` if its key was revoked, or the arena cannot use it.
        """
        account = self._traffic.account(context.peer())
        of_worker = TokenBucket(MESSAGES, MESSAGES_PER_S, self._now_s)
        of_key = self._messages.setdefault(
            worker.key, TokenBucket(MESSAGES_OF_KEY, MESSAGES_OF_KEY_PER_S, self._now_s)
        )
        try:
            while (
                not connection.has_ended and (request := await context.read()) is not grpc.aio.EOF
            ):
                account.received(size := request.ByteSize())
                if remote and size < LONG_BYTES and not (of_worker.take() and of_key.take()):
                    worker.end(f"it has sent more than {MESSAGES_PER_S:.0f} messages a second")
                    break
                holder_of(context, self._tokens)
                if remote and request.HasField("ready") and (why := _why_unfit(request.ready)):
                    raise Refused("UNFIT_WORKER", why)
                worker.take(request)
        except DecodeError:
            worker.end("it has sent what is no message")
        finally:
            connection.end()

    async def GetArchive(
        self, request: work_pb2.GetArchiveRequest, context: Context
    ) -> AsyncIterator[work_pb2.GetArchiveResponse]:
        holder, pool = holder_of(context, self._tokens), self._pool
        number = holder.local_worker
        key = pool.local(number).key if pool is not None and number else holder.owner
        if pool is None or not pool.needed_by(key, request.sha256):
            raise Refused("UNKNOWN_VERSION", "no deal-set of this worker needs the archive")
        file = await asyncio.to_thread(self._blobs.open, request.sha256)
        with file:
            async for piece in pieces(file):
                yield work_pb2.GetArchiveResponse(piece=piece)

    async def ReportPlacement(
        self, request: work_pb2.ReportPlacementRequest, context: Context
    ) -> work_pb2.ReportPlacementResponse:
        holder = holder_of(context, self._tokens)
        if (pool := self._pool) is None:
            raise Refused(DRAINING)
        pool.placements.report(holder.owner, request)
        waiting = await asyncio.to_thread(self._waiting)
        return work_pb2.ReportPlacementResponse(
            deal_sets_waiting=waiting.get(request.speed_class, 0)
            + pool.waiting_again[request.speed_class],
            deal_sets_in_play=pool.in_play(request.speed_class),
            worker_seconds=pool.worker_s(request.speed_class),
        )
