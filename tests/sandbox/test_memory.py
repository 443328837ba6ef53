"""No bot holds much more memory than its limit, and a bot that the kernel ends for want of memory is not charged."""

import json
import os
import platform
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest
import trio

from arena.sandbox.command import BotCommand
from arena.sandbox.output import read_output
from arena.sandbox.process import BotProcess, launch
from arena.sandbox.sandbox import Sandbox, SandboxedProcess
from arena.sandbox.spawner import memory_watch
from arena.sandbox.spawner.control_group import ControlGroup
from arena.sandbox.spawner.memory_watch import MemoryWatch
from arena.sandbox.spawner.order import MB, Level, ResourceLimits
from tests.programs import require
from tests.sandbox.memory_hogs import HEAD, HOGS, TAIL

LIMIT = ResourceLimits(memory_bytes=64 * MB)
ENDED_S = 20
"""Longest time until a hog is ended; its memory is bounded by the program itself."""


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    require("bubblewrap")
    with Sandbox(data=tmp_path_factory.mktemp("data"), most=Level.S2) as raised:
        if raised.level is not Level.S2:
            pytest.skip(f"no sandbox of S2 here: {raised.why_not_better}")
        yield raised


def command(folder, name, code, limits=LIMIT):
    path = folder / name / "bot.py"
    path.parent.mkdir(parents=True)
    path.write_text(code)
    return BotCommand(name, (sys.executable, "-S", str(path)), limits)


async def watched(process, full):
    """Lines of several processes may be one."""
    await process.watch(lambda line: full.set() if "full" in line else None)
    full.set()


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="hogs know the calls of x86-64 only")
@pytest.mark.parametrize("hog", HOGS, ids=[hog.what for hog in HOGS])
def test_a_hog_is_ended_and_told_or_refused_and_its_rival_plays_on(hog, sandbox, tmp_path):
    rival = "print('here', flush=True)\nimport time\ntime.sleep(600)"

    async def main():
        run = tmp_path / "run"
        rivals = await launch(command(tmp_path, "rival", rival), run / "rival", {}, sandbox=sandbox)
        hogs = await launch(
            command(tmp_path, "hog", HEAD + hog.code + TAIL), run / "hog", {}, sandbox=sandbox
        )
        async with trio.open_nursery() as nursery:
            here, full = trio.Event(), trio.Event()
            nursery.start_soon(rivals.watch, lambda _: here.set())
            nursery.start_soon(watched, hogs, full)
            with trio.move_on_after(ENDED_S):
                await here.wait()
                await (hogs.exited if hog.ended else full).wait()
            assert rivals.returncode is None
            ended = hogs.how_it_ended
            nursery.cancel_scope.cancel()
        lines = [line.text for line in read_output(hogs.output)]
        if hog.ended:
            assert ended.startswith("ended by the sandbox: it used "), lines
            assert ended.endswith(" MB of memory, and its limit is 64 MB")
            assert lines[-1] == ended
        else:
            assert not hogs._process.over_limit
        assert not any("SyntaxError" in line or "NameError" in line for line in lines), lines
        if hog.refused:
            assert any(hog.refused in line for line in lines), lines
        assert not any(each.ended_by_shortage for each in (rivals, hogs))

    trio.run(main)


@pytest.mark.slow
def test_as_much_memory_as_allowed_is_no_fault(sandbox, tmp_path):
    """Memory that processes share counts once, and so do files that they have mapped."""
    code = """
import mmap, os, time
private = b"x" * (25 << 20)
with open("/dev/shm/file", "w+b") as file:
    file.write(bytes(12 << 20))
    shared = mmap.mmap(file.fileno(), 12 << 20)
for _ in range(6):
    if os.fork() == 0:
        sum(shared[at] for at in range(0, 12 << 20, 4096))
        time.sleep(600)
time.sleep(2.5)
print("fits")
"""

    async def main():
        process = await launch(
            command(tmp_path, "bot", code), tmp_path / "run" / "bot", {}, sandbox=sandbox
        )
        await process.watch()
        return [line.text for line in read_output(process.output)]

    assert "fits" in trio.run(main)


