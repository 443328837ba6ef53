"""The sockets of sandboxed bots: files in the data folder that serve the play service only.

A sandboxed bot has no network and reaches the arena by a socket file of its own. If it served all services, a bot could
order matches, and make any call where guests are accepted. The file belongs to the relay (`arena.sandbox.play_relay`), a process
that counts what the bot sends, closes its connections if they flood, and passes the rest on to the arena's server.
"""

import asyncio
import contextlib
import json
import logging
import os
import secrets
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import grpc

from arena.live.listen import UNIX, CannotServe, owner_only_files
from arena.sandbox.sandbox import start_helper

if TYPE_CHECKING:
    import subprocess

FOLDER: Final = "run"
AGAIN_S: Final = 1.0
"""The time in seconds until a relay that has ended is started again."""

_WAITING: Final = 16
"""The number of connections of one bot that the kernel queues until the relay accepts them."""
_REPORT_BYTES: Final = 4_096

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FloodReport:
    """The action of the relay against the flood of a bot."""

    why: str
    """The reason, as a sentence."""
    flood_s: float | None
    """Seconds for which it has sent too much; None if its connections were not closed."""


OnReport = Callable[[FloodReport], None]


class BotSocket:
    """The socket file of one launched bot. Its connections are relayed until it is closed."""

    def __init__(
        self,
        sockets: "PlaySockets",
        number: int,
        listener: socket.socket,
        to: str,
        report: OnReport,
    ) -> None:
        self.path: Final = sockets.folder / f"{secrets.token_hex(8)}.sock"
        """Its absolute path. No other bot can guess it."""
        self.address: Final = f"{UNIX}{sockets.short_path(self.path.name)}"
        """Its address for this process."""
        self.number: Final = number
        self.listener: Final = listener
        """Kept for a relay that is started again."""
        self.to: Final = to
        self.report: Final = report
        self._sockets = sockets

    def close(self) -> None:
        self._sockets.remove(self)


class PlaySockets:
    """Makes a socket file for each launched bot. Used on the thread of the host loop."""

    def __init__(self, data: Path) -> None:
        """`data` is the data folder; nothing listens before `listen`."""
        self.folder: Final = data.absolute() / FOLDER
        self._folder_fd = -1
        self._server_name = f"{secrets.token_hex(16)}.sock"
        self._bots: dict[int, BotSocket] = {}
        self._count = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._relay: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._again: asyncio.TimerHandle | None = None
        self._unsent: deque[BotSocket] = deque()
        """Bots whose sockets the relay is to open or close; it takes few requests at once."""

    def listen(self, server: grpc.aio.Server) -> None:
        """Let a server that is not started yet listen for the relay, and start the relay.

        Files that a killed arena left are removed. Raises `CannotServe` if that is not possible.
        """
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self.folder.chmod(0o700)
            for path in self.folder.glob("*.sock"):
                path.unlink()
            self._folder_fd = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            with owner_only_files():
                bound = server.add_insecure_port(f"{UNIX}{self.short_path(self._server_name)}")
            if bound == 0:
                raise CannotServe(f"cannot listen in {self.folder}")
            self._loop = asyncio.get_running_loop()
            self._start()
        except (OSError, RuntimeError) as error:
            raise CannotServe(f"cannot listen in {self.folder}: {error}") from error

    def open(self, report: OnReport, to: Path | None = None) -> BotSocket:
        """Make a socket file whose connections are relayed.

        Args:
          report: Called when the relay has closed its connections, or delays them.
          to: The socket file that they are relayed to; None is the play service for sandboxed bots.

        Raises `OSError` if it cannot be made.
        """
        self._count += 1
        listener = socket.socket(socket.AF_UNIX)
        where = self.short_path(self._server_name) if to is None else str(to)
        bot = BotSocket(self, self._count, listener, where, report)
        try:
            with owner_only_files():
                listener.bind(self.short_path(bot.path.name))
            listener.listen(_WAITING)
        except BaseException:
            listener.close()
            raise
        self._bots[bot.number] = bot
        self._tell(bot)
        return bot

    def remove(self, bot: BotSocket) -> None:
        if self._bots.pop(bot.number, None) is None:
            return
        bot.listener.close()
        with contextlib.suppress(OSError):
            bot.path.unlink(missing_ok=True)
        self._tell(bot)

    def close(self) -> None:
        """Remove all files, and end the relay."""
        for bot in tuple(self._bots.values()):
            self.remove(bot)
        if self._again is not None:
            self._again.cancel()
        self._end_relay()
        with contextlib.suppress(OSError):
            (self.folder / self._server_name).unlink(missing_ok=True)
        if self._folder_fd >= 0:
            os.close(self._folder_fd)
            self._folder_fd = -1

    # The relay.

    def _start(self) -> None:
        assert self._loop is not None
        self._again = None
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._requests.settimeout(0)
        with theirs:
            self._relay = start_helper("arena.sandbox.play_relay.relay", theirs, self._folder_fd)
        self._loop.add_reader(self._requests, self._read)
        self._unsent.clear()
        for bot in self._bots.values():
            self._tell(bot)

    def _end_relay(self) -> None:
        if self._requests is None or self._relay is None:
            return
        assert self._loop is not None
        self._loop.remove_reader(self._requests)
        self._loop.remove_writer(self._requests)
        self._requests.close()
        self._requests = None
        self._relay.wait()

    def _read(self) -> None:
        assert self._loop is not None
        assert self._requests is not None
        try:
            data = self._requests.recv(_REPORT_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._end_relay()
            assert self._relay is not None
            fields = {"code": self._relay.returncode}
            _log.error("the relay of sandboxed bots has ended; it is started again", extra=fields)
            self._again = self._loop.call_later(AGAIN_S, self._start)
            return
        report = json.loads(data)
        if (bot := self._bots.get(report["bot"])) is not None:
            bot.report(FloodReport(report["why"], report.get("flood_s")))

    def _tell(self, bot: BotSocket) -> None:
        """Let the relay open or close the socket of a bot. A relay that is started again gets all sockets."""
        self._unsent.append(bot)
        if len(self._unsent) == 1:
            self._send()

    def _send(self) -> None:
        if self._requests is None:
            return
        assert self._loop is not None
        while self._unsent:
            bot = self._unsent[0]
            try:
                if bot.number in self._bots:
                    request = json.dumps({"add": bot.number, "to": bot.to}).encode()
                    socket.send_fds(self._requests, [request], [bot.listener.fileno()])
                else:
                    self._requests.send(json.dumps({"remove": bot.number}).encode())
            except BlockingIOError:
                self._loop.add_writer(self._requests, self._send)
                return
            except OSError:
                return  # the relay has ended, which the reader notices
            self._unsent.popleft()
        self._loop.remove_writer(self._requests)

    def short_path(self, name: str) -> str:
        """Return a path of a file in the folder that is short enough for a socket, here and in the relay."""
        return f"/proc/self/fd/{self._folder_fd}/{name}"
