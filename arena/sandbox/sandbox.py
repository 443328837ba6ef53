"""The sandbox of launched bots: starts the spawner, requests the level from it, and lets it start bots.

The spawner is a separate program without the arena's environment and open files. It must be started
before gRPC creates threads.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

import trio

import arena
from arena.sandbox.command import BadCommand, BotCommand
from arena.sandbox.hidden_files import hidden
from arena.sandbox.spawner.control_group import ControlGroup
from arena.sandbox.spawner.memory_files import size_of
from arena.sandbox.spawner.order import (
    MB,
    SCRATCH,
    SOCKET,
    TRIAL_S,
    Level,
    ResourceLimits,
    SpawnOrder,
)
from arena.sandbox.visible_files import VisibleFiles, visible_to

_ROOT: Final = str(Path(arena.__file__).parents[1])
_PROGRAM: Final = "import sys; sys.path.insert(0, {!r}); from {} import main; main({})"
_ANSWER_S: Final = 3 * TRIAL_S
NO_SPAWNER: Final = "the spawner has ended"
"""The sentence about a missing spawner: why no bot can be started, or why bots ended."""
NO_MEMORY: Final = "the memory of the machine ran out"
"""The sentence about a bot that the kernel ended within its limit."""


class SandboxDemand(StrEnum):
    """The demand of the operator for a sandbox."""

    AUTO = "auto"
    """Use the best level of this machine."""
    REQUIRE = "require"
    """Refuse to launch bots below S2."""
    OFF = "off"


UPLOADS_AT: Final = frozenset({Level.S2, Level.S3})
"""The levels at which submitted bots may run; `REQUIRE` accepts only these."""


class NoSandbox(Exception):
    """A sandbox is required and not available. The text says why, and the cure."""


MAX_COMMAND_BYTES: Final = 768 * MB
"""The maximal size in memory of the visible files of a bot that is started by a command."""
_NOT_ASKED: Final = "the arena keeps no files of bots in memory"


@dataclass(frozen=True, slots=True)
class MissingLevel:
    """A level that is not available on this machine."""

    level: Level
    why: str
    """The reason, with the cure if known."""


@dataclass(frozen=True, slots=True)
class SandboxTrial:
    """The result of the spawner's trial."""

    level: Level
    missing: tuple[MissingLevel, ...]
    why_disk: str
    """Why bots cannot read copies in memory; empty if they can."""


def start_helper(module: str, requests: socket.socket, *files: int) -> subprocess.Popen[bytes]:
    """Start a program of the arena, by its module, without the arena's environment and other open files.

    It gets its requests by a socket, and ends when the other end is closed. The open files `files` are passed on to it.
    """
    code = _PROGRAM.format(_ROOT, module, requests.fileno())
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code],
        pass_fds=[requests.fileno(), *files],
        stdin=subprocess.DEVNULL,
        cwd="/",
        env={},
        start_new_session=True,  # Ctrl-C ends the arena, which ends the program
    )


