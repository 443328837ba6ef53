"""One launched bot: its process, its folder and its log."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol

import trio

from arena.sandbox.command import BadCommand, BotCommand
from arena.sandbox.output import LOG_SUFFIX, OutputLog, read_output
from arena.sandbox.sandbox import NO_MEMORY, Sandbox
from arena.sandbox.spawner import priority
from arena.sandbox.visible_files import VisibleFiles, is_system

TERMINATE_S: Final = 1.0
"""The time between SIGTERM and SIGKILL, in seconds."""
BUSY_S: Final = 2.0
"""Seconds for which a program may be open for writing before the bot does not start."""
_RETRY_S: Final = 0.01
_TAIL_CHARS: Final = 600
_STDERR: Final = 2
_LONGEST_LINE: Final = 4096
"""The number of bytes that are kept of an unfinished line, for `on_line`."""
_STARTED: Final = "started: "
_SCRIPT: Final = b"#!"
_FIRST_LINE_BYTES: Final = 256
_ELF: Final = b"\x7fELF"
_PASSED_ON: Final = ("LANG", "LC_ALL", "SYSTEMROOT")
_OF_AUTHORS: Final = ("PYTHONPATH", "VIRTUAL_ENV")
"""Variables that are passed on to bots of this machine's user, and not to submitted ones."""


class RunningProcess(Protocol):
    """A bot's process, sandboxed or not."""

    visible: VisibleFiles | None
    """The files that it can read; None without a sandbox."""
    ended_with_spawner: bool
    """Whether it ended because the spawner did, which is not the bot's fault."""
    ended_by_shortage: bool
    """Whether the kernel ended it within its limit, because the memory of the machine ran out. This is not the bot's fault."""
    over_limit: str
    """The memory that it used, in words, if the sandbox ended it for that; empty if not."""

    @property
    def returncode(self) -> int | None: ...
    @property
    def output(self) -> trio.abc.ReceiveStream:
        """Its output, for the log."""
        ...

    @property
    def can_freeze(self) -> bool: ...
    def freeze(self, *, frozen: bool) -> None: ...

    async def wait(self) -> None: ...
    async def send_signal(self, number: int) -> None: ...


class BotProcess:
    """A running bot. `exited` is set when its process has ended."""

    def __init__(
        self,
        command: BotCommand,
        process: RunningProcess,
        output: Path,
        *,
        terminal: bool = False,
        level: str = "",
    ) -> None:
        self.command = command
        self.output = output
        """The log of its output, see `arena.sandbox.output`."""
        self.exited = trio.Event()
        self._process = process
        self._terminal = terminal
        self._level = level
        self._log: OutputLog | None = None

    @property
    def visible(self) -> VisibleFiles | None:
        return self._process.visible

    @property
    def returncode(self) -> int | None:
        """The exit code; -N if signal N ended it, None while it runs."""
        return self._process.returncode

    @property
    def ended_with_spawner(self) -> bool:
        return self._process.ended_with_spawner

    @property
    def ended_by_shortage(self) -> bool:
        return self._process.ended_by_shortage

    @property
    def how_it_ended(self) -> str:
        """The end of the process, in words."""
        code = self.returncode
        if code is None:
            return "still running"
        if self._process.over_limit:
            return f"ended by the sandbox: {self._process.over_limit}"
        if self.ended_by_shortage:
            return f"ended by the kernel, as {NO_MEMORY}"
        return f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    @property
    def can_freeze(self) -> bool:
        """Whether it can be frozen, which needs sandbox level S3."""
        return self._process.can_freeze

    def freeze(self, *, frozen: bool) -> None:
        """Stop all its processes, or let them run again."""
        self._process.freeze(frozen=frozen)

    def last_words(self) -> str:
        """Return the last characters that the bot has printed since its start, for an error message."""
        lines: list[str] = []
        with suppress(OSError):
            for line in read_output(self.output):
                if not line.by_arena:
                    lines.append(line.text)
                elif line.text.startswith(_STARTED):
                    lines.clear()
        return "\n".join(lines)[-_TAIL_CHARS:].strip()

    async def watch(self, on_line: Callable[[str], None] | None = None) -> None:
        """Write the bot's output to its log until the bot has ended. If cancelled, end the bot.

        `on_line` is called with each line at once. The stderr of a bot at the terminal is also
        written to the terminal.
        """
        source = self._process.output
        rest = b""
        with OutputLog(self.output) as log:
            self._log = log
            log.mark(f"{_STARTED}{self.command.text}")
            if self._level:
                log.mark(f"sandboxed at {self._level}")
            how = "ended by the arena"
            try:
                async for chunk in source:
                    log.printed(chunk)
                    if self._terminal:
                        os.write(_STDERR, chunk)
                    if on_line is not None:
                        *lines, rest = (rest + chunk).split(b"\n")
                        rest = rest[-_LONGEST_LINE:]
                        for line in lines:
                            on_line(line.decode("utf-8", "replace"))
                await self._process.wait()
                how = self.how_it_ended
            finally:
                with trio.CancelScope(shield=True):
                    await self._end()
                log.mark(how)
                self._log = None
                self.exited.set()

    def note(self, text: str) -> None:
        """Add a line of the arena to its log, for its owner."""
        if self._log is not None:
            self._log.mark(text)

    async def _end(self) -> None:
        if self._process.returncode is None:
            await self._process.send_signal(signal.SIGTERM)
            with trio.move_on_after(TERMINATE_S):
                await self._process.wait()
        await self._process.send_signal(signal.SIGKILL)  # for its remaining children
        await self._process.wait()


