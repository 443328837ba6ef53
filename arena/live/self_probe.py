"""The self-probe: messages that the arena sends itself on the path of answers, to measure its delay.

Probes use a separate connection to the server that reads the bots' connections, and the loop that stamps answers stamps
them. So everything that delays answers also delays probes: a flood on another connection, a busy processor, a busy
loop.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import stat
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final

import grpc

from arena.live.listen import UNIX, CannotServe
from arena.live.play_socket import FloodReport, PlaySockets
from arena.referee.clock import LagMeter

PERIOD_S: Final = 0.1
"""The time in seconds from the return of one probe to the next."""
PATIENCE_S: Final = 10.0
"""The time in seconds after which a probe is lost, and its connection is replaced. That time counts as a pause."""
TRIES: Final = 3
"""The number of failed connections in a row after which probing pauses."""
REST_S: Final = 60.0
"""The length of that pause in seconds."""
PREFIX: Final = "cardarena-probe-"
"""Prefix of the socket's folder, in the system's folder for temporary files."""
OLD_S: Final = 60.0
"""Age in seconds after which a socket without a listener is removed, because its arena was killed."""

_log = logging.getLogger(__name__)


class SelfProbe:
    """Sends probes while matches are in play, and reports to the lag meter when they return.

    It listens on a socket file that only this user may open, and answers a call with a random name.
    """

    def __init__(self, meter: LagMeter, now_s: Callable[[], float]) -> None:
        """`now_s` is the clock that stamps asks and answers."""
        self._meter = meter
        self._now_s = now_s
        self.call: Final = f"/{secrets.token_hex(16)}/Probe"
        """The name of the call, which cannot be guessed."""
        _remove_old_sockets()
        self._folder = tempfile.TemporaryDirectory(prefix=PREFIX, dir=_short_folder())
        self._address = f"{UNIX}{self._folder.name}/{_SOCKET}"
        self._dials = self._address
        self._measuring = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._returned = 0
        meter.call_on_start(self._measuring.set)

    def listen(self, server: grpc.aio.Server) -> None:
        """Let a server that is not started yet answer the probes.

        Raises `CannotServe` if the socket cannot be made.
        """
        service, _, name = self.call.lstrip("/").partition("/")
        method: Any = grpc.stream_stream_rpc_method_handler(_echo)
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(service, {name: method}),)
        )
        try:
            server.add_insecure_port(self._address)
        except RuntimeError:
            where = self._folder.name
            self._folder.cleanup()
            raise CannotServe(f"cannot listen in {where}; name another folder in TMPDIR") from None

    def relay(self, sockets: PlaySockets) -> None:
        """Send probes by the relay of sandboxed bots too, as their answers come by it."""
        self._dials = sockets.open(_log_report, Path(self._folder.name) / _SOCKET).address

    def start(self) -> None:
        """Send probes from now on, whenever the meter measures."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        try:
            if self._task is not None:
                self._task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await self._task
        finally:
            self._meter.probes_end(self._now_s())
            self._folder.cleanup()

    async def _run(self) -> None:
        failed = 0
        while True:
            returned = self._returned
            with contextlib.suppress(*_FAILURES):
                async with grpc.aio.insecure_channel(self._dials, _OPTIONS) as channel:
                    await self._probe(channel)
            self._meter.probes_end(self._now_s())
            failed = failed + 1 if self._returned == returned else 0
            if failed == TRIES:
                text = "the transport cannot be probed: delays by floods are not refunded for 60 s"
                _log.error(text)
                await asyncio.sleep(REST_S)
                failed = 0

    async def _probe(self, channel: grpc.aio.Channel) -> None:
        """Send probes over one connection until it fails."""
        call: Any = channel.stream_stream(self.call)()
        meter, now_s = self._meter, self._now_s
        try:
            while True:
                while not meter.is_measuring:
                    self._measuring.clear()
                    await self._measuring.wait()
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
"""Failures of a call: it has ended or takes too long."""
_SOCKET: Final = "probe"
_NAME_BYTES: Final = len(f"/{PREFIX}12345678/{_SOCKET}")
_MAX_PATH_BYTES: Final = 107
"""The longest path of a socket in bytes that the kernel allows."""
_SHORT: Final = "/tmp"  # noqa: S108 - a folder that only this user may open is made in it
_OPTIONS: Final = (("grpc.use_local_subchannel_pool", 1),)


def _short_folder() -> str:
    """Return the system's folder for temporary files, or the first other one in which the path of a socket is not too long."""
    places = (tempfile.gettempdir(), os.environ.get("XDG_RUNTIME_DIR"))
    return next((path for path in places if path and _fits(path)), _SHORT)


def _fits(path: str) -> bool:
    return len(os.fsencode(path)) + _NAME_BYTES <= _MAX_PATH_BYTES


def _remove_old_sockets() -> None:
    for place in Path(_short_folder()).glob(f"{PREFIX}*/{_SOCKET}"):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as caller:
            # Another user could have made a link there to a folder of a third user.
            folder, probe = place.parent.lstat(), place.lstat()
            if not stat.S_ISDIR(folder.st_mode) or folder.st_uid != os.geteuid():
                continue
            if not stat.S_ISSOCK(probe.st_mode) or time.time() - probe.st_mtime < OLD_S:
                continue
            caller.settimeout(0.0)  # the queue of a running arena may be full
            try:
                caller.connect(str(place))
            except ConnectionRefusedError:
                place.unlink()
                place.parent.rmdir()


def _log_report(report: FloodReport) -> None:
    _log.error("the relay has closed the connection of probes", extra={"why": report.why})


async def _echo(_: object, context: Any) -> AsyncIterator[bytes]:
    while (data := await context.read()) is not grpc.aio.EOF:
        yield data
