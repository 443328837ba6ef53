"""The wall around launched bots: the arena's end of the jailer, and how high the wall is here.

A wall is raised before gRPC is: the jailer is a program of its own, which starts without the
arena's environment and files, and finds by trial what this machine allows.
"""

import array
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import trio

import arena
from arena.jail.command import BadCommand, BotCommand
from arena.jail.hidden import hidden
from arena.jail.visible import Visible, runtime_of, visible_to
from arena.jailer.cell import SCRATCH, SOCKET, TRIAL_S, Cell, Level, Limits, cell_as_json

_ROOT: Final = str(Path(arena.__file__).parents[1])
_JAILER: Final = (
    "import sys; sys.path.insert(0, {!r}); from arena.jailer.__main__ import main; main({})"
)
_ANSWER_S: Final = 3 * TRIAL_S
_WITHOUT: Final = "the jailer has ended"


class Demand(StrEnum):
    """Whether bots have to be jailed."""

    AUTO = "auto"
    """As well as this machine allows."""
    REQUIRE = "require"
    """At S2 or better, or not at all."""
    OFF = "off"
    """Not at all."""


UPLOADS_AT: Final = frozenset({Level.S2, Level.S3})
"""Levels that hold what strangers wrote; `REQUIRE` is content with no other."""


class NoWall(Exception):
    """Bots have to be jailed, and cannot be. The text says why and what mends it."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A level that is not to be had."""

    level: Level
    why: str
    """With what mends it, where that is known."""


class JailedProcess:
    """A bot that the jailer has started."""

    def __init__(self, wall: "Wall", number: int, output: int, told: int, visible: Visible) -> None:
        self.returncode: int | None = None
        self.output: trio.abc.ReceiveStream = trio.lowlevel.FdStream(output)
        self.visible: Visible | None = visible
        self._wall = wall
        self._number = number
        self._told = trio.lowlevel.FdStream(told)
        self._text = b""

    async def started(self) -> None:
        """Wait until it runs.

        Raises:
          BadCommand: if it does not. The text is the reason alone.
        """
        told = await self._next()
        if "started" not in told:
            await self.output.aclose()
            await self._told.aclose()
            raise BadCommand(str(told.get("error", _WITHOUT)))

    async def wait(self) -> None:
        """Wait until it has ended."""
        if self.returncode is None:
            told = await self._next()
            self.returncode = int(told.get("ended", -signal.SIGKILL))
            await self._told.aclose()

    async def send_signal(self, number: int) -> None:
        """Signal to it; SIGKILL ends all that it has started, too."""
        if self.returncode is None:
            with contextlib.suppress(OSError):
                request = {"do": "signal", "id": self._number, "signal": int(number)}
                await self._wall.ask(request)

    async def _next(self) -> dict[str, Any]:
        """The next line that the jailer tells; empty if there is none."""
        while b"\n" not in self._text:
            chunk = await self._told.receive_some()
            if not chunk:
                return {}
            self._text += chunk
        line, _, self._text = self._text.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found