class _Unsandboxed:
    visible: VisibleFiles | None = None
    ended_with_spawner = ended_by_shortage = False
    over_limit = ""
    can_freeze = False

    def __init__(self, process: trio.Process, *, terminal: bool) -> None:
        self._process = process
        self._terminal = terminal
        output = process.stderr if terminal else process.stdout
        assert output is not None
        self.output: trio.abc.ReceiveStream = output

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    def freeze(self, *, frozen: bool) -> None:
        raise NotImplementedError

    async def wait(self) -> None:
        await self._process.wait()

    async def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if not self._terminal:
                os.killpg(self._process.pid, number)
            elif self._process.returncode is None:
                self._process.send_signal(number)  # its process group includes the arena


async def launch(
    command: BotCommand,
    folder: Path,
    environment: Mapping[str, str],
    *,
    terminal: bool = False,
    sandbox: Sandbox | None = None,
    socket: Path | None = None,
) -> BotProcess:
    """Start a bot in its own folder, with another one to write to.

    Args:
      folder: The folder for what this process writes; the log is beside it.
      terminal: Whether it uses the terminal of this process, for example for a debugger; then it
        has no sandbox.
      socket: The one Unix socket that a sandboxed bot can connect to; it has no network.

    Raises `BadCommand` if the process cannot be started.
    """
    await trio.Path(folder).mkdir(parents=True, exist_ok=True)
    output = folder.parent / f"{folder.name}{LOG_SUFFIX}"
    is_submitted = command.files is not None
    passed_on = _PASSED_ON + ("TERM",) * terminal + _OF_AUTHORS * (not is_submitted)
    given = {name: os.environ[name] for name in passed_on if name in os.environ}
    # `python` in the bot's command means the Python that has the SDK.
    python = command.argv[0] if is_submitted else sys.executable
    path = f"{Path(python).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    given |= {"PATH": path, "PYTHONUNBUFFERED": "1"}
    if command.packages:
        folders = [*map(str, command.packages), *filter(None, [given.get("PYTHONPATH")])]
        given["PYTHONPATH"] = os.pathsep.join(folders)
    process: RunningProcess
    _require_interpreter(command)
    if sandbox is not None and not terminal:
        try:
            _require_program(Path(command.own_argv[0]))
            process = await sandbox.start(command, folder, {**given, **environment}, socket)
        except (OSError, BadCommand) as error:
            raise _no_start(command, error) from error
        return BotProcess(command, process, output, level=sandbox.level)
    try:
        plain = await _opened(
            command.argv,
            stdin=None if terminal else subprocess.DEVNULL,
            stdout=None if terminal else subprocess.PIPE,
            stderr=subprocess.PIPE if terminal else subprocess.STDOUT,
            cwd=folder if is_system(command.folder) else command.folder,
            env={**given, "HOME": str(folder), "TMPDIR": str(folder), **environment},
            start_new_session=not terminal,
        )
    except OSError as error:
        raise _no_start(command, error) from error
    if not terminal:
        priority.put_below(plain.pid)
        priority.lower_session(plain.pid)
    process = _Unsandboxed(plain, terminal=terminal)
    return BotProcess(command, process, output, terminal=terminal)


async def _opened(argv: Sequence[str], **how: Any) -> trio.Process:
    """Start a process, and try again for `BUSY_S` while its program is open for writing.

    A program that was written a moment ago is open in any process that was forked then, until that process executes its
    own program. That is no fault of the bot.
    """
    until = trio.current_time() + BUSY_S
    while True:
        try:
            return await trio.lowlevel.open_process(list(argv), **how)
        except OSError as error:
            if error.errno != errno.ETXTBSY or trio.current_time() >= until:
                raise
        await trio.sleep(_RETRY_S)


def _no_start(command: BotCommand, error: OSError | BadCommand) -> BadCommand:
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    if isinstance(error, OSError) and error.errno == errno.ENOEXEC:
        why = "it is no program, nor a script with #! and its interpreter in the first line"
    if isinstance(error, OSError) and error.errno == errno.EACCES:
        why = "it is not executable: chmod +x makes it so"
    text = f"the bot {command.name!r} does not start: {why}: {command.text}"
    return BadCommand(text, f"it does not start: {why}")


def _require_interpreter(command: BotCommand) -> None:
    """Require that the first line of a script names its interpreter.

    The kernel would only report that there is no such file, although it means the interpreter.

    Raises `BadCommand` if it does not.
    """
    first = b""
    with suppress(OSError), Path(command.own_argv[0]).open("rb") as file:
        first = file.readline(_FIRST_LINE_BYTES)
    words = os.fsdecode(first).removeprefix("#!").split()
    if not first.startswith(_SCRIPT) or not words:
        return
    if first.endswith(b"\r\n"):
        windows = (
            "its first line ends with a carriage return, as on Windows: save it with Unix line ends"
        )
        raise _no_start(command, BadCommand(windows))
    if not Path(words[0]).exists():
        raise _no_start(
            command, BadCommand(f"its first line names {words[0]}, which does not exist")
        )


def _require_program(path: Path) -> None:
    """Require that the kernel can execute a file. In a sandbox the failure would appear only in the output.

    Raises `OSError` if it cannot.
    """
    if not os.access(path, os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    with path.open("rb") as file:
        head = file.read(len(_ELF))
    if not head.startswith((_SCRIPT, _ELF)):
        raise OSError(errno.ENOEXEC, os.strerror(errno.ENOEXEC))
