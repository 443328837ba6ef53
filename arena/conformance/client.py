"""The client under test: a command with fixed bots, started anew for each case."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Protocol

EXIT_S: Final = 5.0
"""How long a client that was killed may take to be gone."""
_OWN: Final = "CARDARENA_"


class Running(Protocol):
    """A client that was started, however it was."""

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        ...

    @property
    def printed(self) -> tuple[str, ...]:
        """The lines of stdout so far; once it has ended, all."""
        ...

    @property
    def told(self) -> str:
        """The text of stderr so far; once it has ended, all."""
        ...

    def wait(self, wait_s: float) -> int | None:
        """Its exit code; None if it does not end in time."""
        ...

    def interrupt(self) -> None:
        """Ctrl-C."""
        ...

    def kill(self) -> None:
        """Ends it, and all that it has started."""
        ...


class Client:
    """One run of the command. What it prints is kept."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path
    ) -> None:
        """Starts it.

        Args:
          command: The program and all its arguments.
          environment: Variables that it gets besides our own, of which it gets none of an SDK's.
          folder: Where it runs.

        Raises:
          OSError: if there is no such program.
        """
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}
        # A group of its own: a command such as `go run` starts another process.
        self._process = subprocess.Popen(
            command,
            env={**inherited, **environment},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._readers: list[threading.Thread] = []
        self._printed: list[str] = []
        self._told: list[str] = []
        for pipe, lines in (
            (self._process.stdout, self._printed),
            (self._process.stderr, self._told),
        ):
            assert pipe is not None
            reader = threading.Thread(target=_read, args=(pipe, lines), daemon=True)
            reader.start()
            self._readers.append(reader)

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll()

    @property
    def printed(self) -> tuple[str, ...]:
        """The lines of stdout so far; once it has ended, all."""
        self._finish()
        return tuple(self._printed)

    @property
    def told(self) -> str:
        """The text of stderr so far; once it has ended, all."""
        self._finish()
        return "\n".join(self._told)

    def wait(self, wait_s: float) -> int | None:
        """Its exit code; None if it does not end in time."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(wait_s)
        return None

    def interrupt(self) -> None:
        """Ctrl-C."""
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """Ends it, and all that it has started."""
        self._signal(signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(EXIT_S)
        for pipe in (self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _finish(self) -> None:
        if self.exit_code is not None:
            for reader in self._readers:
                reader.join(EXIT_S)


def _read(pipe: IO[bytes], lines: list[str]) -> None:
    with suppress(ValueError, OSError):
        lines.extend(line.decode("utf-8", "replace").rstrip("\n") for line in pipe)
