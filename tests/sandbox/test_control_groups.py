"""Sandbox level S3 on a real kernel: what bounds a bot's processes together, and stops them between its moves.

Machines seldom delegate control groups to whom tests run as; `scripts/boot-sandbox` boots one that does.
"""

import sys
import time
from pathlib import Path

import pytest
import trio

from arena.sandbox.command import BotCommand
from arena.sandbox.output import read_output
from arena.sandbox.process import launch
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.spawner.order import MB, Level, ResourceLimits
from tests.programs import require

pytestmark = pytest.mark.slow

CHILDREN = """
import os, time
def child(work):
    if os.fork() == 0:
        try:
            work()
        finally:
            os._exit(0)
"""


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    require("bubblewrap")
    with Sandbox(data=tmp_path_factory.mktemp("data")) as raised:
        if raised.level is not Level.S3:
            pytest.skip(
                f"no sandbox of S3 here (scripts/boot-sandbox has one): {raised.missing[0].why}"
            )
        yield raised


@pytest.fixture
def run(sandbox, tmp_path):
    """Runs a bot's program; `act` may do something to its process meanwhile."""

    def ran(code, limits=None, act=None):
        folder = tmp_path / "bot"
        folder.mkdir()
        (folder / "bot.py").write_text(CHILDREN + code)
        command = BotCommand("bot", (sys.executable, str(folder / "bot.py")), limits)

        async def main():
            process = await launch(command, tmp_path / "bots" / "bot", {}, sandbox=sandbox)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(process.watch)
                if act is not None:
                    await act(process)
                    nursery.cancel_scope.cancel()
            return process

        process = trio.run(main)
        printed = [line.text for line in read_output(process.output) if not line.by_arena]
        return process, printed

    return ran


def processes_with(word):
    """The processes of the machine whose command has a word."""
    processes = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                if word in (path / "cmdline").read_bytes():
                    processes.append(int(path.name))
            except OSError:
                pass
    return processes


def test_memory_of_all_processes_is_bounded_and_the_bot_ends_as_a_whole(run):
    """Each process has its own limit of 256 MB, and three with 100 MB each are above that of the bot."""
    code = """
for n in range(3):
    child(lambda: (b"x" * (100 << 20), time.sleep(60)))
time.sleep(60)
"""
    process, _ = run(code, ResourceLimits(memory_bytes=256 * MB))
    assert process.returncode in {-9, 137}


def test_as_much_memory_as_allowed_is_no_fault(run):
    _, printed = run('x = b"x" * (100 << 20)\nprint("fits")', ResourceLimits(memory_bytes=256 * MB))
    assert printed == ["fits"]


def test_processes_are_bounded(run):
    code = """
started = 1
try:
    for n in range(20):
        child(lambda: time.sleep(60))
        started += 1
except OSError as error:
    print(started, type(error).__name__)
"""
    _, printed = run(code, ResourceLimits(processes=8))
    # Where limits count bubblewrap's processes too, up to two fewer.
    count, error = printed[0].split()
    assert 6 <= int(count) <= 8
    assert error == "BlockingIOError"


def test_a_bot_of_one_process_runs(run):
    _, printed = run('print("one")', ResourceLimits(processes=3))
    assert printed == ["one"]


def test_processors_are_bounded(run):
    """Two processes that never sleep, on a machine of two processors, together use one."""
    code = """
import resource
def spin():
    until = time.monotonic() + 4
    while time.monotonic() < until:
        pass
begin = time.monotonic()
for n in range(2):
    child(spin)
for n in range(2):
    os.wait()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print((used.ru_utime + used.ru_stime) / (time.monotonic() - begin))
"""
    _, printed = run(code)
    assert 0.3 < float(printed[0]) < 1.2


def test_the_end_of_a_bot_is_the_end_of_its_processes(run, sandbox):
    code = """
child(lambda: (os.setpgid(0, 0), time.sleep(600)))
time.sleep(600)
"""

    async def act(process):
        await trio.sleep(3)
        assert processes_with(b"bot.py")

    run(code, act=act)
    deadline = time.monotonic() + 10
    while processes_with(b"bot.py") and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes_with(b"bot.py") == []


COUNTER = """
child(lambda: [None for _ in iter(int, 1)])
n = 0
while True:
    time.sleep(0.02)
    n += 1
    print(n)
"""


def test_a_frozen_bot_does_nothing_until_it_is_thawed(run):
    async def act(process):
        assert process.can_freeze
        counts = []
        for frozen in (False, True, False):
            process.freeze(frozen=frozen)
            await trio.sleep(1)  # what it printed before is read
            before = len(process.output.read_bytes())
            await trio.sleep(3)
            counts.append(len(process.output.read_bytes()) - before)
        assert counts[1] == 0
        assert counts[0] > 100
        assert counts[2] > 100

    run(COUNTER, act=act)


def test_a_frozen_bot_can_be_ended(run):
    async def act(process):
        await trio.sleep(2)
        process.freeze(frozen=True)
        await trio.sleep(0.2)

    run(COUNTER, act=act)
    assert processes_with(b"bot.py") == []


def test_the_group_of_an_ended_bot_is_removed(run, sandbox):
    run('print("one")')
    (group,) = [
        line[3:].strip()
        for line in Path("/proc/self/cgroup").read_text().splitlines()
        if line[:3] == "0::"
    ]
    beside = [
        path.name for path in Path(f"/sys/fs/cgroup{group}").parent.iterdir() if path.is_dir()
    ]
    assert "arena" in beside
    assert len(beside) <= 2  # that of the last bot may still end
