"""Workers on other machines, which join by a call that lasts as long as they play."""

import asyncio
import itertools
import logging
import math
from collections.abc import AsyncIterator
from typing import Final

import grpc
import trio

from arena.sandbox import UPLOADS_AT, Level
from arena.server.admission.access import holder_of
from arena.server.admission.calls import ends_with_its_call
from arena.server.admission.limits import Context
from arena.server.admission.tokens import Tokens
from arena.server.data_folder import arena_version
from arena.server.metrics import Traffic, TrafficAccount
from arena.server.refusals import DRAINING, Refused
from arena.server.services.bots import pieces
from arena.server.workers.local import MOST_LOCAL
from arena.server.workers.messages import PIECE_BYTES
from arena.server.workers.pool import WorkerPool
from arena.store import Blobs
from cardarena.v1 import work_pb2, work_pb2_grpc

MOST_REPORT_BYTES: Final = 20_000_000
"""Longest message of a worker on another machine."""

_log = logging.getLogger(__name__)


class _Incoming(trio.abc.ReceiveStream):
    """What the worker sends."""

    def __init__(self) -> None:
        self.pieces, self._received = trio.open_memory_channel[bytes](math.inf)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        try:
            return await self._received.receive()
        except trio.EndOfChannel:
            return b""

    async def aclose(self) -> None:
        self.pieces.close()
        await trio.lowlevel.checkpoint()


class _Outgoing(trio.abc.SendStream):
    """What the arena sends."""

    def __init__(self) -> None:
        self.pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        """None is the end."""

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        for at in range(0, len(data), PIECE_BYTES):
            self.pieces.put_nowait(bytes(data[at : at + PIECE_BYTES]))
        await trio.lowlevel.checkpoint()

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        self.pieces.put_nowait(None)
        await trio.lowlevel.checkpoint()


class _Connection:
    """The call of a worker: a `RunningWorker`. Its ends are used on both loops."""

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self.outgoing, self.incoming = _Outgoing(), _Incoming()
        self.stdin: trio.abc.SendStream | None = self.outgoing
        self.stdout: trio.abc.ReceiveStream | None = self.incoming
        self.refused: Refused | None = None
        """Why the arena ends it; None if it does not."""

    def kill(self) -> None:
        """End the call."""
        self.outgoing.pieces.put_nowait(None)

    def why_unfit(self, ready: work_pb2.WorkerReady) -> str:
        """Why the worker cannot play here, of which it is told; empty if it can."""
        why = _why_unfit(ready)
        if why:
            self.refused = Refused("UNFIT_WORKER", why)
        return why


def _why_unfit(ready: work_pb2.WorkerReady) -> str:
    if ready.engine != arena_version():
        return f"it runs version {ready.engine}, and the arena {arena_version()}"
    if ready.sandbox not in UPLOADS_AT:
        least = min(level.value for level in UPLOADS_AT)
        return f"its sandbox is {ready.sandbox or Level.S0}, and uploaded bots need {least}"
    return ""


class JoinedWorkers(work_pb2_grpc.WorkServiceServicer):
    """Serves `cardarena.v1.WorkService` on the host's loop, and adds those that join to a pool in trio."""

    def __init__(self, tokens: Tokens, traffic: Traffic, blobs: Blobs) -> None:
        """Refuse workers until `run`; `blobs` has the archives of uploaded versions."""
        self._tokens, self._traffic, self._blobs = tokens, traffic, blobs
        self._pool: WorkerPool | None = None
        self._joining, self._joined = trio.open_memory_channel[_Connection](math.inf)
        self._numbers = itertools.count(MOST_LOCAL + 1)

    async def run(self, pool: WorkerPool) -> None:
        """Let workers join this pool, until cancelled."""
        self._pool = pool
        try:
            async with trio.open_nursery() as nursery:
                if pool.spot_checker is not None:
                    nursery.start_soon(pool.spot_checker.run, pool.find)
                async for each in self._joined:
                    nursery.start_soon(self._converse, pool, each)
        finally:
            self._pool = None

    async def _converse(self, pool: WorkerPool, connection: _Connection) -> None:
        fields = {"worker": connection.name}
        _log.info("a worker joins", extra=fields)
        worker = pool.add(next(self._numbers), connection.name, MOST_REPORT_BYTES)
        try:
            await worker.converse(connection, connection.why_unfit)
        except Exception:
            _log.exception("the call of a worker failed", extra=fields)
        finally:
            pool.remove(worker)
            connection.kill()
            _log.info("a worker has left", extra=fields)

    # The calls.

    async def Work(self, _: object, context: Context) -> AsyncIterator[work_pb2.WorkResponse]:
        if self._pool is None:
            raise Refused(DRAINING)
        connection = _Connection(holder_of(context, self._tokens).owner)
        account = self._traffic.account(context.peer())
        reading = asyncio.ensure_future(self._read(context, connection, account))
        ends_with_its_call(reading)
        self._joining.send_nowait(connection)
        try:
            while (piece := await connection.outgoing.pieces.get()) is not None:
                yield work_pb2.WorkResponse(piece=piece)
        finally:
            connection.incoming.pieces.close()
        if connection.refused is not None:
            raise connection.refused

    async def _read(
        self, context: Context, connection: _Connection, account: TrafficAccount
    ) -> None:
        """Pass on what the worker sends, until the call ends."""
        try:
            while (request := await context.read()) is not grpc.aio.EOF:
                holder_of(context, self._tokens)  # its key may have been revoked
                account.received(request.ByteSize())
                if request.piece:
                    connection.incoming.pieces.send_nowait(request.piece)
        except Refused as refused:
            connection.refused = refused
        except trio.ClosedResourceError:
            pass  # the arena has ended it
        finally:
            connection.incoming.pieces.close()
            connection.kill()

    async def GetArchive(
        self, request: work_pb2.GetArchiveRequest, context: Context
    ) -> AsyncIterator[work_pb2.GetArchiveResponse]:
        name = holder_of(context, self._tokens).owner
        if self._pool is None or not self._pool.needed_by(name, request.sha256):
            raise Refused("UNKNOWN_VERSION", "no deal-set of this worker needs the archive")
        file = await asyncio.to_thread(self._blobs.open, request.sha256)
        with file:
            async for piece in pieces(file):
                yield work_pb2.GetArchiveResponse(piece=piece)
