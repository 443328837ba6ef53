"""A bot that wants out: it is shown the way without a jail first, and then does not find it."""

import contextlib
import os
import platform
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import trio

from arena.jail import BotCommand, Level, Limits, Wall, launch, read_output
from tests.jail.probes import HEAD, OF_MANIFESTS, PROBES, Probe

LIMITS = Limits(memory_bytes=2 << 30, cpu_s=2)
TOKEN = "arena_of-a-neighbour"
SLEEPER = "import time; time.sleep(600)"

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the probes know the numbers of calls of x86-64 only"
)


class Outside:
    """What a bot must not reach: a data folder, processes, sockets."""

    def __init__(self, folder):
        self.data = folder / "data"
        (self.data / "journal").mkdir(parents=True)
        for name in ("journal/deals", "arena.db", "arena-key"):
            (self.data / name).write_text("secret")
        self.bots = folder / "bots"
        self.open = contextlib.ExitStack()
        kinds = ((socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM))
        self.tcp, self.udp = (self.open.enter_context(socket.socket(*each)) for each in kinds)
        self.abstract = self.open.enter_context(socket.socket(socket.AF_UNIX))
        self.foreign = self.open.enter_context(socket.socket(socket.AF_UNIX))
        for each in (self.tcp, self.udp):
            each.bind(("127.0.0.1", 0))
        self.abstract.bind(f"\0arena-probe-{os.getpid()}")
        self.foreign_path = folder / "foreign.sock"
        self.foreign.bind(str(self.foreign_path))
        for each in (self.tcp, self.abstract, self.foreign):
            each.listen(16)
        self.neighbour = subprocess.Popen(
            [sys.executable, "-S", "-c", SLEEPER], env={"CARDARENA_TOKEN": TOKEN}
        )

    def close(self):
        self.open.close()
        self.neighbour.kill()
        self.neighbour.wait()

    def told(self):
        """What the bot would have found out."""
        return {
            "DATA": str(self.data),
            "AT_HOME": str(next(path for path in Path.home().iterdir() if path.is_file())),
            "NEIGHBOUR": self.neighbour.pid,
            "ARENA": os.getpid(),
            "TCP": self.tcp.getsockname()[1],
            "UDP": self.udp.getsockname()[1],
            "ABSTRACT": f"arena-probe-{os.getpid()}",
            "FOREIGN": str(self.foreign_path),
            "TOKEN": TOKEN,
        }


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    made = Outside(tmp_path_factory.mktemp("outside"))
    yield made
    made.close()


@pytest.fixture(scope="module", params=[Level.S3, Level.S2, Level.S1])
def wall(request, outside):
    """A wall of just this level; without one, a machine of continuous integration fails."""
    with Wall(data=outside.data, most=request.param, limits=LIMITS) as raised:
        if raised.level is not request.param:
            why = next(each.why for each in raised.missing if each.level is request.param)
            if os.environ.get("CI") and request.param is not Level.S3:
                pytest.fail(f"no jail of {request.param} here: {why}")
            pytest.skip(f"no jail of {request.param} here: {why}")
        yield raised


def printed(probe, outside, wall=None, limits=None):
    """What the program of a probe printed, and how it ended."""
    own = "-asked" if limits else ""
    folder = (
        outside.bots
        / f"{wall.level if wall else 'S0'}-{(*PROBES, *OF_MANIFESTS).index(probe)}{own}"
    )
    folder.mkdir(parents=True)
    told = "".join(f"{name} = {value!r}\n" for name, value in outside.told().items())
    path = folder / "bot.py"
    path.write_text(HEAD + told + probe.code)
    command = BotCommand("bot", (sys.executable, str(path)), limits)

    async def main():
        process = await launch(command, outside.data / "bots" / folder.name, {}, wall=wall)
        await process.watch()
        return process

    process = trio.run(main)
    lines = [line.text for line in read_output(process.output) if not line.by_arena]
    return lines, process.how_it_ended


def named(probes):
    return {"argvalues": probes, "ids": [f"{each.number}: {each.what}" for each in probes]}


@pytest.mark.parametrize("probe", **named([each for each in PROBES if each.plain]))
def test_without_a_jail_the_way_out_is_one(probe, outside):
    if os.getuid() != 0 and (probe.number in {8, 14, 16, 17} or probe.what == "userfaultfd"):
        pytest.skip("only root gets that far")
    lines, how = printed(probe, outside)
    assert any(line.startswith("escaped") for line in lines), (lines, how)


