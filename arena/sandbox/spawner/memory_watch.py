"""The memory that all processes of a bot use together, and the processes that the kernel ended for want of memory.

The kernel limits the memory of each process. Only a control group limits that of a bot, so without one the spawner
checks often and ends a bot above its limit, before the kernel has to choose a process to end: it chooses a large
process, not a bot with many small ones.
"""

import contextlib
import os
import time
from collections.abc import Iterable, Iterator
from typing import Final

from arena.sandbox.spawner.memory_files import available_bytes
from arena.sandbox.spawner.order import MB, SCRATCH
from arena.sandbox.spawner.spawn import SpawnedProcess
from arena.sandbox.spawner.trial import end

CHECK_S: Final = 0.1
"""The time between two checks of the machine's memory, in seconds."""
LOOK_S: Final = 1.0
"""The longest time between two checks of the memory of bots, in seconds."""
_SCARCER: Final = 0.9
"""The share of the memory that was available at the last check below which a check is due at once."""
_SHORTAGE_S: Final = 2.0
"""The seconds after the kernel ended processes within which a bot that ends is taken to be one of them."""

_INODE_BYTES: Final = 1024
"""The bytes of each file in memory besides its content, as the kernel estimates them."""
_FREE_SOCKETS: Final = 16
"""The number of sockets of a bot that are not counted; it needs fewer for its connections."""
_CONTENT: Final = ("RssShmem:", "Pss_Shmem:")
_OTHER: Final = ("RssAnon:", "VmSwap:", "VmPTE:", "Pss_Anon:", "SwapPss:")


class MemoryWatch:
    """Ends bots without a control group that are above their limit."""

    def __init__(self) -> None:
        self._looked_s = self._short_s = -LOOK_S - _SHORTAGE_S
        self._available_bytes = 0
        self._kernel_kills = kernel_kills()
        self._excess_bytes: dict[int, int] = {}
        """The memory of bots that were ended for it, by process, until they are judged."""

    def look(self, bots: Iterable[SpawnedProcess]) -> None:
        """End the bots that are above their limit, if a check is due."""
        now_s, left_bytes = time.monotonic(), available_bytes()
        if now_s < self._looked_s + LOOK_S and left_bytes > _SCARCER * self._available_bytes:
            return
        self._looked_s, self._available_bytes = now_s, left_bytes
        for bot in bots:
            if bot.group is None and bot.pid not in self._excess_bytes:
                namespaces = bot.inside > 0
                root = bot.inside if namespaces else bot.pid
                excess = excess_bytes(root, bot.memory_bytes, namespaces=namespaces)
                if excess:
                    self._excess_bytes[bot.pid] = excess
                    end(bot)

    def judge(self, bot: SpawnedProcess) -> dict[str, object]:
        """Return how memory contributed to the end of a bot, as fields of its report.

        `over_limit` has the memory for which it was ended, in words. `by_shortage` is set if the kernel ended it within
        its limit because the memory of the machine ran out.
        """
        if bot.group is not None:
            reached, killed = bot.group.memory_events()
            excess = bot.memory_bytes if reached and killed else 0
            by_shortage = bool(killed and not reached)
        else:
            excess = self._excess_bytes.pop(bot.pid, 0)
            by_shortage = self._is_short() and not excess
        over = (
            f"it used {-(-excess // MB)} MB of memory, and its limit is {bot.memory_bytes // MB} MB"
        )
        return {"over_limit": over if excess else "", "by_shortage": by_shortage}

    def _is_short(self) -> bool:
        """Return whether the kernel has just ended processes for want of memory."""
        killed, now_s = kernel_kills(), time.monotonic()
        if killed > self._kernel_kills:
            self._kernel_kills, self._short_s = killed, now_s
        return now_s < self._short_s + _SHORTAGE_S


def excess_bytes(root: int, limit_bytes: int, *, namespaces: bool) -> int:
    """Return the memory of a bot that uses more than its limit; 0 if it does not.

    It counts private and shared memory of the descendants of `root`, swapped or not, with its page tables. In
    `namespaces` it also counts the files in the bot's file systems in memory, and its sockets as if they were full.

    Args:
      root: The process of the sandbox that started the bot, which is not counted.
      namespaces: Whether the bot has namespaces of files and of the network, which are those of `root`.
    """
    if next(_descendants(root), None) is None:
        return 0  # the namespaces are not made yet
    files, kernel = _of_namespaces(root) if namespaces else (0, 0)
    # Shared pages count in each process that has them: never too little, and cheaper to read.
    if _bytes(root, "status", files) + kernel <= limit_bytes:
        return 0
    # It is read twice, because the share of a process that ends between two reads moves to another.
    used = min(_bytes(root, "smaps_rollup", files) + kernel for _ in range(2))
    return used if used > limit_bytes else 0


def kernel_kills() -> int:
    """Return the number of processes of the machine that the kernel ended for want of memory."""
    with open("/proc/vmstat", encoding="ascii") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("oom_kill ")), 0)


def _bytes(root: int, name: str, files: int) -> int:
    """Return the memory by a file of `/proc` of each process; `files` may be mapped too, and count once."""
    content = other = 0
    for pid in _descendants(root):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/{name}", encoding="utf-8") as file:
            for line in file:
                key, _, value = line.partition("\t" if name == "status" else " ")
                if key in _CONTENT:
                    content += int(value.split()[0])
                elif key in _OTHER:
                    other += int(value.split()[0])
    return max(content << 10, files) + (other << 10)


def _descendants(root: int) -> Iterator[int]:
    left = [root]
    while left:
        with contextlib.suppress(OSError):
            tasks = f"/proc/{left.pop()}/task"
            for task in os.listdir(tasks):
                with contextlib.suppress(OSError), open(f"{tasks}/{task}/children") as file:
                    children = [int(pid) for pid in file.read().split()]
                    left += children
                    yield from children


def _of_namespaces(root: int) -> tuple[int, int]:
    """Return the bytes of files in memory, and of other kernel memory for files and sockets."""
    files = kernel = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for folder in (SCRATCH, "/dev/shm"):  # noqa: S108 - file systems of the sandbox alone
            usage = os.statvfs(f"/proc/{root}/root{folder}")
            files += (usage.f_blocks - usage.f_bfree) * usage.f_frsize
            kernel += (usage.f_files - usage.f_ffree) * _INODE_BYTES
        with open(f"/proc/{root}/net/sockstat", encoding="ascii") as file:
            sockets = int(file.readline().split()[2])
        with open("/proc/sys/net/core/wmem_default", encoding="ascii") as file:
            kernel += max(0, sockets - _FREE_SOCKETS) * int(file.read())
    return files, kernel
