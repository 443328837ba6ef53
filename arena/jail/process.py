"""One launched bot: its process, its folder and what it has printed."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import trio

from arena.jail.command import BadCommand, BotCommand
from arena.jail.output import LOG_SUFFIX, OutputLog, read_output
from arena.jail.visible import Visible
from arena.jail.wall import Wall

TERMINATE_S: Final = 1.0
"""Time a bot has to end by itself when it is no longer needed."""
_LAST_WORDS: Final = 600
_STDERR: Final = 2
_LONGEST_LINE: Final = 4096
"""Of a line that has no end yet, so much is kept for whoever hears of it."""
_STARTED: Final = "started: "
_SCRIPT: Final = b"#!"
_ELF: Final = b"\x7fELF"
_PASSED_ON: Final = ("LANG", "LC_ALL", "PYTHONPATH", "SYSTEMROOT", "VIRTUAL_ENV")


class Running(Protocol):
    """A process, however it was started."""

    visible: Visible | None
    """What it can read; None if that is all that its user can."""

    @property
    def returncode(self) -> int | None: ...
    @property
    def output(self) -> trio.abc.ReceiveStream:
        """What is kept of what it prints."""
        ...

    async def wait(self) -> None: ...
    async def send_signal(self, number: int) -> None: ...


class BotProcess:
    """A running bot. `exited` is set when its process has ended."""

    def __init__(
        self,
        command: BotCommand,
        process: Running,
        output: Path,
        *,
        terminal: bool = False,
        level: str = "",
    ) -> None:
        self.command = command
        self.output = output
        """File with what the bot printed, see `arena.jail.output`."""
        self.exited = trio.Event()
        self._process = process
        self._terminal = terminal
        self._level = level

    @property
    def visible(self) -> Visible | None:
        """What it can read; None if it is not jailed."""
        return self._process.visible

    @property
    def returncode(self) -> int | None:
        """How the process ended; negative is a signal, None that it runs."""
        return self._process.returncode

    @property
    def how_it_ended(self) -> str:
        """What became of the process, in words."""
        code = self.returncode
        if code is None:
            return "still running"
        return f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def last_words(self) -> str:
        """The end of what the bot printed since it was started, for an error message."""
        words: list[str] = []
        with suppress(OSError):
            for line in read_output(self.output):
                if not line.by_arena:
                    words.append(line.text)
                elif line.text.startswith(_STARTED):
                    words.clear()
        return "\n".join(words)[-_LAST_WORDS:].strip()

    async def watch(self, heard: Callable[[str], None] | None = None) -> None:
        """Keep the bot's output until it has ended. Cancelled, it ends the bot.

        `heard` gets every line of it at once. What a bot at the terminal says of errors is
        passed on there.
        """
        source = self._process.output
        rest = b""
        with OutputLog(self.output) as log:
            log.mark(f"{_STARTED}{self.command.text}")
            if self._level:
                log.mark(f"jailed at {self._level}")
            how = "ended by the arena"
            try:
                async for chunk in source:
                    log.printed(chunk)
                    if self._terminal:
                        os.write(_STDERR, chunk)
                    if heard is not None:
                        *lines, rest = (rest + chunk).split(b"\n")
                        rest = rest[-_LONGEST_LINE:]
                        for line in lines:
                            heard(line.decode("utf-8", "replace"))
                await self._process.wait()
                how = self.how_it_ended
            finally:
                with trio.CancelScope(shield=True):
                    await self._end()
                log.mark(how)
                self.exited.set()

    async def _end(self) -> None:
        """End the bot and whatever it started."""
        if self._process.returncode is None:
            await self._process.send_signal(signal.SIGTERM)
            with trio.move_on_after(TERMINATE_S):
                await self._process.wait()
        await self._process.send_signal(signal.SIGKILL)  # children that outlived it, too
        await self._process.wait()


class _Unjailed:
    """A process of this user, with all that this user may do."""

    visible: Visible | None = None

    def __init__(self, process: trio.Process, *, terminal: bool) -> None:
        self._process = process
        self._terminal = terminal
        output = process.stderr if terminal else process.stdout
        assert output is not None
        self.output: trio.abc.ReceiveStream = output

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    async def wait(self) -> None:
        await self._process.wait()

    async def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if not self._terminal:
                os.killpg(self._process.pid, number)
            elif self._process.returncode is None:
                self._process.send_signal(number)  # it is of the terminal's group, as we are


async def launch(
    command: BotCommand,
    folder: Path,
    environment: Mapping[str, str],
    *,
    terminal: bool = False,
    wall: Wall | None = None,
    socket: Path | None = None,
) -> BotProcess:
    """Start a bot in `folder`, its own, with this environment and little else.

    With `terminal` it reads from this process's standard input and writes to its output, as a
    debugger does; there is no wall around it then.

    Args:
      command: What to run.
      folder: Of this process of the bot; the log is beside it.
      environment: Is added to what all bots are given.
      terminal: Whether it has this process's terminal.
      wall: What it is jailed by; None is not at all.
      socket: The one socket of this machine that a jailed bot can reach, as it has no network.

    Raises:
      BadCommand: if the process cannot be started.
    """
    await trio.Path(folder).mkdir(parents=True, exist_ok=True)
    output = folder.parent / f"{folder.name}{LOG_SUFFIX}"
    passed_on = (*_PASSED_ON, "TERM") if terminal else _PASSED_ON
    given = {name: os.environ[name] for name in passed_on if name in os.environ}
    # The bot's `python` is this one, which has the SDK.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    given |= {"PATH": path, "PYTHONUNBUFFERED": "1"}
    if command.packages:
        found = [*map(str, command.packages), *filter(None, [given.get("PYTHONPATH")])]
        given["PYTHONPATH"] = os.pathsep.join(found)
    process: Running
    if wall is not None and not terminal:
        try:
            _require_program(Path(command.argv[0]))
            process = await wall.start(command, folder, {**given, **environment}, socket)
        except (OSError, BadCommand) as error:
            raise _no_start(command, error) from error
        return BotProcess(command, process, output, level=wall.level)
    try:
        plain = await trio.lowlevel.open_process(
            list(command.argv),
            stdin=None if terminal else subprocess.DEVNULL,
            stdout=None if terminal else subprocess.PIPE,
            stderr=subprocess.PIPE if terminal else subprocess.STDOUT,
            cwd=folder,
            env={**given, "HOME": str(folder), "TMPDIR": str(folder), **environment},
            start_new_session=not terminal,
        )
    except OSError as error:
        raise _no_start(command, error) from error
    process = _Unjailed(plain, terminal=terminal)
    return BotProcess(command, process, output, terminal=terminal)


def _no_start(command: BotCommand, error: OSError | BadCommand) -> BadCommand:
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    if isinstance(error, OSError) and error.errno == errno.ENOEXEC:
        why = "it is no program, nor a script that begins with #! and what runs it"
    return BadCommand(f"the bot {command.name!r} does not start: {why}: {command.text}")


def _require_program(path: Path) -> None:
    """See that a file can be run, as the kernel does: in a jail only its output would tell.

    Raises:
      OSError: if it cannot.
    """
    if not os.access(path, os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    with path.open("rb") as file:
        head = file.read(len(_ELF))
    if not head.startswith((_SCRIPT, _ELF)):
        raise OSError(errno.ENOEXEC, os.strerror(errno.ENOEXEC))
