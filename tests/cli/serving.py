"""`arena serve` as a process."""

import os
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.doubles.streams import PATIENCE_S

LONGEST_S = 300.0
"""After which a process is taken to hang, and killed. A busy machine takes many times as long as another one."""


def ended(process):
    """What a process that is about to end has still to print, once it has ended.

    `communicate` would pass over what came with the line that was read before.
    """
    process.wait(PATIENCE_S)
    return process.stdout.read(), process.stderr.read()


def children_of(pid):
    """The processes that a process has started; none if it has ended."""
    with suppress(FileNotFoundError):
        tasks = Path(f"/proc/{pid}/task").glob("*/children")
        return [int(word) for each in tasks for word in each.read_text("ascii").split()]
    return []


def is_alive(pid):
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@contextmanager
def served(data, *arguments, starter=()):
    """The address that it prints and the process, which is killed if it is still there; `starter` starts it in its place."""
    command = [sys.executable, "-c", "from arena.cli import main; main()", "serve", "--port", "0"]
    # The SDK, which tests import, sets it for its own process; the arena has to do so itself.
    environment = {name: os.environ[name] for name in os.environ if name != "GRPC_VERBOSITY"}
    process = subprocess.Popen(
        [*starter, *command, "--data", str(data), *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    timer = threading.Timer(LONGEST_S, process.kill)
    timer.start()
    try:
        line = process.stdout.readline()
        assert "The arena listens on" in line, process.stderr.read()
        yield line.split()[4].removesuffix("."), process
    finally:
        timer.cancel()
        process.kill()
        process.communicate()
