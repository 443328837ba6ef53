"""A bot that wants out: it is shown the way without a sandbox first, and then does not find it."""

import contextlib
import ctypes
import fcntl
import mmap
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

from arena.bots.bot_python import bot_python
from arena.sandbox.command import BotCommand
from arena.sandbox.output import read_output
from arena.sandbox.process import launch
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.spawner.order import Level, ResourceLimits
from tests.programs import require
from tests.sandbox import channels
from tests.sandbox.channels import CHANNELS
from tests.sandbox.probes import HEAD, OF_MANIFESTS, PROBES, Probe

LIMITS = ResourceLimits(memory_bytes=2 << 30, cpu_s=2)
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


@pytest.fixture(
    scope="module",
    params=[(Level.S3, False), (Level.S2, False), (Level.S2, True), (Level.S1, False)],
    ids=["S3", "S2", "memory", "S1"],
)
def sandbox(request, outside):
    """A sandbox of just this level; without one, a machine of continuous integration fails."""
    level, in_memory = request.param
    if level is not Level.S1:
        require("bubblewrap")
    with Sandbox(data=outside.data, most=level, limits=LIMITS, in_memory=in_memory) as raised:
        if raised.level is not level:
            why = next(missing.why for missing in raised.missing if missing.level is level)
            if os.environ.get("CI") and level is not Level.S3:
                pytest.fail(f"no sandbox of {level} here: {why}")
            pytest.skip(f"no sandbox of {level} here: {why}")
        yield raised


def command_of(path, outside, sandbox, *words, limits=None):
    """How a program of Python is started: as a submitted bot, where its files are to be in memory."""
    if sandbox is None or sandbox.why_disk:
        return BotCommand("bot", (sys.executable, *words, str(path)), limits)
    python = str(bot_python(outside.bots.parent / "python"))
    return BotCommand("bot", (python, *words, str(path)), limits, files=path.parent)


def name_of(sandbox):
    if sandbox is None:
        return "S0"
    return sandbox.level if sandbox.why_disk else "memory"


def printed(probe, outside, sandbox=None, limits=None):
    """What the program of a probe printed, and how it ended."""
    own = "-asked" if limits else ""
    folder = outside.bots / f"{name_of(sandbox)}-{(*PROBES, *OF_MANIFESTS).index(probe)}{own}"
    folder.mkdir(parents=True)
    told = "".join(f"{name} = {value!r}\n" for name, value in outside.told().items())
    path = folder / "bot.py"
    path.write_text(HEAD + told + probe.code)
    command = command_of(path, outside, sandbox, limits=limits)

    async def main():
        process = await launch(command, outside.data / "bots" / folder.name, {}, sandbox=sandbox)
        await process.watch()
        return process

    process = trio.run(main)
    lines = [line.text for line in read_output(process.output) if not line.by_arena]
    return lines, process.how_it_ended


def named(probes):
    return {"argvalues": probes, "ids": [f"{probe.number}: {probe.what}" for probe in probes]}


def in_a_chroot():
    """Whether the root is no mount: there Linux changes no mounts and makes no namespaces of users."""
    mounts = Path("/proc/self/mountinfo").read_text("utf-8").splitlines()
    return all(line.split()[4] != "/" for line in mounts)


@pytest.mark.slow
@pytest.mark.parametrize("probe", **named([probe for probe in PROBES if probe.plain]))
def test_without_a_sandbox_the_way_out_is_one(probe, outside):
    if (
        probe.number == 14
        and ("namespace" in probe.what or probe.what == "mount")
        and in_a_chroot()
    ):
        pytest.skip("there is no such way out of a chroot")
    if os.getuid() != 0 and (probe.number in {8, 14, 16, 17} or probe.what == "userfaultfd"):
        pytest.skip("only root gets that far")
    lines, how = printed(probe, outside)
    assert any(line.startswith("escaped") for line in lines), (lines, how)


