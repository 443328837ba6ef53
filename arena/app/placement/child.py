"""A process of `arena worker` below a task or actor of an engine."""

import contextlib
import json
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Final

from arena.app.placement.placement import WorkerProgram

KEPT_LINES: Final = 200
"""The number of last lines of its output that are kept."""


class WorkerChild:
    """A process of `arena worker` in a separate folder. When this process ends, for any reason, the worker is drained."""

    def __init__(self, program: WorkerProgram, heard: Callable[[str], object]) -> None:
        """Start the worker; `heard` gets each line of its output."""
        self._heard = heard
        self._folder = tempfile.TemporaryDirectory(prefix="arena-worker-")
        folder = Path(self._folder.name)
        command = [sys.executable, *program.command, "--server", program.server]
        for option, text in (("--token-file", program.token), ("--ca", program.ca)):
            if text:
                path = folder / option.strip("-")
                path.touch(mode=0o600)
                path.write_text(text, "utf-8")
                command += [option, str(path)]
        command += ["--data", str(folder / "data"), "--drain-with-input"]
        command += ["--speed-class", str(program.speed_class), *program.options]
        self.lines = deque[str](maxlen=KEPT_LINES)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # signals of the terminal are for the engine
        )
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n"))
            self._heard(line.rstrip("\n"))

    def drain(self) -> None:
        """Let the worker finish what it plays and end."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def wait(self) -> str:
        """Wait for its end; return why it ended, as JSON: `exit`, its exit code, and `said`, its last line."""
        code = self._process.wait()
        self._reader.join()
        self._folder.cleanup()
        return json.dumps({"exit": code, "said": self.lines[-1] if self.lines else ""})
