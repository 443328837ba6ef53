"""The disk fills up in the middle of play, and later there is room again.

Where this may mount, the data folder is a small file system in memory that is
made smaller than what is about to be written; elsewhere the server's process
is forbidden to let any file grow.
"""

import asyncio
import contextlib
import os
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path
from random import Random

from tests.chaos.case import Violation
from tests.chaos.processes import Stuck, until
from tests.chaos.report import Figure, Report
from tests.chaos.scenarios.killed_server import SHORT_GAMES, orders
from tests.chaos.trial import Trial

ROOM_BYTES = 1 << 30
"""Of the small file system while there is room; nothing is taken up by that."""


class SmallDisk:
    """A folder whose disk can be filled and emptied. Use as a context."""

    def __init__(self):
        self.mounted = False

    def __enter__(self):
        self._temporary = tempfile.TemporaryDirectory(prefix="cardarena-chaos-disk-")
        self.folder = Path(self._temporary.name)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM_BYTES}", "tmpfs", str(self.folder)]
        self.mounted = os.geteuid() == 0 and _quietly(mount)
        return self

    def __exit__(self, *_):
        if self.mounted:
            _quietly(["umount", "--lazy", str(self.folder)])
        self._temporary.cleanup()

    def fill(self, pid, data, left_bytes):
        """Leave so much room; `pid` is the process that is to have no more."""
        if self.mounted:
            self._resize(shutil.disk_usage(self.folder).used + left_bytes)
        else:
            longest = max(path.stat().st_size for path in (data / "journal").iterdir())
            _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (longest + left_bytes, hard))

    def empty(self):
        """Make room again; a process that was limited is not served by this."""
        if self.mounted:
            self._resize(ROOM_BYTES)

    def _resize(self, size_bytes):
        pages_bytes = -(-size_bytes // 4096) * 4096
        options = f"remount,size={pages_bytes}"
        subprocess.run(["mount", "-o", options, str(self.folder)], check=True)


def _quietly(command):
    with contextlib.suppress(OSError):
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    return False


async def full_disk(seed, *, matches, rounds=1, left_bytes=16_384, patience_s=20.0):
    """Fill the disk so many times with matches in play, and make room after each."""
    random = Random(seed)
    wanted = orders(random, 8, SHORT_GAMES)
    stopped, violations = 0, []
    with SmallDisk() as disk:
        async with Trial(seed=seed, folder=disk.folder) as trial:
            for number in range(8):
                trial.bot(f"bot{number}", think_s=0.01)
            await trial.all_welcome()
            for _ in range(rounds):
                while len(trial.running()) < matches:
                    await trial.order(next(wanted))
                await asyncio.sleep(random.uniform(0.1, 0.5))
                disk.fill(trial.server.child.pid, trial.data, random.randrange(left_bytes))
                violations += await _starve(trial, wanted, matches, patience_s)
                stopped += trial.server.child.returncode is not None
                await trial.kill()
                disk.empty()
                await trial.restart()
            for bot in trial.bots.values():
                bot.think_s = 0.0
            await trial.all_ended()
            violations += trial.verdict()
            played = len(trial.orders)
    return Report(violations=violations).add(
        Figure("disks filled" if disk.mounted else "files forbidden to grow", rounds),
        Figure("times that the arena ended by itself", stopped),
        Figure("matches, all ended after there was room", played),
        Figure.at_most("moves lost, doubled or changed", len(violations), "", 0),
    )


async def _starve(trial, wanted, matches, patience_s):
    """Play on until the arena has ended by itself, or all stands still."""

    def over():
        return trial.server.child.returncode is not None or not trial.running()

    with contextlib.suppress(Stuck):
        await until(over, "the arena to notice", patience_s)
    words = trial.server.child.words()
    if "Traceback" in words:
        where = words[words.index("Traceback") :][-400:]
        return [Violation("a full disk is told in a sentence, not a traceback", where)]
    code = trial.server.child.returncode
    if code == 0:
        return [Violation("an arena that cannot write exits with an error", "it exited with 0")]
    return []