class SandboxedProcess:
    """A bot that the spawner starts."""

    def __init__(
        self, sandbox: "Sandbox", number: int, output: int, reports: int, visible: VisibleFiles
    ) -> None:
        self.returncode: int | None = None
        self.output: trio.abc.ReceiveStream = trio.lowlevel.FdStream(output)
        self.visible: VisibleFiles | None = visible
        self.ended_with_spawner = self.ended_by_shortage = False
        self.over_limit = ""
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

        Raises `BadCommand` if it cannot be started. The text is the reason without the command.
        """
        report = await self._next()
        if "started" not in report:
            await self.output.aclose()
            await self._reports.aclose()
            raise BadCommand(str(report.get("error", NO_SPAWNER)))
        if report["group"]:
            self._group = ControlGroup(report["group"])

    async def wait(self) -> None:
        if self.returncode is None:
            report = await self._next()
            # The pipe of reports closes a moment before `Sandbox.has_ended` can see it.
            self.ended_with_spawner = not report
            self.over_limit = str(report.get("over_limit", ""))
            self.ended_by_shortage = bool(report.get("by_shortage"))
            self._sandbox.is_short |= self.ended_by_shortage
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
        """Return the next report of the spawner; empty if it has ended."""
        while b"\n" not in self._text:
            chunk = await self._reports.receive_some()
            if not chunk:
                return {}
            self._text += chunk
        line, _, self._text = self._text.partition(b"\n")
        report: dict[str, Any] = json.loads(line)
        return report


class Sandbox:
    """Starts bots at the best sandbox level of this machine. Closing it ends them."""

    def __init__(
        self,
        *,
        data: Path,
        read_only: Sequence[Path] = (),
        most: Level = Level.S3,
        limits: ResourceLimits | None = None,
        in_memory: bool = False,
    ) -> None:
        """Start the spawner and its trial. This process must have no threads yet.

        Args:
          data: The arena's data folder, which no bot may read.
          read_only: Further files and folders that all bots may read.
          most: The highest level to try.
          in_memory: Whether bots read copies in memory, so that no bot can find out what another
            one has read.
        """
        self._data = data.absolute()
        self._read_only = tuple(path.absolute() for path in read_only)
        self._limits = limits or ResourceLimits()
        self._in_memory = in_memory
        self._count = 0
        self.is_short = False
        """Whether a bot was ended because the memory of the machine ran out."""
        self._result: SandboxTrial | None = None
        self._sizes_bytes: dict[str, int] = {}
        """What commands' files take in memory."""
        self._process: subprocess.Popen[bytes] | None = None
        if sys.platform != "linux":
            why = MissingLevel(Level.S2, f"the sandbox needs Linux, and this is {sys.platform}")
            self._result = SandboxTrial(Level.S0, (why,), why.why)
            return
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = start_helper("arena.sandbox.spawner.__main__", theirs)
        self._socket.settimeout(0)
        python = os.path.realpath(sys.executable) if in_memory else sys.executable
        trial = BotCommand("trial", (python, "-c", ""), files=Path("/nonexistent"))
        visible = visible_to(trial, self._data, in_memory=in_memory)
        order = _order(trial, {}, visible)
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
        return self._found().level

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
        return self._found().missing

    @property
    def why_disk(self) -> str:
        """Why bots read files from a disk, in one line; empty if they can read copies in memory."""
        return self._found().why_disk

    def why_reads_disk(self, command: BotCommand) -> str:
        """Return why a bot reads files from a disk, in one line; empty if it reads copies in memory only.

        The files of a submitted bot fit, or it is not started. A bot that is started by a command sees the whole
        environment of the arena's Python, which may be too large.
        """
        if self.level not in UPLOADS_AT or self.why_disk:
            return self.why_disk or f"there is no sandbox of {Level.S2}"
        if command.writes is not None:
            return "a program of the arena reads its own files"
        if command.files is not None:
            return ""
        size_bytes = self._size_bytes(command)
        if size_bytes <= MAX_COMMAND_BYTES:
            return ""
        return (
            f"{command.name} may read {size_bytes // MB} MB, and at most {MAX_COMMAND_BYTES // MB} MB of a command's"
            " files are kept in memory"
        )

    def _size_bytes(self, command: BotCommand) -> int:
        """Return the size of the files of a command in memory. The first call for a command reads their folders."""
        if command.text not in self._sizes_bytes:
            visible = visible_to(command, self._data, self._read_only, in_memory=True)
            omitted = tuple(map(str, visible.omitted))
            self._sizes_bytes[command.text] = sum(
                size_of(str(path), omitted) for path in visible.paths
            )
        return self._sizes_bytes[command.text]

    @property
    def why_not_better(self) -> str:
        """Why S2 is not available, in one line; empty at S2 and S3."""
        if self.level in UPLOADS_AT:
            return ""
        return self.why_not(Level.S2)

    def why_not(self, level: Level) -> str:
        """Return why a better level is not available, in one line; empty if the reason is not known."""
        return next((missing.why for missing in self.missing if missing.level is level), "")

    def address(self, socket_path: Path) -> str:
        """Return the address in the sandbox of a socket of the arena, given by its absolute path."""
        return f"unix:{socket_path if self.level is Level.S1 else SOCKET}"

    def visible_to(self, command: BotCommand) -> VisibleFiles:
        """Return the files that a bot may read, besides the system's programs."""
        in_memory = not self.why_reads_disk(command)
        return visible_to(command, self._data, self._read_only, in_memory=in_memory)

    def limits_of(self, command: BotCommand) -> ResourceLimits:
        """Return the limits of a bot: its own, and at most those of all bots."""
        limits = command.limits
        if limits is not None and command.writes is not None:
            return limits  # a program of the arena
        return self._limits if limits is None else limits.within(self._limits)

    def what_it_hid(self, text: str, visible: VisibleFiles, command: BotCommand) -> str:
        """Return lines about what the sandbox has denied to a failed bot, from its output `text`."""
        memory_bytes = self.limits_of(command).memory_bytes
        sentences = hidden(text, visible, self._data, memory_bytes=memory_bytes)
        return "".join(f"\n{sentence}" for sentence in sentences)

    async def start(
        self,
        command: BotCommand,
        folder: Path,
        environment: dict[str, str],
        socket_path: Path | None,
    ) -> SandboxedProcess:
        """Start a bot. `folder` exists, and paths are absolute.

        Raises `BadCommand` if it cannot be started. The text is the reason without the command.
        """
        home = str(folder) if self.level is Level.S1 else SCRATCH
        visible = self.visible_to(command)
        limits = self.limits_of(command)
        # Java asks the kernel for the memory of the machine, and the sandbox hides the limit.
        java = {"JDK_JAVA_OPTIONS": f"-XX:MaxRAM={limits.memory_bytes}"}
        own_names = {"HOME": home, "TMPDIR": home, "USER": "bot", "LOGNAME": "bot"}
        order = replace(
            _order(command, java | environment | own_names, visible),
            socket="" if socket_path is None else str(socket_path),
            folder=str(folder),
            directory=str(command.folder) if visible.has_folder(command.folder) else "",
            limits=limits,
            writable="" if command.writes is None else str(command.writes),
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
        """Send the spawner a request, with open files. Raises `OSError` if the spawner has ended."""
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
        await trio.lowlevel.wait_readable(self._socket)  # the spawner sends nothing by this socket

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
        message = json.dumps(request).encode()
        if given:
            socket.send_fds(self._socket, [message], given)
        else:
            self._socket.send(message)

    def _found(self) -> "SandboxTrial":
        if self._result is None:
            ready, _, _ = select.select([self._trial], [], [], _ANSWER_S)
            text = os.read(self._trial, 65_536) if ready else b""
            os.close(self._trial)
            report: dict[str, Any] = {
                "level": "S0",
                "missing": [["S2", f"{NO_SPAWNER} in its trial"]],
                "why_disk": "",
            }
            if text:
                report = json.loads(text)
            missing = tuple(MissingLevel(Level(level), why) for level, why in report["missing"])
            why_disk = report["why_disk"] if self._in_memory else _NOT_ASKED
            self._result = SandboxTrial(Level(report["level"]), missing, why_disk)
        return self._result


def _order(command: BotCommand, environment: dict[str, str], visible: VisibleFiles) -> SpawnOrder:
    return SpawnOrder(
        command.argv,
        environment,
        tuple(map(str, visible.paths)),
        in_memory=visible.in_memory,
        fresh=tuple(map(str, visible.fresh)),
        omitted=tuple(map(str, visible.omitted)),
    )


def raise_sandbox(
    demand: SandboxDemand,
    *,
    data: Path,
    read_only: Sequence[Path] = (),
    most: Level = Level.S3,
    in_memory: bool = False,
) -> Sandbox | None:
    """Start the sandbox for a demand; return None for `OFF`.

    Raises `NoSandbox` if the demand is `REQUIRE` and S2 is not available.
    """
    if demand is SandboxDemand.OFF:
        return None
    sandbox = Sandbox(data=data, read_only=read_only, most=most, in_memory=in_memory)
    if demand is SandboxDemand.REQUIRE and sandbox.why_not_better:
        why = sandbox.why_not_better
        sandbox.close()
        raise NoSandbox(f"bots cannot be sandboxed as --sandbox require asks: {why}")
    return sandbox
