"""The program of a bot that speaks JSON lines, as a child process."""

import os
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Final

MAX_LINE_BYTES: Final = 1 << 20
"""The longest line of a bot; of a longer one this much is read as a line."""
EXIT_S: Final = 2.0
"""How long a program may take to exit once its input has ended; then it is killed."""


class BotProcess:
    """One process of the bot. Its stderr is that of the bridge.

    A thread of its own writes to it, so that a bot that does not read delays nobody; another one reads.
    """

    def __init__(
        self,
        command: Sequence[str],
        on_line: Callable[["BotProcess", bytes], None],
        on_end: Callable[["BotProcess", str], None],
    ) -> None:
        """Starts it.

        Args:
          command: Program and arguments.
          on_line: Called with each line that it writes; on the reading thread.
          on_end: Called at the end of its output with how it ended, as in `ended with exit code 1`; likewise.

        Raises:
          OSError: if it cannot be started.
        """
        self.wrote = False
        """Whether it has written a line."""
        self._on_line = on_line
        self._on_end = on_end
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        # How to reach the arena, and the token, are for the bridge alone.
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
        """Gives it a line."""
        self._lines.put(line)

    def finish(self) -> None:
        """Ends its input, and kills it if it does not exit in time. Waits for nothing."""
        self._lines.put(None)

    def close(self) -> None:
        """As `finish`, and waits for its end."""
        self.finish()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(2 * EXIT_S)

    def _write(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # it has ended, which the other thread tells
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
