"""One launched bot: its process, its folder and what it has printed."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import trio

from arena.jail.command import BadCommand, BotCommand
from arena.jail.output import LOG_SUFFIX, OutputLog, read_output

TERMINATE_S: Final = 1.0
"""Time a bot has to end by itself when it is no longer needed."""
_LAST_WORDS: Final = 600
_STDERR: Final = 2
_LONGEST_LINE: Final = 4096
"""Of a line that has no end yet, so much is kept for whoever hears of it."""
_STARTED: Final = "started: "
_PASSED_ON: Final = ("LANG", "LC_ALL", "PYTHONPATH", "SYSTEMROOT", "VIRTUAL_ENV")


class BotProcess:
    """A running bot. `exited` is set when its process has ended."""

    def __init__(
        self, command: BotCommand, process: trio.Process, output: Path, *, terminal: bool = False
    ) -> None:
        self.command = command
        self.output = output
        """File with what the bot printed, see `arena.jail.output`."""
        self.exited = trio.Event()
        self._process = process
        self._terminal = terminal

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
        source = self._process.stderr if self._terminal else self._process.stdout
        assert source is not None
        rest = b""
        with OutputLog(self.output) as log:
            log.mark(f"{_STARTED}{self.command.text}")
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
            self._signal(signal.SIGTERM)
            with trio.move_on_after(TERMINATE_S):
                await self._process.wait()
        self._signal(signal.SIGKILL)  # children that outlived it, too
        await self._process.wait()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if not self._terminal:
                os.killpg(self._process.pid, number)
            elif self._process.returncode is None:
                self._process.send_signal(number)  # it is of the terminal's group, as we are


async def launch(
    command: BotCommand, folder: Path, environment: Mapping[str, str], *, terminal: bool = False
) -> BotProcess:
    """Start a bot in `folder`, its own, with this environment and little else.

    With `terminal` it reads from this process's standard input and writes to its output, as a
    debugger does.

    Raises:
      BadCommand: if the process cannot be started.
    """
    await trio.Path(folder).mkdir(parents=True, exist_ok=True)
    passed_on = (*_PASSED_ON, "TERM") if terminal else _PASSED_ON
    given = {name: os.environ[name] for name in passed_on if name in os.environ}
    # The bot's `python` is this one, which has the SDK.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    private = {"PATH": path, "HOME": str(folder), "TMPDIR": str(folder), "PYTHONUNBUFFERED": "1"}
    try:
        process = await trio.lowlevel.open_process(
            list(command.argv),
            stdin=None if terminal else subprocess.DEVNULL,
            stdout=None if terminal else subprocess.PIPE,
            stderr=subprocess.PIPE if terminal else subprocess.STDOUT,
            cwd=folder,
            env={**given, **private, **environment},
            start_new_session=not terminal,
        )
    except OSError as error:
        why = error.strerror
        if error.errno == errno.ENOEXEC:
            why = "it is no program, nor a script that begins with #! and what runs it"
        text = f"the bot {command.name!r} does not start: {why}: {command.text}"
        raise BadCommand(text) from error
    output = folder.parent / f"{folder.name}{LOG_SUFFIX}"
    return BotProcess(command, process, output, terminal=terminal)
