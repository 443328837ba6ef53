"""`arena web` as a process: its address and its use of resources."""

import contextlib
import gzip
import http.client
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.processes import Failed, cpu_s, memory_mb

UP_S: Final = 120.0
"""Longest time in seconds until it listens."""
_LISTENS: Final = re.compile(r"Pages are at http://([^:/]+):(\d+)/")


@dataclass(frozen=True, slots=True)
class WebProcess:
    """`arena web` of one folder."""

    pid: int
    host: str
    port: int

    @property
    def address(self) -> str:
        """The address of its pages."""
        return f"http://{self.host}:{self.port}"

    @property
    def cpu_s(self) -> float:
        """CPU time of it and its workers, in seconds."""
        return sum(map(cpu_s, self._pids()))

    @property
    def memory_mb(self) -> float:
        """Its memory, without its workers."""
        return memory_mb(self.pid)

    def get(self, path: str) -> tuple[bytes, int]:
        """Return a page and its compressed size.

        Raises:
          Failed: if there is none.
        """
        connection = http.client.HTTPConnection(self.host, self.port, timeout=UP_S)
        with contextlib.closing(connection):
            connection.request("GET", path, headers={"accept-encoding": "gzip"})
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != http.client.OK:
                raise Failed(f"{path} is answered by {answer.status}")
            packed = answer.getheader("content-encoding") == "gzip"
            return gzip.decompress(body) if packed else body, len(body)

    def _pids(self) -> list[int]:
        found, waiting = [], [self.pid]
        while waiting:
            pid = waiting.pop()
            found.append(pid)
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                waiting += map(int, task.read_text("ascii").split())
        return found


@contextlib.contextmanager
def web_of(data: Path) -> Iterator[WebProcess]:
    """Serve the pages of a folder.

    Raises:
      Failed: if it does not start.
    """
    command = [sys.executable, "-m", "arena", "web", "--port", "0", "--data", str(data)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        readable, _, _ = select.select([process.stdout], [], [], UP_S)
        found = _LISTENS.match(process.stdout.readline()) if readable else None
        if found is None:
            raise Failed("arena web does not come up")
        yield WebProcess(process.pid, found[1], int(found[2]))
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
