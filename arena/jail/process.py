"""One launched bot: its process, its folder and what it has printed."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import trio

from arena.jail.command import BadCommand, BotCommand

MAX_OUTPUT_BYTES: Final = 1 << 20
"""What a bot prints beyond this is read and thrown away."""
TERMINATE_S: Final = 1.0
"""Time a bot has to end by itself when it is no longer needed."""
_LAST_WORDS: Final = 600
_PASSED_ON: Final = ("LANG", "LC_ALL", "PYTHONPATH", "SYSTEMROOT", "VIRTUAL_ENV")


class BotProcess:
    """A running bot. `exited` is set when its process has ended."""

    def __init__(self, command: BotCommand, process: trio.Process, output: Path) -> None:
        self.command = command
        self.output = output
        """File with what the bot printed."""
        self.exited = trio.Event()
        self._process = process

    @property
    def returncode(self) -> int | None:
        """How the process ended; negative is a signal, None that it runs."""
        return self._process.returncode

    def last_words(self) -> str:
        """The end of what the bot printed, for an error message."""
        with suppress(OSError):
            return self.output.read_text("utf-8", "replace")[-_LAST_WORDS:].strip()
        return ""

    async def watch(self) -> None:
        """Keep the bot's output until it has ended. Cancelled, it ends the bot."""
        try:
            await self._drain()
            await self._process.wait()
        finally:
            with trio.CancelScope(shield=True):
                await self._end()
            self.exited.set()

    async def _drain(self) -> None:
        assert self._process.stdout is not None
        kept = 0
        with self.output.open("wb") as file:
            async for chunk in self._process.stdout:
                if kept < MAX_OUTPUT_BYTES:
                    # On a full disk the bot's output is lost, not the bot.
                    with suppress(OSError):
                        file.write(chunk[: MAX_OUTPUT_BYTES - kept])
                        file.flush()
                    kept += len(chunk)

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
            os.killpg(self._process.pid, number)


async def launch(command: BotCommand, folder: Path, environment: Mapping[str, str]) -> BotProcess:
    """Start a bot in `folder`, its own, with this environment and little else.

    Raises:
      BadCommand: if the process cannot be started.
    """
    await trio.Path(folder).mkdir(parents=True, exist_ok=True)
    given = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    # The bot's `python` is this one, which has the SDK.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    private = {"PATH": path, "HOME": str(folder), "TMPDIR": str(folder), "PYTHONUNBUFFERED": "1"}
    try:
        process = await trio.lowlevel.open_process(
            list(command.argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**given, **private, **environment},
            start_new_session=True,
        )
    except OSError as error:
        text = f"the bot {command.name!r} does not start: {error.strerror}: {command.text}"
        raise BadCommand(text) from error
    return BotProcess(command, process, folder.with_suffix(".log"))