class Wall:
    """Starts bots behind the best wall there is. Close it when no bot is needed any more."""

    def __init__(
        self,
        *,
        data: Path,
        read_only: Sequence[Path] = (),
        most: Level = Level.S3,
        limits: Limits | None = None,
    ) -> None:
        """Start the jailer and its trial. No thread may run yet, and no gRPC.

        Args:
          data: The arena's folder, which no bot may see.
          read_only: What all bots may read beside what is theirs.
          most: The highest level to try.
          limits: What each bot may use.
        """
        self._data = data.absolute()
        self._read_only = tuple(each.absolute() for each in read_only)
        self._limits = limits or Limits()
        self._count = 0
        self._verdict: tuple[Level, tuple[Missing, ...]] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        if sys.platform != "linux":
            why = Missing(Level.S2, f"walls are made of Linux, and this is {sys.platform}")
            self._verdict = (Level.S0, (why,))
            return
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _JAILER.format(_ROOT, theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,  # what Ctrl-C ends are the arena and, by it, the bots
            )
        self._socket.settimeout(0)
        cell = Cell((sys.executable,), {}, tuple(map(str, runtime_of(sys.executable))))
        reads, writes = os.pipe2(os.O_CLOEXEC)
        try:
            self._send({"do": "try", "cell": cell_as_json(cell), "most": most}, (writes,))
        finally:
            os.close(writes)
        self._trial = reads

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def level(self) -> Level:
        """How high the wall is. Waits for the trial, when asked first."""
        return self._found()[0]

    @property
    def pid(self) -> int | None:
        """The process of the jailer; None if there is none."""
        return None if self._process is None else self._process.pid

    @property
    def missing(self) -> tuple[Missing, ...]:
        """The better levels, and why they are not to be had."""
        return self._found()[1]

    @property
    def why_not_better(self) -> str:
        """Why the wall is not S2, or as high as that: one line. Empty if it is."""
        if self.level in UPLOADS_AT:
            return ""
        return self.why_not(Level.S2)

    def why_not(self, level: Level) -> str:
        """Why a better level than the wall's is not to be had: one line. Empty if nobody knows."""
        return next((each.why for each in self.missing if each.level is level), "")

    def address(self, socket_path: Path) -> str:
        """How a bot behind the wall dials a socket of the arena, given by its absolute path."""
        return f"unix:{socket_path if self.level is Level.S1 else SOCKET}"

    def visible_to(self, command: BotCommand) -> Visible:
        """What a bot may read, beside the system's programs."""
        return visible_to(command, self._data, self._read_only)

    def limits_of(self, command: BotCommand) -> Limits:
        """What a bot may use: what it asked for, and no more than any bot."""
        asked = command.limits
        if asked is not None and command.writes is not None:
            return asked  # no bot, but a program of the arena's
        return self._limits if asked is None else asked.within(self._limits)

    def what_it_hid(self, text: str, visible: Visible, command: BotCommand) -> str:
        """What a bot that failed missed because of the wall: lines to follow what it printed."""
        memory_bytes = self.limits_of(command).memory_bytes
        found = hidden(text, visible, self._data, memory_bytes=memory_bytes)
        return "".join(f"\n{each}" for each in found)

    async def start(
        self,
        command: BotCommand,
        folder: Path,
        environment: dict[str, str],
        socket_path: Path | None,
    ) -> JailedProcess:
        """Start a bot; `folder` is there, and paths are absolute.

        Raises:
          BadCommand: if it does not start. The text is the reason alone.
        """
        own = str(folder) if self.level is Level.S1 else SCRATCH
        visible = self.visible_to(command)
        cell = Cell(
            command.argv,
            environment | {"HOME": own, "TMPDIR": own, "USER": "bot", "LOGNAME": "bot"},
            tuple(map(str, visible.paths)),
            "" if socket_path is None else str(socket_path),
            str(folder),
            self.limits_of(command),
            "" if command.writes is None else str(command.writes),
        )
        self._count += 1
        number = self._count
        told, tells = os.pipe2(os.O_CLOEXEC)
        output, prints = os.pipe2(os.O_CLOEXEC)
        process = JailedProcess(self, number, output, told, visible)
        request = {"do": "start", "id": number, "cell": cell_as_json(cell)}
        try:
            await self.ask(request, (tells, prints))
        except OSError as error:
            raise BadCommand(_WITHOUT) from error
        finally:
            os.close(tells)
            os.close(prints)
        await process.started()
        return process

    async def ask(self, request: dict[str, Any], given: Sequence[int] = ()) -> None:
        """Send the jailer a request, with open files.

        Raises:
          OSError: if there is no jailer any more.
        """
        while True:
            try:
                self._send(request, given)
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self._socket)
            else:
                return

    def close(self) -> None:
        """End the jailer, and all bots with it."""
        if self._process is None:
            return
        self._socket.close()
        if self._verdict is None:
            os.close(self._trial)
        self._process.wait()
        self._process = None

    def _send(self, request: dict[str, Any], given: Sequence[int]) -> None:
        rights = array.array("i", given)
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if given else []
        self._socket.sendmsg([json.dumps(request).encode()], ancillary)

    def _found(self) -> tuple[Level, tuple[Missing, ...]]:
        if self._verdict is None:
            ready, _, _ = select.select([self._trial], [], [], _ANSWER_S)
            text = os.read(self._trial, 65_536) if ready else b""
            os.close(self._trial)
            if text:
                told = json.loads(text)
                missing = tuple(Missing(Level(level), why) for level, why in told["missing"])
                self._verdict = (Level(told["level"]), missing)
            else:
                self._verdict = (Level.S0, (Missing(Level.S2, f"{_WITHOUT} before it had tried"),))
        return self._verdict


def raise_wall(
    demand: Demand, *, data: Path, read_only: Sequence[Path] = (), most: Level = Level.S3
) -> Wall | None:
    """The wall that is demanded; None if none is, or none can be had and none need be.

    Raises:
      NoWall: if one has to be, and there is none of S2 or better.
    """
    if demand is Demand.OFF:
        return None
    wall = Wall(data=data, read_only=read_only, most=most)
    if demand is Demand.REQUIRE and wall.why_not_better:
        why = wall.why_not_better
        wall.close()
        raise NoWall(f"bots cannot be jailed as --jail require asks: {why}")
    return wall