# fmt: off
PROGRAMS = [
    # program   words                                      what it prints
    (sys.executable, ["-c", "import ctypes; f = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda n: n + 1); print(f(41))"], "42"),
    (sys.executable, ["-c", "import multiprocessing.shared_memory as m; s = m.SharedMemory(create=True, size=4096); s.unlink(); print(s.size)"], "4096"),
    (sys.executable, ["-c", "import shutil, os; t = os.environ['TMPDIR']; shutil.copyfile(os.__file__, t + '/x'); print(open(t + '/x').read() == open(os.__file__).read())"], "True"),
    ("node",  ["-e", "const fs = require('fs'); fs.copyFileSync(process.execPath.replace(/.*/, '/usr/bin/env'), process.env.TMPDIR + '/x'); const w = new (require('worker_threads').Worker)('new SharedArrayBuffer(65536)', {eval: true}); w.on('exit', c => console.log('exit', c))"], "exit 0"),
    ("java",  ["--version"], "openjdk"),
    ("java",  ["-XX:+UseParallelGC", "--version"], "openjdk"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "words", "said"),
    PROGRAMS,
    ids=["closures of libffi", "shared memory of Python", "copies of Python", "Node.js", "Java", "Java, parallel"],
)  # fmt: skip
def test_programs_run_without_what_the_filter_refuses(program, words, said, sandbox, tmp_path):
    if program != sys.executable:
        require(program)
    path = shutil.which(program)
    run = BotCommand("bot", (path, *words), ResourceLimits(memory_bytes=1024 * MB))
    assert said in " ".join(_printed(run, sandbox, tmp_path))


def _printed(bot, sandbox, tmp_path):
    async def main():
        process = await launch(bot, tmp_path / "run" / "bot", {}, sandbox=sandbox)
        await process.watch()
        return [line.text for line in read_output(process.output)]

    return trio.run(main)