@pytest.mark.parametrize("probe", **named(PROBES))
def test_behind_the_wall_there_is_no_way_out(probe, outside, wall):
    if wall.level is Level.S1 and not probe.s1:
        pytest.skip("S1 has no file system of its own to bound: docs/jail.md says so")
    if wall.level is Level.S1 and os.getuid() != 0 and probe.number == 10:
        pytest.skip("S1 without a user of its own reaches what its user may: docs/jail.md")
    lines, how = printed(probe, outside, wall)
    assert not any(line.startswith("escaped") for line in lines), (lines, how)
    # It was tried: the program ran, and was refused.
    assert not any("SyntaxError" in line or "NameError" in line for line in lines), lines


ASKED = Limits(memory_bytes=256 << 20, processes=8, cpu_s=LIMITS.cpu_s)
"""As a manifest asks for, with memory_mb = 256 and processes = 8."""


@pytest.mark.parametrize("probe", **named(OF_MANIFESTS))
def test_a_bot_gets_no_more_than_its_manifest_asks_for(probe, outside, wall):
    got_out, _ = printed(probe, outside, wall)
    assert any(line.startswith("escaped") for line in got_out), "any bot may use so much"
    lines, how = printed(probe, outside, wall, ASKED)
    assert not any(line.startswith("escaped") for line in lines), (lines, how)
    assert not any("SyntaxError" in line or "NameError" in line for line in lines), lines


def test_no_manifest_asks_for_more_than_any_bot_has():
    asked = Limits(memory_bytes=4 * LIMITS.memory_bytes, processes=2)
    assert asked.within(LIMITS).memory_bytes == LIMITS.memory_bytes
    assert asked.within(LIMITS).processes == 2


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-S", "-c", "import time; time.sleep(600)", "{}"])
    os._exit(0)
time.sleep(0.3)
"""


def pids_of(mark):
    """Who has a word in its command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if mark.encode() in words and b"-S" in words:
                found.append(int(folder.name))
    return found


def run_daemon(outside, mark, wall):
    path = outside.bots / f"{mark}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(DAEMON.format(mark))
    command = BotCommand("bot", (sys.executable, str(path)))

    async def main():
        process = await launch(command, outside.data / "bots" / mark, {}, wall=wall)
        with trio.move_on_after(3):
            await process.watch()

    trio.run(main)


def test_a_daemon_outlives_a_bot_that_is_not_jailed(outside):
    mark = f"daemon-{os.getpid()}-S0"
    run_daemon(outside, mark, None)
    left = pids_of(mark)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left


def test_no_daemon_outlives_a_jailed_bot(outside, wall):
    mark = f"daemon-{os.getpid()}-{wall.level}"
    run_daemon(outside, mark, wall)
    deadline = time.monotonic() + 2
    while pids_of(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert pids_of(mark) == []


def test_all_bots_end_with_the_arena(outside):
    """Its end of the socket is closed when it is killed, too."""
    command = BotCommand("bot", (sys.executable, "-c", SLEEPER, mark := f"orphan-{os.getpid()}"))
    for most in (Level.S2, Level.S1):
        wall = Wall(data=outside.data, most=most)
        if wall.level is Level.S0:
            wall.close()
            continue

        async def main(wall=wall, most=most):
            await launch(command, outside.data / "bots" / f"orphan-{most}", {}, wall=wall)

        trio.run(main)
        wall.close()
        deadline = time.monotonic() + 3
        while (left := pids_with(mark)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert left == [], most


def pids_with(mark):
    """Who has a word in its command line, whoever it is."""
    return [
        int(folder.name)
        for folder in Path("/proc").glob("[0-9]*")
        if folder.name != str(os.getpid()) and mark.encode() in _command_line(folder)
    ]


def _command_line(folder):
    with contextlib.suppress(OSError):
        return (folder / "cmdline").read_bytes()
    return b""


def test_probes_are_of_all_the_escapes():
    elsewhere = {
        11: "tests/jail/test_play_socket.py",
        21: "above, by a daemon",
        22: "no archive is read here",
    }
    assert {each.number for each in PROBES} | set(elsewhere) == set(range(1, 23))
    assert all(isinstance(each, Probe) for each in PROBES)
