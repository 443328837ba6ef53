"""Programs as processes of their own, and what they use of the machine."""

import contextlib
import json
import os
import re
import select
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from arena.store.data_folder import read_notice

PATIENCE_S: Final = 30.0
"""A process that prints nothing for so long hangs."""
START_S: Final = 120.0
"""Longest start, and longest end, of an arena with its workers."""
_TICKS_S: Final = os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """A process ended or hangs. The text says which."""


class Process:
    """A program of this package, which prints a line when it is ready and after each line of its input."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._name = module
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def line(self, busy_s: float = 0.0) -> str:
        """Return its next line; for `busy_s` it may be at work.

        Raises:
          Failed: if it ends first, or prints nothing for long.
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
        """Write a line to its input."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")

    @property
    def cpu_s(self) -> float:
        """The processor time that it has used, in seconds."""
        return cpu_s(self._process.pid)

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def end(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


@contextlib.contextmanager
def played(server: Process, module: str, job: Mapping[str, object]) -> Iterator[Process]:
    """Run the bots of a program on a server, from when they are ready; their job gets the server's address."""
    with contextlib.ExitStack() as stack:
        stack.callback(server.end)
        bots = Process(module, json.dumps({"address": server.line(), **job}))
        stack.callback(bots.end)
        bots.line()
        yield bots


def status_of(data: Path) -> dict[str, Any]:
    """Return the status of the arena that runs in a data folder."""
    notice = read_notice(data)
    assert notice is not None
    with urllib.request.urlopen(
        notice.metrics.replace("/metrics", "/status"), timeout=START_S
    ) as page:
        status: dict[str, Any] = json.load(page)
        return status


def cpu_s(pid: int) -> float:
    """Return the processor time of a process in seconds; 0 if it is gone."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_S
    return 0.0


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    children: list[str] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            children += task.read_text("ascii").split()
    return list(map(int, children))


def computing_processes(pid: int) -> list[int]:
    """Return the processes that a process has started as `ProcessPool` does."""
    return [child for child in children_of(pid) if "spawn_main" in _command(child)]


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    return ""


def memory_mb(pid: int) -> float:
    """Return the resident memory of a process in MiB.

    Raises:
      Failed: if it is gone.
    """
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    raise Failed(f"process {pid} has ended")


@contextlib.contextmanager
def running(
    *words: str, first_line: str, environment: Mapping[str, str] | None = None
) -> Iterator[tuple[int, re.Match[str]]]:
    """Run this Python with `words` during the block; yields the process and its first line as a match.

    Raises:
      Failed: if it does not start.
    """
    process = subprocess.Popen(
        [sys.executable, *words],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | dict(environment or {}),
    )
    assert process.stdout is not None
    try:
        readable, _, _ = select.select([process.stdout], [], [], START_S)
        match = re.search(first_line, process.stdout.readline()) if readable else None
        if match is None:
            raise Failed(f"{' '.join(words[:3])} did not start")
        yield process.pid, match
    finally:
        process.terminate()
        try:
            process.wait(START_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


@contextlib.contextmanager
def served(*words: str, environment: Mapping[str, str] | None = None) -> Iterator[int]:
    """Serve an arena during the block: `words` of Python start it; yields its process.

    Raises:
      Failed: if it does not start.
    """
    words = (*words, "--port", "0", "--take-all", "--drain", "0")
    with running(*words, first_line="listens", environment=environment) as (pid, _):
        yield pid
