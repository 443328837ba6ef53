"""A child process of the bridge: the program of a bot that reads and writes JSON lines."""

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Final

MAX_LINE_BYTES: Final = 1 << 20
"""The size limit of a line in bytes; a longer one is split into several."""
_FIRST_LINE_BYTES: Final = 256
EXIT_S: Final = 2.0
"""Seconds that a program may take to exit after the end of its input; then it is killed."""


def why_no_script(program: str) -> str:
    """Return why the kernel cannot start a script, by its first line; empty if it can or this is no script.

    The kernel only reports that there is no such file, although it means the interpreter.
    """
    try:
        with Path(shutil.which(program) or program).open("rb") as file:
            first = file.readline(_FIRST_LINE_BYTES)
    except OSError:
        return ""
    words = os.fsdecode(first).removeprefix("#!").split()
    if not first.startswith(b"#!") or not words:
        return ""
    if first.endswith(b"\r\n"):
        return (
            "its first line ends with a carriage return, as on Windows: save it with Unix line ends"
        )
    return (
        "" if Path(words[0]).exists() else f"its first line names {words[0]}, which does not exist"
    )


class BotProcess:
    """One process of the bot. Its stderr is that of the bridge.

    One thread writes to it, so that a bot that does not read delays no other match; another one reads.
    """

    def __init__(
        self,
        command: Sequence[str],
        on_line: Callable[["BotProcess", bytes], None],
        on_end: Callable[["BotProcess", str], None],
    ) -> None:
        """Start the process.

        Args:
          command: Program and arguments.
          on_line: Called with each of its lines, on the reading thread.
          on_end: Called at the end of its output with the cause, such as `ended with exit code 1`, on the reading
            thread.

        Raises:
          OSError: if it cannot be started.
        """
        self.wrote = False
        """Whether it has written a line."""
        self._on_line = on_line
        self._on_end = on_end
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        # Address and token of the arena are for the bridge only.
        given = {
            name: value for name, value in os.environ.items() if not name.startswith("CARDARENA_")
        }
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=given
        )
        self._threads = [
            threading.Thread(target=target, name=f"bot {name}", daemon=True)
            for name, target in (("input", self._write), ("output", self._read))
        ]
        for thread in self._threads:
            thread.start()

    def send(self, line: bytes) -> None:
        """Send a line."""
        self._lines.put(line)

    def finish(self) -> None:
        """End its input, and kill it if it does not exit in time. Does not block."""
        self._lines.put(None)

    def close(self) -> None:
        """Do as `finish` does, and wait for the end."""
        self.finish()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(2 * EXIT_S)

    def _write(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # the process has ended, which the other thread reports
            while (line := self._lines.get()) is not None:
                self._process.stdin.write(line)
                self._process.stdin.flush()
        with suppress(OSError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(EXIT_S)
        self._process.kill()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            while line := output.readline(MAX_LINE_BYTES):
                self.wrote = True
                self._on_line(self, line)
        self._on_end(self, self._how_it_ended())

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(EXIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return "closed its standard output"
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