GO = """
package main
import ("fmt"; "io"; "net"; "os")
func main() {
	file, _ := os.Open(os.Args[0])
	defer file.Close()
	listener, err := net.Listen("unix", os.Getenv("TMPDIR") + "/s")
	if err != nil { panic(err) }
	go func() {
		c, _ := net.Dial("unix", os.Getenv("TMPDIR") + "/s")
		_, err := io.Copy(c, io.LimitReader(file, 1 << 20))
		if err != nil { panic(err) }
		c.Close()
	}()
	c, _ := listener.Accept()
	n, _ := io.Copy(io.Discard, c)
	fmt.Println("copied", n)
}
"""
CPP = """
#include <iostream>
#include <thread>
#include <vector>
int main() {
    std::vector<int> made(1 << 20, 1);
    std::thread([&] { made[0] = 2; }).join();
    std::cout << "made " << made[0] << std::endl;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("compiler", "name", "source", "said"),
    [
        ("go", "bot.go", GO, "copied 1048576"),
        ("g++", "bot.cpp", CPP, "made 2"),
    ],
    ids=["Go", "C++"],
)
def test_compiled_programs_run_without_what_the_filter_refuses(
    compiler, name, source, said, sandbox, tmp_path
):
    require(compiler)
    folder = tmp_path / "compiled"
    folder.mkdir()
    (folder / name).write_text(source)
    options = ["build", "-o", "bot", name] if compiler == "go" else ["-pthread", "-o", "bot", name]
    environment = {**os.environ, "GOCACHE": str(tmp_path / "cache"), "GOFLAGS": ""}
    subprocess.run([compiler, *options], cwd=folder, env=environment, check=True)
    bot = BotCommand("bot", (str(folder / "bot"),), ResourceLimits(memory_bytes=1024 * MB))
    assert any(said in line for line in _printed(bot, sandbox, tmp_path))


# Who was ended by whom.


@pytest.fixture
def machine(monkeypatch):
    """A machine whose memory and clock the test sets."""
    state = SimpleNamespace(
        kills=3, now_s=100.0, available_bytes=1000 * MB, excess_bytes={}, ended=[]
    )
    monkeypatch.setattr(memory_watch, "kernel_kills", lambda: state.kills)
    monkeypatch.setattr(memory_watch, "available_bytes", lambda: state.available_bytes)
    monkeypatch.setattr(memory_watch, "time", SimpleNamespace(monotonic=lambda: state.now_s))
    monkeypatch.setattr(memory_watch, "end", state.ended.append)
    monkeypatch.setattr(
        memory_watch, "excess_bytes", lambda root, limit, **_: state.excess_bytes.get(root, 0)
    )
    return state


def bot(pid=7, group=None):
    return SimpleNamespace(pid=pid, inside=pid, group=group, memory_bytes=64 * MB)


# fmt: off
ENDS = [
    # the kernel's kills, and s before the end  its own excess   told                                       charged  why
    (0, 0.0,                                    0,               "",                                         True,   "it ended by itself"),
    (1, 0.0,                                    0,               "",                                         False,  "the kernel has just ended a process"),
    (1, 1.5,                                    0,               "",                                         False,  "the kernel ended a process a moment ago"),
    (1, 2.5,                                    0,               "",                                         True,   "the kernel ended another one earlier"),
    (1, 0.0,                                    70 * MB,         "it used 70 MB of memory, and its limit is 64 MB", True, "the one that was above its limit"),
]
# fmt: on


@pytest.mark.parametrize(
    ("kills", "before_s", "excess", "told", "charged", "why"), ENDS, ids=[row[-1] for row in ENDS]
)
def test_a_bot_that_the_kernel_ends_within_its_limit_is_not_charged(
    kills, before_s, excess, told, charged, why, machine
):
    watch, ended = MemoryWatch(), bot()
    machine.excess_bytes[7] = excess
    watch.look([ended])
    machine.kills += kills
    if before_s:
        watch.judge(bot(8))
        machine.now_s += before_s
    verdict = watch.judge(ended)
    assert verdict == {"over_limit": told, "by_shortage": not charged}
    assert machine.ended == ([ended] if excess else [])


# fmt: off
REPORTS = [
    # the spawner's report                           how it ended                                                    by shortage
    ({"ended": -9},                                  "ended by signal 9",                                            False),
    ({"ended": -9, "over_limit": "it used 70 MB"},   "ended by the sandbox: it used 70 MB",                          False),
    ({"ended": -9, "by_shortage": True},             "ended by the kernel, as the memory of the machine ran out",    True),
]
# fmt: on


@pytest.mark.parametrize(("report", "how", "by_shortage"), REPORTS, ids=[row[1] for row in REPORTS])
def test_a_report_of_the_spawner_is_told(report, how, by_shortage, tmp_path):
    async def main():
        sandbox = SimpleNamespace(is_short=False)
        ends = [os.pipe() for _ in range(2)]
        os.write(ends[1][1], json.dumps(report).encode() + b"\n")
        process = SandboxedProcess(sandbox, 1, ends[0][0], ends[1][0], None)
        await process.wait()
        await process.output.aclose()
        for _, written in ends:
            os.close(written)
        told = BotProcess(None, process, tmp_path)
        assert told.how_it_ended == how
        assert (told.ended_by_shortage, sandbox.is_short) == (by_shortage, by_shortage)

    trio.run(main)


# fmt: off
EVENTS = [
    # oom  oom_kill  told                                                       by shortage  why
    (0,    0,        "",                                                        False,       "it ended by itself"),
    (1,    2,        "it used 64 MB of memory, and its limit is 64 MB",         False,       "its own limit"),
    (0,    2,        "",                                                        True,        "the memory of the machine, or of a group above"),
]
# fmt: on


@pytest.mark.parametrize(
    ("oom", "killed", "told", "by_shortage", "why"), EVENTS, ids=[row[-1] for row in EVENTS]
)
def test_a_control_group_knows_whose_limit_it_was(oom, killed, told, by_shortage, why, machine, tmp_path):  # fmt: skip
    (tmp_path / "memory.events").write_text(f"low 0\nhigh 0\nmax 9\noom {oom}\noom_kill {killed}\n")
    verdict = MemoryWatch().judge(bot(group=ControlGroup(str(tmp_path))))
    assert verdict == {"over_limit": told, "by_shortage": by_shortage}


# fmt: off
LOOKS = [
    # s later  MB available  looked  why
    (0.1,      1000,         1,      "a moment later"),
    (1.0,      1000,         2,      "a second later"),
    (0.1,      890,          2,      "memory gets scarce"),
]
# fmt: on


@pytest.mark.parametrize(("later_s", "left", "looks", "why"), LOOKS, ids=[row[-1] for row in LOOKS])
def test_a_look_is_due(later_s, left, looks, why, machine, monkeypatch):
    roots = []
    monkeypatch.setattr(memory_watch, "excess_bytes", lambda root, *_, **__: roots.append(root))
    watch = MemoryWatch()
    watch.look([bot()])
    machine.now_s += later_s
    machine.available_bytes = left * MB
    watch.look([bot()])
    assert len(roots) == looks
