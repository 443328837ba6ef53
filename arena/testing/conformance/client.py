"""The client under test: a command with fixed bots, started for each case."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Protocol

EXIT_S: Final = 5.0
"""The longest time in seconds for a killed client to end."""
_OWN: Final = "CARDARENA_"


def let_clients_be_interrupted() -> None:
    """Start programs with the default action of SIGINT, even if this program ignores it, for example because of `nohup` and `&`.

    This program then ignores SIGINT by a handler, and handlers are reset in programs that it starts. Call it on the
    main thread.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: None)


class RunningClient(Protocol):
    """A running client."""

    @property
    def exit_code(self) -> int | None:
        """Its exit code; None while it runs."""
        ...

    @property
    def stdout_lines(self) -> tuple[str, ...]:
        """The lines of stdout so far; once it has ended, all."""
        ...

    @property
    def stderr_text(self) -> str:
        """The text of stderr so far; once it has ended, all."""
        ...

    def wait(self, wait_s: float) -> int | None:
        """Wait for the exit code; None if it does not end in time."""
        ...

    def interrupt(self) -> None:
        """Send SIGINT."""
        ...

    def kill(self) -> None:
        """Kill it and all processes that it started."""
        ...


class Client:
    """One run of the command, with its output."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path
    ) -> None:
        """Start the client.

        Args:
          environment: Variables in addition to the inherited ones, from which those of SDKs are
            removed.

        Raises `OSError` if the program cannot be started.
        """
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}
        # A new process group: a command such as `go run` starts another process.
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
        self._stdout: list[str] = []
        self._stderr: list[str] = []
        for pipe, lines in (
            (self._process.stdout, self._stdout),
            (self._process.stderr, self._stderr),
        ):
            assert pipe is not None
            reader = threading.Thread(target=_read, args=(pipe, lines), daemon=True)
            reader.start()
            self._readers.append(reader)

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    @property
    def stdout_lines(self) -> tuple[str, ...]:
        self._finish()
        return tuple(self._stdout)

    @property
    def stderr_text(self) -> str:
        self._finish()
        return "\n".join(self._stderr)

    def wait(self, wait_s: float) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(wait_s)
        return None

    def interrupt(self) -> None:
        self._signal(signal.SIGINT)

    def kill(self) -> None:
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
