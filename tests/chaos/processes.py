"""Processes of a trial: an arena that is killed, frozen and started again, and bots.

Every child runs a module of this package and asks the kernel to end it with
its parent (`die_with_parent`), so that a test that is killed leaves nothing
behind. What a child prints goes to a file, which is looked at for its words.
"""

import asyncio
import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0
"""How long anything that must happen is waited for; far more than it takes."""
FAILING_DISK = "CHAOS_FAILING_DISK"
"""Variable of the environment that tells an arena how its disk is to fail."""
ANSWERS_KEPT = "CHAOS_ANSWERS_KEPT"
"""Variable of the environment that tells an arena how many answers its rules may keep, each of them."""
STRANGERS = "CHAOS_STRANGERS"
"""Variable of the environment that tells an arena which loopback addresses to take for other machines'."""
PARENT = "CHAOS_PARENT"
"""Variable of the environment that tells a child whose it is."""
GLANCE_S = 0.01
"""Between two looks at a process or a file: there is no event to wait for."""


class Stuck(AssertionError):
    """Something that must happen did not. The text says what."""


def die_with_parent():
    """Have the kernel kill this process when its parent ends. Linux only, elsewhere nothing."""
    parent = int(os.environ.pop(PARENT, os.getppid()))
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before this could be tied to it
            os._exit(1)


async def until(true, what, patience_s=PATIENCE_S):
    """Wait until `true()` is, and give its value.

    Raises:
      Stuck: if it is not in time; `what` says what was waited for.
    """
    end_s = time.monotonic() + patience_s
    while not (value := true()):
        if time.monotonic() > end_s:
            raise Stuck(f"waited {patience_s:g} s for {what}")
        await asyncio.sleep(GLANCE_S)
    return value


class Child:
    """A process that runs a module of this package."""

    def __init__(self, module, *arguments, log, **environment):
        """What it prints is appended to the file `log`; `environment` is added to this one."""
        self.log = log
        self._seen = log.stat().st_size if log.exists() else 0
        with log.open("ab") as file:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, *map(str, arguments)],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                env={**os.environ, PARENT: str(os.getpid()), **environment},
                start_new_session=True,
            )
        self.pid = self._process.pid

    @property
    def returncode(self):
        """How it ended: negative is a signal, None that it runs."""
        return self._process.poll()

    def words(self):
        """What this process has printed so far."""
        return self.log.read_bytes()[self._seen :].decode("utf-8", "replace")

    async def says(self, pattern, patience_s=PATIENCE_S):
        """Wait until it has printed something, and give the match of the pattern."""

        def look():
            found = re.search(pattern, self.words())
            if found is None and self.returncode is not None:
                raise Stuck(f"a child ended with {self.returncode}; it printed:\n{self.words()}")
            return found

        return await until(look, f"a child to print {pattern!r}", patience_s)

    def signal(self, number):
        """Send it a signal, if it runs."""
        if self.returncode is None:
            self._process.send_signal(number)

    def freeze(self):
        """Stop it as a debugger or a busy host would: it notices nothing."""
        self.signal(signal.SIGSTOP)

    def thaw(self):
        """Let it go on."""
        self.signal(signal.SIGCONT)

    def kill(self):
        """End it without a word, and what it started in its own group with it."""
        if self.returncode is None:
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    async def ended(self, patience_s=PATIENCE_S):
        """Wait for its end, and give its exit code."""
        await until(lambda: self.returncode is not None, "a child to end", patience_s)
        return self.returncode


class Server:
    """An arena in a process of its own, on one port and one data folder over all its lives."""

    def __init__(self, data, *, drain_s=120.0, log=None):
        self.data = data
        self.log = log or data.parent / f"{data.name}.log"
        self.port = 0
        self.generation = 0
        """Lives so far; what a bot is told belongs to one of them."""
        self.failing_disk = ""
        """How the disk of its next life fails: folder, number, deed."""
        self.answers_kept = 0
        """How many answers its rules may keep in its next life; 0 for as many as they do."""
        self.strangers = ""
        """A network of this machine that it takes for other machines', in its next life."""
        self._drain_s = drain_s
        self._child = None

    @property
    def address(self):
        """Where it listens, from its first life on."""
        return f"127.0.0.1:{self.port}"

    @property
    def child(self):
        """The process of its present life."""
        assert self._child is not None, "the server was not started"
        return self._child

    async def start(self):
        """Begin a life; returns once it listens."""
        self.generation += 1
        given = ("serve", "--data", self.data, "--port", self.port, "--drain", self._drain_s)
        # A machine that chaos makes late would refuse the very matches that are to be tried.
        given += ("--take-all",)
        told = {FAILING_DISK: self.failing_disk} if self.failing_disk else {}
        if self.answers_kept:
            told[ANSWERS_KEPT] = str(self.answers_kept)
        if self.strangers:
            told[STRANGERS] = self.strangers
        self._child = Child("tests.chaos.server", *given, log=self.log, **told)
        self.port = int((await self._child.says(r"listens on \S+:(\d+)"))[1])

    def kill(self):
        """End its life without a word."""
        self.child.kill()

    def drain(self):
        """Ask it to end when its matches have."""
        self.child.signal(signal.SIGTERM)

    def end(self):
        """End it however it is; for the end of a test."""
        if self._child is not None:
            self._child.thaw()
            self._child.kill()
