"""A word that the arena sends itself on the way that answers take, to see how long that takes.

It goes over a connection of its own, through the same gRPC that reads those of the bots,
and is stamped by the loop that stamps answers. So whatever keeps answers waiting, keeps
it waiting too: a flood on another connection, the processor, the loop.
"""

import asyncio
import contextlib
import logging
import secrets
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final

import grpc

from arena.referee.lag import LagMeter
from arena.server.listen import UNIX

PERIOD_S: Final = 0.1
"""From the return of one probe to the next."""
PATIENCE_S: Final = 10.0
"""A probe that has not come back by then is given up, and its connection made anew."""
TRIES: Final = 3
"""Connections that fail in a row before nothing is probed any more."""
PREFIX: Final = "cardarena-probe-"
"""Of the folder that has the socket, in the one for temporary files."""
OLD_S: Final = 60.0
"""A socket this old on which nobody listens is not of an arena that is about to listen."""

_log = logging.getLogger(__name__)


class TransportProbe:
    """Sends probes while matches are in play, and tells the lag meter when they return.

    It listens on a socket file that only this user may open, under a name that nobody
    else knows.
    """

    def __init__(self, meter: LagMeter, now_s: Callable[[], float]) -> None:
        """`now_s` is the clock that stamps asks and answers."""
        self._meter = meter
        self._now_s = now_s
        self.call: Final = f"/{secrets.token_hex(16)}/Probe"
        """What is called, which nobody else can know."""
        _remove_what_killed_arenas_left()
        self._folder = tempfile.TemporaryDirectory(prefix=PREFIX)
        self._address = f"{UNIX}{self._folder.name}/{_SOCKET}"
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._returned = 0
        meter.on_start = self._wanted.set

    def listen(self, server: grpc.aio.Server) -> None:
        """Have a server that is not started yet answer the probes.

        Raises:
          RuntimeError: if there can be no such socket here.
        """
        service, _, name = self.call.lstrip("/").partition("/")
        method: Any = grpc.stream_stream_rpc_method_handler(_echo)
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(service, {name: method}),)
        )
        server.add_insecure_port(self._address)

    def start(self) -> None:
        """Send probes from now on, whenever the meter measures."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Send no more."""
        try:
            if self._task is not None:
                self._task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await self._task
        finally:
            self._meter.probes_end()
            self._folder.cleanup()

    async def _run(self) -> None:
        failed = 0
        while failed < TRIES:
            returned = self._returned
            with contextlib.suppress(*_FAILURES):
                async with grpc.aio.insecure_channel(self._address, _OPTIONS) as channel:
                    await self._probe(channel)
            self._meter.probes_end()
            failed = failed + 1 if self._returned == returned else 0
        _log.error("the transport cannot be probed: floods may cost bots their time")

    async def _probe(self, channel: grpc.aio.Channel) -> None:
        """Send probes over one connection until it fails."""
        call: Any = channel.stream_stream(self.call)()
        meter, now_s = self._meter, self._now_s
        try:
            while True:
                while not meter.is_measuring:
                    self._wanted.clear()
                    await self._wanted.wait()
                meter.probe_left(now_s())
                async with asyncio.timeout(PATIENCE_S):
                    await call.write(b"")
                    if await call.read() is grpc.aio.EOF:
                        return
                meter.probe_returned(now_s())
                self._returned += 1
                await asyncio.sleep(PERIOD_S)
        finally:
            call.cancel()


_FAILURES: Final = (grpc.aio.AioRpcError, asyncio.InvalidStateError, TimeoutError)
"""Of a call: it has ended, also between two words, or takes too long."""
_SOCKET: Final = "probe"
_OPTIONS: Final = (("grpc.use_local_subchannel_pool", 1),)


def _remove_what_killed_arenas_left() -> None:
    """Remove the sockets of arenas that had no time to do so themselves."""
    for place in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{_SOCKET}"):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as caller:
            if time.time() - place.stat().st_mtime < OLD_S:
                continue
            try:
                caller.connect(str(place))
            except ConnectionRefusedError:
                place.unlink()
                place.parent.rmdir()


async def _echo(_: object, context: Any) -> AsyncIterator[bytes]:
    while (data := await context.read()) is not grpc.aio.EOF:
        yield data


__all__ = ["TransportProbe"]