@pytest.mark.slow
@pytest.mark.parametrize("probe", **named(PROBES))
def test_behind_the_sandbox_there_is_no_way_out(probe, outside, sandbox):
    if sandbox.level is Level.S1 and not probe.s1:
        pytest.skip("S1 has no file system of its own to bound: docs/sandbox.md says so")
    if sandbox.level is Level.S1 and os.getuid() != 0 and probe.number == 10:
        pytest.skip("S1 without a user of its own reaches what its user may: docs/sandbox.md")
    lines, how = printed(probe, outside, sandbox)
    assert not any(line.startswith("escaped") for line in lines), (lines, how)
    # It was tried: the program ran, and was refused.
    assert not any("SyntaxError" in line or "NameError" in line for line in lines), lines


ASKED = ResourceLimits(memory_bytes=256 << 20, processes=8, cpu_s=LIMITS.cpu_s)
"""As a manifest asks for, with memory_mb = 256 and processes = 8."""


@pytest.mark.parametrize("probe", **named(OF_MANIFESTS))
def test_a_bot_has_the_limits_of_its_manifest(probe, outside, sandbox):
    got_out, _ = printed(probe, outside, sandbox)
    assert any(line.startswith("escaped") for line in got_out), "any bot may use so much"
    lines, how = printed(probe, outside, sandbox, ASKED)
    assert not any(line.startswith("escaped") for line in lines), (lines, how)
    assert not any("SyntaxError" in line or "NameError" in line for line in lines), lines


def test_no_manifest_asks_for_more_than_any_bot_has():
    asked = ResourceLimits(memory_bytes=4 * LIMITS.memory_bytes, processes=2)
    assert asked.within(LIMITS).memory_bytes == LIMITS.memory_bytes
    assert asked.within(LIMITS).processes == 2


READ_S = 1_600_000_000
"""A time between those that a shared file has and now."""


def leaves_memory(file):
    """Whether the first page of a file is dropped from memory: not at once, if the kernel is still busy with it."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    fd = os.open(file, os.O_RDONLY)
    try:
        at = ctypes.c_void_p(
            libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, fd, ctypes.c_long(0))
        )
        is_in_memory = ctypes.create_string_buffer(1)
        for _ in range(100):
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            assert libc.mincore(at, ctypes.c_size_t(4096), is_in_memory) == 0
            if not is_in_memory.raw[0] & 1:
                return True
            os.sync()
        return False
    finally:
        libc.munmap(at, 4096)
        os.close(fd)


def heard(channel, folder, sandbox=None, *, outside=None, alone=False):
    """Whether the second of two bots in a folder hears the first, or the first the second.

    If `alone`, the one that should be heard does nothing.
    """
    shared = folder / "both" / "shared"
    shared.parent.mkdir(parents=True)
    with shared.open("wb") as file:
        for place in range(8):  # more pieces than ext4 keeps in an inode
            file.seek(place << 20)
            file.write(bytes(4096))
            os.fsync(file.fileno())
    if channel.number == 25 and not leaves_memory(shared):
        pytest.skip("this kernel keeps a file in memory that it is asked to drop")
    os.utime(shared, (READ_S - 2, READ_S - 1))
    named = f"KEY = {os.getpid() << 8 | CHANNELS.index(channel)}\nREAD_S = {READ_S}\n"
    codes = {"first": channel.first, "second": channel.second}
    if alone:
        codes |= {"second": ""} if channel.first_hears else {"first": "ready(hold=False)"}
    for name, code in codes.items():
        (folder / f"{name}.py").write_text(channels.HEAD + named + code)

    async def one(name, is_ready=None, done=None):
        process = await launch(
            command_of(folder / f"{name}.py", outside, sandbox, "-S"),
            folder.parent / "run" / f"{folder.name}-{name}",
            {},
            sandbox=sandbox,
        )

        def on_line(line):
            if line == "ready":
                is_ready.set()

        await process.watch(on_line)
        if is_ready is not None:
            is_ready.set()
        printed[name] = [line.text for line in read_output(process.output) if not line.by_arena]

    printed = {}

    async def main():
        is_ready = trio.Event()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one, "first", is_ready)
            await is_ready.wait()
            await one("second")
            if not channel.first_hears:
                nursery.cancel_scope.cancel()

    trio.run(main)
    lines = printed["first" if channel.first_hears else "second"]
    assert not any("SyntaxError" in line or "NameError" in line for line in lines), lines
    return "heard" in lines


@pytest.mark.slow
@pytest.mark.parametrize("channel", **named(CHANNELS))
def test_without_a_sandbox_two_bots_can_signal_to_each_other(channel, tmp_path):
    if why := unusable(channel, tmp_path):
        pytest.skip(why)
    both = tmp_path / "both"
    is_heard = heard(channel, both)
    if not is_heard and channel.what == "marks of ext4" and not is_marked(both):
        pytest.skip("this kernel forgot the mark, as it may when memory is short")
    assert is_heard
    assert not heard(channel, tmp_path / "one", alone=True), "what is heard is not the other bot"


def is_marked(folder):
    """Whether the shared file of two bots has the mark that the first one set (`EXT4_IOC_GETSTATE`)."""
    with (folder / "both" / "shared").open("rb") as file:
        state = fcntl.ioctl(file.fileno(), 0x40046629, bytes(4))
    return bool(state[0] & 1)


def unusable(channel, folder):
    """Why a channel does not work on this machine without a sandbox either; empty if it does."""
    file_system = subprocess.check_output(
        ["stat", "-f", "-c", "%T", str(folder)], text=True
    ).strip()
    if channel.what == "marks of ext4" and "ext" not in file_system:
        return f"the file system is {file_system}"
    if channel.number == 25 and file_system in {"tmpfs", "ramfs"}:
        return f"files of {file_system} are always in memory"
    if channel.what == "times of reading" and os.statvfs(folder).f_flag & os.ST_NOATIME:
        return "the file system has no times of reading"
    release = tuple(map(int, platform.release().split(".")[:2]))
    if channel.what == "cachestat" and release < (6, 5):
        return "the call is newer than this kernel"
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("channel", **named(CHANNELS))
def test_sandboxed_bots_cannot_signal_to_each_other(channel, outside, sandbox):
    if sandbox.level is Level.S1 and not channel.s1:
        pytest.skip("S1 has no mounts of its own: docs/sandbox.md says so")
    name = f"{name_of(sandbox)}-channel-{CHANNELS.index(channel)}"
    assert not heard(channel, outside.bots / name, sandbox, outside=outside)


DAEMON = """
import os, sys, time
if os.fork() == 0:
    try:
        os.setsid()
    except PermissionError:
        pass
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-S", "-c", "import time; time.sleep(600)", "{}"])
    os._exit(0)
