"""The sandbox of launched bots: starts the spawner, asks it for the level, and has it start bots.

The spawner is a separate program without the arena's environment and open files. It must be started
before gRPC creates threads.
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
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

import trio

import arena
from arena.sandbox.command import BadCommand, BotCommand
from arena.sandbox.hidden_files import hidden
from arena.sandbox.visible_files import VisibleFiles, runtime_of, visible_to
from arena.spawner.control_group import ControlGroup
from arena.spawner.order import (
    SCRATCH,
    SOCKET,
    TRIAL_S,
    Level,
    ResourceLimits,
    SpawnOrder,
)

_ROOT: Final = str(Path(arena.__file__).parents[1])
_SPAWNER: Final = (
    "import sys; sys.path.insert(0, {!r}); from arena.spawner.__main__ import main; main({})"
)
_ANSWER_S: Final = 3 * TRIAL_S
NO_SPAWNER: Final = "the spawner has ended"
"""Why no bot can be started, or why bots ended."""


class SandboxDemand(StrEnum):
    """Whether bots must be sandboxed."""

    AUTO = "auto"
    """Use the best level of this machine."""
    REQUIRE = "require"
    """Refuse to launch bots below S2."""
    OFF = "off"
    """Use no sandbox."""


UPLOADS_AT: Final = frozenset({Level.S2, Level.S3})
"""The levels at which submitted bots may run; `REQUIRE` accepts only these."""


class NoSandbox(Exception):
    """A sandbox is required and not available. The text says why, and the cure."""


@dataclass(frozen=True, slots=True)
class MissingLevel:
    """A level that is not available on this machine."""

    level: Level
    why: str
    """The reason, with the cure if known."""


class SandboxedProcess:
    """A bot that the spawner starts."""

    def __init__(
        self, sandbox: "Sandbox", number: int, output: int, reports: int, visible: VisibleFiles
    ) -> None:
        self.returncode: int | None = None
        self.output: trio.abc.ReceiveStream = trio.lowlevel.FdStream(output)
        self.visible: VisibleFiles | None = visible
        self.ended_with_spawner = False
        self._sandbox = sandbox
        self._number = number
        self._reports = trio.lowlevel.FdStream(reports)
        self._text = b""
        self._group: ControlGroup | None = None
        self._is_signalled = False

    @property
    def can_freeze(self) -> bool:
        """Whether it can be frozen: whether it has a control group."""
        return self._group is not None

    def freeze(self, *, frozen: bool) -> None:
        """Stop all its processes, or let them run again. A process that was sent a signal is not stopped."""
        if self._group is not None and not (frozen and self._is_signalled):
            self._group.freeze(frozen=frozen)

    async def started(self) -> None:
        """Wait until it runs.

        Raises:
          BadCommand: if it cannot be started. The text is the reason without the command.
        """
        report = await self._next()
        if "started" not in report:
            await self.output.aclose()
            await self._reports.aclose()
            raise BadCommand(str(report.get("error", NO_SPAWNER)))
        if report["group"]:
            self._group = ControlGroup(report["group"])

    async def wait(self) -> None:
        """Wait until it has ended."""
        if self.returncode is None:
            report = await self._next()
            # The pipe of reports closes a moment before `Sandbox.has_ended` can see it.
            self.ended_with_spawner = not report
            self.returncode = int(report.get("ended", -signal.SIGKILL))
            await self._reports.aclose()

    async def send_signal(self, number: int) -> None:
        """Send it a signal; SIGKILL also kills all processes that it started."""
        if self.returncode is None:
            self._is_signalled = True
            self.freeze(frozen=False)
            with contextlib.suppress(OSError):
                request = {"do": "signal", "id": self._number, "signal": int(number)}
                await self._sandbox.ask(request)

    async def _next(self) -> dict[str, Any]:
        """The next report of the spawner; empty if it has ended."""
        while b"\n" not in self._text:
            chunk = await self._reports.receive_some()
            if not chunk:
                return {}
            self._text += chunk
        line, _, self._text = self._text.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found


class Sandbox:
    """Starts bots at the best sandbox level of this machine. Closing it ends them."""

    def __init__(
        self,
        *,
        data: Path,
        read_only: Sequence[Path] = (),
        most: Level = Level.S3,
        limits: ResourceLimits | None = None,
    ) -> None:
        """Start the spawner and its trial. This process must have no threads yet.

        Args:
          data: The arena's data folder, which no bot may read.
          read_only: Further files and folders that all bots may read.
          most: The highest level to try.
          limits: The limits of each bot.
        """
        self._data = data.absolute()
        self._read_only = tuple(each.absolute() for each in read_only)
        self._limits = limits or ResourceLimits()
        self._count = 0
        self._result: tuple[Level, tuple[MissingLevel, ...]] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        if sys.platform != "linux":
            why = MissingLevel(Level.S2, f"the sandbox needs Linux, and this is {sys.platform}")
            self._result = (Level.S0, (why,))
            return
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _SPAWNER.format(_ROOT, theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,  # Ctrl-C ends the arena, which ends the spawner
            )
        self._socket.settimeout(0)
        order = SpawnOrder((sys.executable,), {}, tuple(map(str, runtime_of(sys.executable))))
        reads, writes = os.pipe2(os.O_CLOEXEC)
        try:
            self._send({"do": "try", "order": asdict(order), "most": most}, (writes,))
        finally:
            os.close(writes)
        self._trial = reads

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def level(self) -> Level:
        """The level of the sandbox. The first call waits for the trial."""
        return self._found()[0]

    @property
    def pid(self) -> int | None:
        """The process id of the spawner; None if it does not run."""
        return None if self._process is None else self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether the spawner has ended by itself, and with it the bots that ran."""
        return self._process is not None and self._process.poll() is not None

    @property
    def missing(self) -> tuple[MissingLevel, ...]:
        """The better levels, and why they are not available."""
        return self._found()[1]

    @property
    def why_not_better(self) -> str:
        """Why S2 is not available, in one line; empty at S2 and S3."""
        if self.level in UPLOADS_AT:
            return ""
        return self.why_not(Level.S2)

    def why_not(self, level: Level) -> str:
        """Why a better level is not available, in one line; empty if the reason is not known."""
        return next((each.why for each in self.missing if each.level is level), "")

    def address(self, socket_path: Path) -> str:
        """The address in the sandbox of a socket of the arena, given by its absolute path."""
        return f"unix:{socket_path if self.level is Level.S1 else SOCKET}"

    def visible_to(self, command: BotCommand) -> VisibleFiles:
        """The files that a bot may read, besides the system's programs."""
        return visible_to(command, self._data, self._read_only)

    def limits_of(self, command: BotCommand) -> ResourceLimits:
        """The limits of a bot: its own, and at most those of all bots."""
        own = command.limits
        if own is not None and command.writes is not None:
            return own  # a program of the arena
        return self._limits if own is None else own.within(self._limits)

    def what_it_hid(self, text: str, visible: VisibleFiles, command: BotCommand) -> str:
        """Lines about what the sandbox kept from a failed bot, from its output `text`."""
        memory_bytes = self.limits_of(command).memory_bytes
        found = hidden(text, visible, self._data, memory_bytes=memory_bytes)
        return "".join(f"\n{each}" for each in found)

    async def start(
        self,
        command: BotCommand,
        folder: Path,
        environment: dict[str, str],
        socket_path: Path | None,
    ) -> SandboxedProcess:
        """Start a bot. `folder` exists, and paths are absolute.

        Raises:
          BadCommand: if it cannot be started. The text is the reason without the command.
        """
        own = str(folder) if self.level is Level.S1 else SCRATCH
        visible = self.visible_to(command)
        limits = self.limits_of(command)
        # Java asks the kernel for the memory of the machine, and the sandbox does not tell.
        java = {"JDK_JAVA_OPTIONS": f"-XX:MaxRAM={limits.memory_bytes}"}
        own_names = {"HOME": own, "TMPDIR": own, "USER": "bot", "LOGNAME": "bot"}
        order = SpawnOrder(
            command.argv,
            java | environment | own_names,
            tuple(map(str, visible.paths)),
            "" if socket_path is None else str(socket_path),
            str(folder),
            limits,
            "" if command.writes is None else str(command.writes),
        )
        self._count += 1
        number = self._count
        reports, report = os.pipe2(os.O_CLOEXEC)
        output, prints = os.pipe2(os.O_CLOEXEC)
        process = SandboxedProcess(self, number, output, reports, visible)
        request = {"do": "start", "id": number, "order": asdict(order)}
        try:
            await self.ask(request, (report, prints))
        except OSError as error:
            raise BadCommand(NO_SPAWNER) from error
        finally:
            os.close(report)
            os.close(prints)
        await process.started()
        return process

    async def ask(self, request: dict[str, Any], given: Sequence[int] = ()) -> None:
        """Send the spawner a request, with open files.

        Raises:
          OSError: if the spawner has ended.
        """
        while True:
            try:
                self._send(request, given)
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self._socket)
            else:
                return

    async def ended(self) -> None:
        """Wait until the spawner has ended, after which no bot can be started."""
        if self._process is None:
            await trio.sleep_forever()
        await trio.lowlevel.wait_readable(self._socket)  # it sends nothing by this socket

    def close(self) -> None:
        """End the spawner, which ends all bots."""
        if self._process is None:
            return
        self._socket.close()
        if self._result is None:
            os.close(self._trial)
        self._process.wait()
        self._process = None

    def _send(self, request: dict[str, Any], given: Sequence[int]) -> None:
        rights = array.array("i", given)
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if given else []
        self._socket.sendmsg([json.dumps(request).encode()], ancillary)

    def _found(self) -> tuple[Level, tuple[MissingLevel, ...]]:
        if self._result is None:
            ready, _, _ = select.select([self._trial], [], [], _ANSWER_S)
            text = os.read(self._trial, 65_536) if ready else b""
            os.close(self._trial)
            found: dict[str, Any] = {
                "level": "S0",
                "missing": [["S2", f"{NO_SPAWNER} in its trial"]],
            }
            if text:
                found = json.loads(text)
            missing = tuple(MissingLevel(Level(level), why) for level, why in found["missing"])
            self._result = (Level(found["level"]), missing)
        return self._result


def raise_sandbox(
    demand: SandboxDemand, *, data: Path, read_only: Sequence[Path] = (), most: Level = Level.S3
) -> Sandbox | None:
    """Start the sandbox that the demand asks for; None for `OFF`.

    Raises:
      NoSandbox: if the demand is `REQUIRE` and S2 is not available.
    """
    if demand is SandboxDemand.OFF:
        return None
    sandbox = Sandbox(data=data, read_only=read_only, most=most)
    if demand is SandboxDemand.REQUIRE and sandbox.why_not_better:
        why = sandbox.why_not_better
        sandbox.close()
        raise NoSandbox(f"bots cannot be sandboxed as --sandbox require asks: {why}")
    return sandbox
