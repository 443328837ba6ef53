"""What a process takes of its machine, as Linux tells it."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

SAMPLE_S = 0.05
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_KB = os.sysconf("SC_PAGE_SIZE") // 1024


@dataclass(frozen=True)
class Use:
    """What a process takes at one moment."""

    rss_kb: int
    fds: int
    wakers: int
    """Of the files, those with which threads wake one another: they come and go with threads."""
    threads: int
    cpu_s: float
    """Used so far."""


def use_of(pid):
    """What a process takes now."""
    process = Path(f"/proc/{pid}")
    files = list(_files_of(process))
    fields = (process / "stat").read_text("utf-8").rpartition(")")[2].split()
    return Use(
        rss_kb=int((process / "statm").read_text("utf-8").split()[1]) * _PAGE_KB,
        fds=len(files),
        wakers=sum(each.startswith("anon_inode:") for each in files),
        threads=int(fields[17]),
        cpu_s=(int(fields[11]) + int(fields[12])) / _TICKS_PER_S,
    )


def _files_of(process):
    for each in (process / "fd").iterdir():
        try:
            yield str(each.readlink())
        except FileNotFoundError:  # closed meanwhile
            continue


class Peak:
    """The most that a process takes while the block runs."""

    def __init__(self, pid):
        self._pid = pid
        self.rss_kb = self.fds = 0

    async def __aenter__(self):
        self._task = asyncio.ensure_future(self._watch())
        return self

    async def __aexit__(self, *_):
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _watch(self):
        while True:
            use = use_of(self._pid)
            self.rss_kb, self.fds = max(self.rss_kb, use.rss_kb), max(self.fds, use.fds)
            await asyncio.sleep(SAMPLE_S)
