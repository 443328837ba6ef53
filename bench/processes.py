"""Servers and loads as processes of their own, and the measuring of them."""

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from bench import arena_server, load

PATIENCE_S: Final = 30.0
"""A process that has not said a word by then is taken to hang."""
START_S: Final = 120.0
"""Longest start, and longest end, of an arena with its workers."""
_TICKS_S: Final = os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """A process ended or hangs. The text says which."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a load did while its gate was open."""

    decisions: int
    frames: int
    asked_bytes: int
    answered_bytes: int
    seconds: float
    played: int
    """All decisions since the gate was opened: those counted above come after a start."""
    cpu_s: float
    """Processor time of the server, for all that was played."""

    @property
    def cpu_us(self) -> float:
        """Processor time of the server for a decision, in microseconds."""
        return self.cpu_s * 1e6 / self.played

    @property
    def per_s(self) -> float:
        """Decisions a second."""
        return self.decisions / self.seconds


class Process:
    """A program of this package, that says a line when it is asked to or is ready."""

    def __init__(self, module: str, *arguments: str, path: str | None = None) -> None:
        """`path` is a folder of packages that go before the installed ones."""
        self._name = module
        environment = dict(os.environ)
        if path is not None:
            environment["PYTHONPATH"] = path
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            env=environment,
        )

    def line(self, busy_s: float = 0.0) -> str:
        """The next line it says; for `busy_s` it may be at work.

        Raises:
          Failed: if it ends first, or says nothing for long.
        """
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], busy_s + PATIENCE_S)
        if not readable:
            raise Failed(f"{self._name} hangs")
        line = self._process.stdout.readline().strip()
        if not line:
            raise Failed(f"{self._name} ended before its time")
        return line

    def tell(self, line: str) -> None:
        """Say a line to it."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")

    @property
    def cpu_s(self) -> float:
        """Processor time that it has used."""
        return cpu_s(self._process.pid)

    @property
    def memory_mb(self) -> float:
        """Memory that it holds, in MiB."""
        return memory_mb(self._process.pid)

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def end(self) -> None:
        """Stop it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def cpu_s(pid: int) -> float:
    """Processor time that a process has used, in seconds; 0 if it is gone."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_S
    return 0.0


def memory_mb(pid: int) -> float:
    """Memory that a process holds, in MiB.

    Raises:
      Failed: if it is gone.
    """
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    raise Failed(f"process {pid} has ended")


class Side:
    """A server with its load, ready to be measured."""

    def __init__(self, server: Process, load: Process) -> None:
        self._server = server
        self._load = load

    def measure(self, seconds: float) -> Measured:
        """Let the load play for so long, all else being at rest."""
        before_s = self._server.cpu_s
        self._load.tell(str(seconds))
        done = json.loads(self._load.line())
        return Measured(**done, cpu_s=self._server.cpu_s - before_s)

    def end(self) -> None:
        """Stop both."""
        for each in (self._load, self._server):
            each.end()


@contextlib.contextmanager
def bare_side(
    streams: int, ask_bytes: int, answer_bytes: int, path: str | None = None
) -> Iterator[Side]:
    """The bare ping-pong with messages of these lengths, one under way on each stream."""
    server = Process("bench.bare", str(ask_bytes), path=path)
    job = {"streams": streams, "answer_bytes": answer_bytes}
    with _loaded(server, job, path) as side:
        yield side


@contextlib.contextmanager
def arena_side(job: arena_server.Job, *, first: bool = False) -> Iterator[Side]:
    """The arena, with bots that answer by the first move or by one at random."""
    server = Process("bench.arena_server", json.dumps(asdict(job)))
    play = {"streams": job.streams, "game": job.game, "matches": job.matches, "first": first}
    with _loaded(server, play, None) as side:
        yield side


@contextlib.contextmanager
def _loaded(server: Process, job: dict[str, object], path: str | None) -> Iterator[Side]:
    started = [server]
    try:
        play = load.Job(address=server.line(), **job)  # type: ignore[arg-type]
        client = Process("bench.load", json.dumps(asdict(play)), path=path)
        started.append(client)
        client.line()
        yield Side(server, client)
    finally:
        for each in reversed(started):
            each.end()


@contextlib.contextmanager
def served(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[None]:
    """An arena that serves during the block: `arguments` of Python start it, `environment` has further variables.

    Raises:
      Failed: if it does not start.
    """
    process = subprocess.Popen(
        [sys.executable, *arguments, "--port", "0", "--take-all", "--drain", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ) | dict(environment or {}),
    )
    assert process.stdout is not None
    try:
        readable, _, _ = select.select([process.stdout], [], [], START_S)
        if not readable or "listens" not in process.stdout.readline():
            raise Failed("arena serve did not start")
        yield
    finally:
        process.terminate()
        try:
            process.wait(START_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