time.sleep(0.3)
"""


def pids_of(mark):
    """Who has a word in its command line."""
    processes = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if mark.encode() in words and b"-S" in words:
                processes.append(int(folder.name))
    return processes


def run_daemon(outside, mark, sandbox):
    path = outside.bots / f"{mark}.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(DAEMON.format(mark))
    command = command_of(path, outside, sandbox)

    async def main():
        process = await launch(command, outside.data / "bots" / mark, {}, sandbox=sandbox)
        with trio.move_on_after(3):
            await process.watch()

    trio.run(main)


@pytest.mark.slow
def test_a_daemon_outlives_a_bot_that_is_not_sandboxed(outside):
    mark = f"daemon-{os.getpid()}-S0"
    run_daemon(outside, mark, None)
    left = pids_of(mark)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left


def test_no_daemon_outlives_a_sandboxed_bot(outside, sandbox):
    mark = f"daemon-{os.getpid()}-{name_of(sandbox)}"
    run_daemon(outside, mark, sandbox)
    deadline = time.monotonic() + 2
    while pids_of(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert pids_of(mark) == []


def test_all_bots_end_with_the_arena(outside):
    """Its end of the socket is closed when it is killed, too."""
    command = BotCommand("bot", (sys.executable, "-c", SLEEPER, mark := f"orphan-{os.getpid()}"))
    for most in (Level.S2, Level.S1):
        sandbox = Sandbox(data=outside.data, most=most)
        if sandbox.level is Level.S0:
            sandbox.close()
            continue

        async def main(sandbox=sandbox, most=most):
            await launch(command, outside.data / "bots" / f"orphan-{most}", {}, sandbox=sandbox)

        trio.run(main)
        sandbox.close()
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
        11: "tests/sandbox/test_play_socket.py",
        21: "above, by a daemon",
        22: "no archive is read here",
    }
    tried = {each.number for each in (*PROBES, *CHANNELS)}
    assert tried | set(elsewhere) == set(range(1, 27))
    assert all(isinstance(probe, Probe) for probe in PROBES)
