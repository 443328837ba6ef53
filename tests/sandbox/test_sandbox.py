"""What a sandboxed bot may see, what it is told of what it may not, and how levels are found."""

import errno
import json
import os
import shutil
import struct
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest
import trio

import cardarena
from arena.sandbox.command import SDK_ARGV, BadCommand, BotCommand, house_argv
from arena.sandbox.hidden_files import hidden
from arena.sandbox.output import read_output
from arena.sandbox.process import launch
from arena.sandbox.sandbox import (
    MissingLevel,
    NoSandbox,
    Sandbox,
    SandboxDemand,
    SandboxTrial,
    raise_sandbox,
)
from arena.sandbox.spawner import kernel, landlock, trial
from arena.sandbox.spawner.__main__ import Spawner
from arena.sandbox.spawner.bubblewrap import arguments
from arena.sandbox.spawner.control_group import ControlGroups, NoGroups
from arena.sandbox.spawner.order import Level, ResourceLimits, SpawnOrder, order_of
from arena.sandbox.spawner.reachable_paths import closed_folder
from arena.sandbox.spawner.seccomp import NoFilter, filter_program
from arena.sandbox.spawner.spawn import CannotSpawn, SpawnMethod, start
from arena.sandbox.spawner.trial import with_cure
from arena.sandbox.visible_files import VisibleFiles, runtime_of, visible_to, why_never
from tests.programs import require

MEMORY_BYTES = 1 << 30


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder with bots and an arena in it."""
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    made = tmp_path / "ann"
    for name in (
        "bots/one/bot.py",
        "bots/one/net.pt",
        "arena/bot.py",
        "arena/beside.py",
        "arena/data/arena.db",
        "arena/data/x.py",
        "bot.py",
        ".ssh/id",
        "models/net.pt",
    ):
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return made


# fmt: off
SEES = [
    # the bot's file     folder?  why
    ("bots/one/bot.py",  True,    "a folder of the bot's own"),
    ("arena/bot.py",     True,    "a folder that holds the data of the arena"),
    ("arena/data/x.py",  False,   "the data of the arena"),
    ("bot.py",           False,   "the home folder itself"),
    (".ssh/id",          False,   "where keys are"),
]
# fmt: on


@pytest.mark.parametrize(("name", "folder", "why"), SEES, ids=[row[-1] for row in SEES])
def test_a_bot_sees_its_folder_unless_that_is_more_than_its_own(name, folder, why, home):
    command = BotCommand("bot", (sys.executable, str(home / name)))
    seen = visible_to(command, home / "arena" / "data")
    assert seen.holds(home / name)
    assert seen.holds((home / name).with_name("beside.py")) is folder
    assert (seen.alone is None) is folder
    assert not seen.holds(home / "arena" / "data" / "arena.db")
    assert not seen.holds(home / "models")


@pytest.mark.parametrize("program", [sys.executable, "/bin/sh"])
def test_a_bot_behind_the_bridge_sees_its_folder_and_the_sdk(program, home):
    bot = home / "bots" / "one" / "bot.py"
    command = BotCommand("bot", (*SDK_ARGV, "bridge", "--", program, str(bot)))
    seen = visible_to(command, home / "arena" / "data")
    assert seen.holds(bot.with_name("beside.py"))
    assert seen.holds(Path(sys.executable))
    assert seen.holds(Path(cardarena.__file__))
    assert not seen.holds(home / "arena" / "data" / "arena.db")


# fmt: off
LINKS = [
    # in the folder of the bot    shown?  why
    ("arena/beside.py",          True,   "a link to a file beside it"),
    ("arena/data/arena.db",      False,  "a link into the data of the arena"),
    ("models/net.pt",            False,  "a link out of the folder"),
]
# fmt: on


@pytest.mark.parametrize(("target", "shown", "why"), LINKS, ids=[row[-1] for row in LINKS])
def test_a_link_beside_the_data_shows_only_what_is_shown_without_it(target, shown, why, home):
    (home / "arena" / "link").symlink_to(home / target)
    command = BotCommand("bot", (sys.executable, str(home / "arena" / "bot.py")))
    seen = visible_to(command, home / "arena" / "data")
    assert seen.holds(home / target) is shown
    assert seen.holds(home / "arena" / "link") is shown


@pytest.mark.parametrize("folder", ["/", "/home", "/etc", "/tmp", "/proc", "/var"])
def test_no_folder_of_the_system_is_a_bots_own(folder, tmp_path):
    assert why_never(Path(folder), tmp_path)


def test_a_user_without_a_home_folder_can_launch_bots(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("nobody")))
    assert not why_never(tmp_path / "bots", tmp_path / "data")


def test_a_bot_sees_read_only_paths_and_the_python_with_the_sdk(home):
    command = BotCommand("bot", (sys.executable, str(home / "bots/one/bot.py")))
    seen = visible_to(command, home / "arena" / "data", (home / "models",))
    assert seen.holds(home / "models" / "net.pt")
    for prefix in (sys.prefix, sys.base_prefix):
        assert seen.holds(Path(prefix) / "bin")


def test_a_program_brings_what_is_installed_beside_it_and_what_it_links_to(tmp_path):
    real = tmp_path / "node-20" / "bin" / "node"
    real.parent.mkdir(parents=True)
    real.write_text("")
    link = tmp_path / "tools" / "bin" / "node"
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    assert set(runtime_of(str(link))) == {tmp_path / "tools", tmp_path / "node-20"}


def test_an_environment_of_the_systems_python_brings_a_link_and_no_whole_system(tmp_path):
    program = tmp_path / "venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.symlink_to("/usr/bin/python3")
    (tmp_path / "venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    folders = runtime_of(str(program))
    assert {tmp_path / "venv", Path("/usr/bin/python3")} <= set(folders)
    assert not {Path("/usr"), Path("/usr/bin")} & set(folders)


def test_a_bot_of_node_sees_the_packages_above_it_and_those_linked_there(home):
    project = home / "bots" / "one"
    for path in (home / "sdk" / "index.js", project / "dist" / "bot.js", project / "package.json"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (project / "node_modules").mkdir()
    (project / "node_modules" / "cardarena").symlink_to(home / "sdk")
    command = BotCommand("bot", ("/usr/bin/node", str(project / "dist" / "bot.js")))
    seen = visible_to(command, home / "arena" / "data")
    for path in (project / "node_modules", project / "package.json", home / "sdk" / "index.js"):
        assert seen.holds(path)
    assert not seen.holds(project / "net.pt")


def test_a_path_of_classes_is_seen_part_by_part(home):
    jars = [home / "bots" / "one" / "bot.jar", home / "models" / "lib.jar"]
    for jar in jars:
        jar.write_text("")
    command = BotCommand("bot", ("/usr/bin/java", "-cp", ":".join(map(str, jars)), "Main"))
    seen = visible_to(command, home / "arena" / "data")
    assert all(seen.holds(jar) for jar in jars)


def told(text, home, *, alone=None):
    visible = VisibleFiles((home / "bots" / "one",), alone=alone)
    return hidden(text, visible, home / "arena" / "data", memory_bytes=MEMORY_BYTES)


# fmt: off
HIDDEN = [
    # printed                                                        told of it
    ("FileNotFoundError: [Errno 2] No such file: '{home}/models/net.pt'", ["the sandbox hides ~/models: add --ro ~/models"], "a file: its folder is offered"),
    ("cannot list {home}/models.",                                   ["the sandbox hides ~/models: add --ro ~/models"], "a folder, at the end of a sentence"),
    ("No such file: '{home}/bot.py'",                                ["the sandbox hides ~/bot.py: add --ro ~/bot.py"], "a file at home: never its folder"),
    ("No such file: '{home}/no/such'",                               [], "there is none"),
    ("No such file: '{home}/arena/data/arena.db'",                   [], "the arena's data are never offered"),
    ('File "{home}/bots/one/bot.py", line 3',                        [], "what it saw"),
    ("MemoryError",                                                  ["the sandbox gives each process 1024 MB of memory"], "memory"),
    ("OSError: [Errno 30] Read-only file system: 'x'",               ["a sandboxed bot can write only to its TMPDIR, which is deleted when it ends"], "writing"),
    ("OSError: [Errno 97] Address family not supported by protocol", ["a sandboxed bot has no network"], "the network"),
    ("all is well",                                                  [], "nothing"),
]
# fmt: on


@pytest.mark.parametrize(("text", "said", "why"), HIDDEN, ids=[row[-1] for row in HIDDEN])
def test_a_failure_explains_what_the_sandbox_hid(text, said, why, home):
    assert told(text.format(home=home), home) == said


def test_a_module_beside_a_bot_that_is_alone_is_offered(home):
    (home / "helper.py").write_text("")
    said = told("ModuleNotFoundError: No module named 'helper'", home, alone=home / "bot.py")
    assert said == ["the sandbox hides ~/helper.py: add --ro ~/helper.py"]


def printed(sandbox, tmp_path, code, *, data=None):
    bot = tmp_path / "bots" / "bot.py"
    bot.parent.mkdir(exist_ok=True)
    bot.write_text(code)

    async def main():
        command = BotCommand("bot", (sys.executable, str(bot)))
        process = await launch(
            command, tmp_path / "data" / "bot-0", {"GIVEN": "yes"}, sandbox=sandbox
        )
        await process.watch()
        return process

    process = trio.run(main)
    return [line.text for line in read_output(process.output)], process


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    with Sandbox(data=tmp_path_factory.mktemp("data")) as raised:
        if raised.level is Level.S0:
            pytest.skip(raised.why_not_better)
        yield raised


# fmt: off
ENDS = [
    ("raise SystemExit(3)",                          3,  "ended with exit code 3"),
    ("import os; os.kill(os.getpid(), 11)",        -11,  "ended by signal 11"),
    ("import os; os.execv('/nowhere', ['x'])",       1,  "ended with exit code 1"),
]
# fmt: on


@pytest.mark.parametrize(
    ("code", "returncode", "how"), ENDS, ids=[row[-1] + row[0] for row in ENDS]
)
def test_the_end_of_a_sandboxed_bot_is_reported(code, returncode, how, sandbox, tmp_path):
    lines, process = printed(sandbox, tmp_path, code)
    assert (process.returncode, process.how_it_ended) == (returncode, how)
    assert lines[1] == f"sandboxed at {sandbox.level}"
    assert lines[-1] == how
    assert not process.ended_with_spawner


def test_a_sandboxed_bot_has_its_folder_one_to_write_in_and_what_it_is_given(sandbox, tmp_path):
    code = (
        "import os, tempfile, threading, cardarena\n"
        "with tempfile.TemporaryFile() as file: file.write(b'x')\n"
        "thread = threading.Thread(target=print, args=(os.environ['GIVEN'],))\n"
        "thread.start(); thread.join()\n"
        "print(os.environ['HOME'] == os.environ['TMPDIR'] != os.getcwd())\n"
        "print(open('weights.txt').read())\n"
    )
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "weights.txt").write_text("its own file")
    lines, _ = printed(sandbox, tmp_path, code)
    assert sorted(lines[2:-1]) == ["True", "its own file", "yes"], lines


def test_a_bot_beside_the_arenas_data_runs_there_and_does_not_see_them(tmp_path):
    data = tmp_path / "bots" / "data"
    data.mkdir(parents=True)
    (tmp_path / "bots" / "weights.txt").write_text("its own file")
    code = "import os; print(open('weights.txt').read(), os.path.exists('data'))"
    with Sandbox(data=data) as sandbox:
        if sandbox.level is Level.S0:
            pytest.skip(sandbox.why_not_better)
        lines, _ = printed(sandbox, tmp_path, code)
    assert "its own file False" in lines, lines


PRIORITY = """
import os, time
until_s = time.monotonic() + 10
oom = "0"
while oom.strip() == "0" and time.monotonic() < until_s:  # without a sandbox it is put below once it runs
    try:
        oom = open("/proc/self/oom_score_adj").read()
    except OSError:
        oom = "hidden"
    time.sleep(0.01)
print(os.nice(0), oom)
try:
    os.nice(-1)
except PermissionError:
    print("it stays there")
"""


@pytest.mark.parametrize("is_sandboxed", [True, False])
def test_a_launched_bot_runs_below_the_arena(is_sandboxed, sandbox, tmp_path):
    lines, _ = printed(sandbox if is_sandboxed else None, tmp_path, PRIORITY)
    hidden = is_sandboxed and sandbox.level is Level.S1
    assert f"{min(os.nice(0) + 5, 19)} {'hidden' if hidden else 1000}" in lines, lines
    assert "it stays there" in lines or (os.getuid() == 0 and not is_sandboxed)


def test_a_sandboxed_bot_has_one_session(sandbox, tmp_path):
    """Where the kernel shares the processor among sessions, each has an equal share."""
    code = "import os\nif os.fork() == 0: os.setsid()\nelse: os.wait()"
    lines, _ = printed(sandbox, tmp_path, code)
    assert any("PermissionError" in line for line in lines), lines


SESSION = """
import time
def weight():
    try:
        return open("/proc/self/autogroup").read().split()[-1]
    except OSError:
        return "hidden"
until_s = time.monotonic() + 30
while weight() == "0" and time.monotonic() < until_s:
    time.sleep(0.01)
try:
    open("/proc/self/autogroup", "w").write("0")
except OSError:
    print(weight(), "and it stays there")
"""


def test_the_session_of_a_sandboxed_bot_has_a_third_of_the_weight(sandbox, tmp_path):
    lines, _ = printed(sandbox, tmp_path, SESSION)
    is_seen = Path("/proc/self/autogroup").exists() and sandbox.level is not Level.S1
    assert f"{5 if is_seen else 'hidden'} and it stays there" in lines, lines


# fmt: off
MACHINES = [
    (sys.executable, ["-c", "import os, multiprocessing; multiprocessing.Lock(); print(os.cpu_count())"],
     str(os.cpu_count()), "Python counts processors"),
    ("node", ["-e", "const os = require('os'); console.log(os.cpus().length, os.totalmem() >> 20)"],
     f"{len(os.sched_getaffinity(0))} {MEMORY_BYTES >> 20}", "Node.js counts processors and memory"),
    ("java", ["-XX:+PrintFlagsFinal", "-version"],
     f"size_t MaxHeapSize = {MEMORY_BYTES // 4}", "Java takes a quarter of the memory"),
]
# fmt: on


@pytest.mark.parametrize(
    ("program", "words", "said", "why"), MACHINES, ids=[row[-1] for row in MACHINES]
)
def test_the_machine_of_a_sandboxed_bot_is_what_it_may_use(program, words, said, why, tmp_path):
    if program != sys.executable:
        require(program)
    command = BotCommand("bot", (shutil.which(program), *words), ResourceLimits(MEMORY_BYTES))

    async def main():
        process = await launch(command, tmp_path / "data" / "bot", {}, sandbox=sandbox)
        await process.watch()
        return [" ".join(line.text.split()) for line in read_output(process.output)]

    with Sandbox(data=tmp_path / "data") as sandbox:
        if sandbox.level not in {Level.S2, Level.S3}:
            pytest.skip("S1 hides all of /proc")
        lines = trio.run(main)
    assert any(line.startswith(said) for line in lines), lines


def test_a_bot_with_private_files_is_readable_in_the_sandbox(sandbox, tmp_path):
    folder = tmp_path / "bots"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "part.py").write_text("word = 'read'")
    for path, mode in ((folder / "parts" / "part.py", 0o600), (folder / "parts", 0o700)):
        path.chmod(mode)
    folder.chmod(0o700)
    lines, _ = printed(sandbox, tmp_path, "from parts import part; print(part.word)")
    assert "read" in lines, lines


@pytest.mark.slow
def test_sigkill_follows_sigterm_after_a_second(sandbox, tmp_path):
    code = (
        "import signal, sys, time\n"
        "def end(*_):\n    print('good bye', flush=True)\n    sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, {})\n"
        "print('here', flush=True)\ntime.sleep(60)\n"
    )

    async def cancelled(process):
        with trio.CancelScope() as scope:
            await process.watch(lambda line: scope.cancel() if line == "here" else None)

    async def main(handler):
        bot = tmp_path / "bots" / "bot.py"
        bot.parent.mkdir(exist_ok=True)
        bot.write_text(code.format(handler))
        command = BotCommand("bot", (sys.executable, str(bot)))
        process = await launch(command, tmp_path / "data" / f"bot-{handler}", {}, sandbox=sandbox)
        await cancelled(process)
        return process.returncode

    assert trio.run(main, "end") == 0
    assert trio.run(main, "signal.SIG_IGN") == -9


# fmt: off
NO_PROGRAMS = [
    ("x",           0o755, "it is no program, nor a script", "neither a program nor a script"),
    ("#!/bin/sh\n", 0o644, "it is not executable: chmod [+]x makes it so", "not executable"),
    ("#!/bin/sh\r\n", 0o755, "its first line ends with a carriage return", "line ends of Windows"),
    ("#!/opt/none\n", 0o755, "its first line names /opt/none, which does not exist", "an interpreter that is missing"),
]
# fmt: on


@pytest.mark.parametrize(
    ("text", "mode", "said", "why"), NO_PROGRAMS, ids=[r[-1] for r in NO_PROGRAMS]
)
def test_a_file_that_is_no_program_is_refused_before_it_is_sandboxed(
    text, mode, said, why, sandbox, tmp_path
):
    path = tmp_path / "bot"
    path.write_bytes(text.encode())
    path.chmod(mode)

    async def main():
        await launch(
            BotCommand("bot", (str(path),)), tmp_path / "data" / "bot", {}, sandbox=sandbox
        )

    with pytest.raises(BadCommand, match=said):
        trio.run(main)


def test_without_a_sandbox_the_required_one_is_refused_and_says_why(tmp_path, monkeypatch):
    missing = MissingLevel(Level.S2, "bubblewrap is not installed: apt install bubblewrap")
    why = SandboxTrial(Level.S0, (missing,), "")
    monkeypatch.setattr(Sandbox, "_found", lambda self: why)
    with pytest.raises(NoSandbox, match="--sandbox require asks: bubblewrap is not installed: apt"):
        raise_sandbox(SandboxDemand.REQUIRE, data=tmp_path)
    with raise_sandbox(SandboxDemand.AUTO, data=tmp_path) as sandbox:
        assert sandbox.level is Level.S0
    assert raise_sandbox(SandboxDemand.OFF, data=tmp_path) is None


def test_a_start_without_a_spawner_fails_with_a_reason(tmp_path):
    with Sandbox(data=tmp_path) as sandbox:
        assert sandbox.level
        sandbox._process.kill()
        sandbox._process.wait()
        with pytest.raises(BadCommand, match="the spawner has ended"):
            printed(sandbox, tmp_path, "")


def test_a_bot_that_ends_because_its_spawner_did_is_known(tmp_path):
    async def main(sandbox):
        code = "import time; print('it runs', flush=True); time.sleep(60)"
        command = BotCommand("ann", (sys.executable, "-c", code))
        process = await launch(command, tmp_path / "ann", {}, sandbox=sandbox)
        with trio.fail_after(30):
            await process.watch(lambda _: sandbox._process.kill())
        assert process.ended_with_spawner

    with Sandbox(data=tmp_path) as sandbox:
        if sandbox.level is Level.S0:
            pytest.skip(sandbox.why_not_better)
        trio.run(main, sandbox)


def test_bubblewrap_is_never_started_as_root(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 0)
    order = SpawnOrder(("/bin/true",), {}, ())
    with pytest.raises(CannotSpawn, match="never started as root"):
        start(order, SpawnMethod(Level.S2, "/usr/bin/bwrap"), 1)


# fmt: off
REASONS = [
    ("bwrap: Unknown option --disable-userns", "bubblewrap 0.8.0 or newer is needed",  "an old one"),
    ("the sandbox does not hold: x\nmore",        "the sandbox does not hold: x",            "one line"),
]
# fmt: on


@pytest.mark.parametrize(("why", "said", "case"), REASONS, ids=[row[-1] for row in REASONS])
def test_why_a_level_is_not_available_is_one_line(why, said, case):
    assert said in with_cure(why)
    assert "\n" not in with_cure(why)


def test_an_order_is_the_same_after_json():
    order = SpawnOrder(("a", "b"), {"X": "é"}, ("/p",), "/s", "/f", ResourceLimits(processes=3))
    assert order_of(json.loads(json.dumps(asdict(order)))) == order


@pytest.mark.parametrize("change", [{"limits": None}, {"argv": None}, {"pixels": 3}])
def test_other_json_is_not_an_order(change):
    with pytest.raises(ValueError, match="not a spawn order"):
        order_of(asdict(SpawnOrder(("a",), {}, ())) | change)


def test_what_is_bound_beneath_the_scratch_folder_comes_after_it():
    order = SpawnOrder(("/x",), {}, ("/tmp/bot",))
    words = list(arguments(order, filter_fd=3, constant_fds={}, block_fd=-1, info_fd=-1))
    assert words.index("/tmp") < words.index("/tmp/bot")
    last = words[words.index("/tmp/bot") :]
    assert last[last.index("--remount-ro") + 1] == "/", "bubblewrap's own root has no bound"


def test_the_uppermost_closed_folder_is_found(tmp_path):
    inner = tmp_path / "closed" / "open"
    inner.mkdir(parents=True)
    (tmp_path / "closed").chmod(0o700)
    folder = closed_folder(str(inner))
    assert folder is not None
    assert str(inner).startswith(folder)
    assert closed_folder("/usr/bin") is None
    assert closed_folder("/no/such/path") is None


# The filter, run as the kernel would.


def run_filter(program, machine, number, *arguments):
    """What classic BPF comes to for a call, by a small machine of its own."""
    data = struct.pack("=IIQ6Q", number, machine, 0, *(*arguments, *[0] * (6 - len(arguments))))
    steps = list(struct.iter_unpack("=HBBI", program))
    at, held = 0, 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        if code == 0x06:
            return value
        if code == 0x20:
            (held,) = struct.unpack_from("=I", data, value)
            continue
        if code == 0x54:
            held &= value
            continue
        holds = {0x15: held == value, 0x25: held > value, 0x45: bool(held & value)}[code]
        at += if_true if holds else if_false


ALLOW, KILL = 0x7FFF_0000, 0x8000_0000
X86, ARM = 0xC000_003E, 0xC000_00B7


def refused(error):
    return 0x0005_0000 | error


FCNTLS = [5, 6, 7, 36, 37, 38, *range(1024, 1030), *range(1035, 1041)]
"""Locks, leases, notifications, hints, and what may come."""

# fmt: off
CALLS = [
    # machine   number arguments                 what becomes of it          why
    ("x86_64",  0,   (),                         ALLOW,                       "read"),
    ("x86_64",  41,  (1, 1),                     ALLOW,                       "a socket of this machine"),
    ("x86_64",  41,  (2, 1),                     refused(errno.EAFNOSUPPORT), "a socket of IPv4"),
    ("x86_64",  41,  (16, 3),                    refused(errno.EAFNOSUPPORT), "netlink"),
    ("x86_64",  53,  (1, 1),                     ALLOW,                       "a pair of sockets"),
    ("x86_64",  53,  (30, 1),                    refused(errno.EAFNOSUPPORT), "a pair of others"),
    ("x86_64",  56,  (0x3D0F00,),                ALLOW,                       "a thread"),
    ("x86_64",  56,  (0x1000_0011,),             refused(errno.EPERM),        "a namespace of users"),
    ("x86_64",  435, (),                         refused(errno.ENOSYS),       "clone3"),
    ("x86_64",  16,  (1, 0x5401),                ALLOW,                       "a question about the terminal"),
    ("x86_64",  16,  (1, 0x5412),                refused(errno.EPERM),        "typing at the terminal"),
    ("x86_64",  101, (),                         refused(errno.EPERM),        "ptrace"),
    ("x86_64",  9999, (),                        refused(errno.ENOSYS),       "a call of the future"),
    ("x86_64",  0x4000_0029, (2,),               refused(errno.ENOSYS),       "a socket by x32"),
    ("x86_64",  16,  (1, 0x541B),                ALLOW,                       "how much a pipe holds"),
    ("x86_64",  16,  (1, 0x8942),                ALLOW,                       "a question about a socket"),
    ("x86_64",  16,  (1, 0x6612),                refused(errno.ENOTTY),       "a mark of ext4"),
    ("x86_64",  16,  (1, 0x4004_6629),           refused(errno.ENOTTY),       "the marks of ext4"),
    ("x86_64",  72,  (1, 3),                     ALLOW,                       "the flags of a descriptor"),
    ("x86_64",  72,  (1, 1030),                  ALLOW,                       "a copy of a descriptor"),
    ("x86_64",  72,  (1, 1033),                  ALLOW,                       "seals of a file in memory"),
    *(("x86_64", 72, (1, each),                  refused(errno.EPERM),        f"fcntl {each}") for each in FCNTLS),
    ("x86_64",  72,  (1, 1 << 32 | 6),           refused(errno.EPERM),        "a lock with high bits that the kernel ignores"),
    ("x86_64",  0x4000_0048, (1, 6),             refused(errno.ENOSYS),       "a lock by x32"),
    ("x86_64",  73,  (1, 2),                     refused(errno.EPERM),        "flock"),
    ("x86_64",  253, (),                         refused(errno.EPERM),        "inotify, the older call"),
    ("x86_64",  294, (),                         refused(errno.EPERM),        "inotify"),
    ("x86_64",  300, (),                         refused(errno.EPERM),        "fanotify"),
    ("x86_64",  27,  (),                         refused(errno.EPERM),        "mincore"),
    ("x86_64",  451, (),                         refused(errno.EPERM),        "cachestat"),
    ("x86_64",  327, (1, 0, 1, 0, 0, 0),         ALLOW,                       "preadv2"),
    ("x86_64",  327, (1, 0, 1, 0, 0, 8),         refused(errno.EOPNOTSUPP),   "preadv2 with RWF_NOWAIT"),
    ("x86_64",  221, (1, 0, 0, 4),               refused(0),                  "advice to drop a file from memory is ignored"),
    ("x86_64",  28,  (0, 0, 4),                  ALLOW,                       "memory is given back"),
    *(("x86_64", 28, (0, 0, each),               refused(errno.EINVAL),       f"madvise {each}") for each in (12, 20, 21)),
    ("x86_64",  279, (),                         refused(errno.EPERM),        "whether others have a page"),
    ("x86_64",  137, (),                         refused(errno.EPERM),        "free blocks of the disk"),
    ("x86_64",  112, (),                         refused(errno.EPERM),        "a session of its own"),
    ("x86_64",  319, (),                         refused(errno.EPERM),        "a file in memory"),
    ("x86_64",  447, (),                         refused(errno.EPERM),        "a secret file in memory"),
    ("x86_64",  444, (),                         refused(errno.EPERM),        "rules of Landlock"),
    *(("x86_64", each, (),                       refused(errno.EINVAL),       f"pages for pipes and sockets by {each}") for each in (40, 275, 276, 278)),
    ("x86_64",  54,  (3, 1, 7),                  refused(0),                  "a larger buffer of a socket is ignored"),
    ("x86_64",  54,  (3, 1, 2),                  ALLOW,                       "another option of a socket"),
    ("x86_64",  54,  (3, 1, 26),                 refused(errno.EPERM),        "a filter of a socket"),
    ("x86_64",  54,  (3, 6, 7),                  ALLOW,                       "an option of another level"),
    ("aarch64", 279, (),                         refused(errno.EPERM),        "a file in memory on arm64"),
    ("aarch64", 71,  (),                         refused(errno.EINVAL),       "sendfile on arm64"),
    ("aarch64", 208, (3, 1, 7),                  refused(0),                  "a larger buffer on arm64"),
    ("aarch64", 25,  (1, 6),                     refused(errno.EPERM),        "a lock on arm64"),
    ("aarch64", 32,  (1, 2),                     refused(errno.EPERM),        "flock on arm64"),
    ("aarch64", 0,   (1,),                       refused(errno.EPERM),        "asynchronous files on arm64"),
    ("aarch64", 63,  (),                         ALLOW,                       "read on arm64"),
    ("aarch64", 198, (2, 1),                     refused(errno.EAFNOSUPPORT), "a socket of IPv4 on arm64"),
    ("aarch64", 117, (),                         refused(errno.EPERM),        "ptrace on arm64"),
    ("aarch64", 220, (0x2000_0000,),             refused(errno.EPERM),        "a namespace on arm64"),
]
# fmt: on


@pytest.mark.parametrize(
    ("machine", "number", "given", "found", "why"), CALLS, ids=[r[-1] for r in CALLS]
)
def test_the_filter_lets_a_call_pass_or_not(machine, number, given, found, why):
    name = X86 if machine == "x86_64" else ARM
    assert run_filter(filter_program(machine), name, number, *given) == found


def test_calls_of_another_machine_end_the_process():
    assert run_filter(filter_program("x86_64"), 0x4000_0003, 0) == KILL  # i386, on x86-64


def test_a_machine_without_a_filter_has_no_sandbox():
    with pytest.raises(NoFilter, match="no seccomp filter for riscv64"):
        filter_program("riscv64")


# Control groups, of a tree of files that is like the kernel's.


@pytest.fixture
def groups(tmp_path):
    scope = tmp_path / "sys" / "user.slice" / "arena.scope"
    scope.mkdir(parents=True)
    (scope / "cgroup.controllers").write_text("cpu memory pids\n")
    (scope / "cgroup.procs").write_text("")
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "cgroup").write_text("0::/user.slice/arena.scope\n")
    return tmp_path


def of(tree):
    return ControlGroups.of_this_process(str(tree / "sys"), str(tree / "proc"))


def test_a_group_bounds_what_a_bot_uses_in_all(groups):
    made = Path(of(groups).make(ResourceLimits(memory_bytes=1 << 20, processes=7)).path)
    assert (made / "memory.max").read_text() == "1048576"
    assert (made / "pids.max").read_text() == "9"  # bubblewrap has two
    assert (made / "cpu.max").read_text() == "100000 100000"
    assert (made / "cpu.weight.nice").read_text() == "5"
    assert (made / "memory.oom.group").read_text() == "1"


def test_a_second_sandbox_of_an_arena_makes_its_groups_beside_those_of_the_first(groups):
    first = Path(of(groups).make(ResourceLimits()).path)
    (groups / "proc" / "cgroup").write_text("0::/user.slice/arena.scope/arena\n")
    (first.parent / "arena" / "cgroup.controllers").write_text("cpu memory pids\n")
    (first.parent / "cgroup.subtree_control").write_text("cpu memory pids\n")
    assert of(groups)._path == str(first.parent)


# fmt: off
NO_GROUPS = [
    ("cgroup",             "1:name=systemd:/\n", "has no cgroup v2",   "cgroup v1"),
    ("cgroup.controllers", "hugetlb\n",          "lacks cpu, memory",  "without what is needed"),
]
# fmt: on


@pytest.mark.parametrize(("name", "text", "said", "why"), NO_GROUPS, ids=[r[-1] for r in NO_GROUPS])
def test_without_control_groups_the_reason_is_given(name, text, said, why, groups):
    (path,) = groups.rglob(name)
    path.write_text(text)
    with pytest.raises(NoGroups, match=said):
        of(groups)


# The trial.

TRIAL = """
import os, shutil, sys
from arena.sandbox.visible_files import runtime_of
from arena.sandbox.spawner import trial
from arena.sandbox.spawner.order import SpawnOrder, Level
from arena.sandbox.spawner.reachable_paths import ReachablePaths
trial.shutil.which = lambda name: sys.argv[1]
root = os.getuid() == 0
show = ReachablePaths().show if root else lambda path: None
show(sys.argv[1])
visible = tuple(map(str, runtime_of(sys.executable)))
for path in visible:
    show(path)
order = SpawnOrder((sys.executable,), {}, visible)
verdict = trial.try_levels(order, user=250_000 if root else -1, most=Level.S2)
print(verdict.level)
for level, why in verdict.missing:
    print(level, why)
"""
NO_WALLS = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n'


# fmt: off
BWRAPS = [
    (NO_WALLS,                                      "the sandbox does not hold: open",     "one that builds no sandbox"),
    ("#!/bin/sh\necho bwrap: No permissions; exit 1\n", "bwrap: No permissions",        "one that may not"),
    ("#!/bin/sh\nexit 0\n",                         "the trial run printed nothing",      "one that does nothing"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(("bwrap", "said", "why"), BWRAPS, ids=[row[-1] for row in BWRAPS])
def test_a_bubblewrap_that_is_there_proves_nothing(bwrap, said, why, tmp_path):
    closed = [each for each in Path(sys.executable).parents if not each.stat().st_mode & 0o005]
    if os.getuid() == 0 and closed:
        pytest.skip(f"{closed[0]} is not readable for other users, as which root tries it")
    path = tmp_path / "bwrap"
    path.write_text(bwrap)
    path.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", TRIAL, str(path)], capture_output=True, text=True, check=True
    )
    level, *missing = done.stdout.splitlines()
    assert level in {"S1", "S0"}
    assert any(line.startswith(f"S2 {said}") for line in missing), done.stdout


@pytest.mark.parametrize("most", [Level.S3, Level.S1])
def test_root_that_may_not_mount_has_no_sandbox_and_reads_why(most, monkeypatch):
    """Bots would start at S1, as users that cannot reach `DATA/run/play.sock`."""

    def refuse(*_):
        raise OSError(errno.EINVAL, "mount /: Invalid argument")

    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(kernel, "unshare", lambda flags: None)
    monkeypatch.setattr(kernel, "mount", refuse)
    monkeypatch.setattr(trial, "_outcome", lambda *_: "")  # each level would hold
    monkeypatch.setattr(landlock, "version", lambda: landlock.LEAST_VERSION)
    spawner = Spawner()
    result = spawner._try(SpawnOrder((sys.executable,), {}, ()), most)
    assert result["level"] is Level.S0
    reasons = dict(result["missing"])
    assert "mount /: Invalid argument): start the arena as another user" in reasons[Level.S1]
    with pytest.raises(CannotSpawn, match="no sandbox"):
        spawner._start(SpawnOrder((sys.executable,), {}, ()), 1)


def test_a_bot_writes_in_its_folder_below_one_that_bots_read(tmp_path):
    """Where root runs the arena, the folder above is shown read-only when the first bot starts."""
    bots = tmp_path / "bots"
    bots.mkdir()
    (bots / "bot.py").write_text(
        "import os; open(f'{os.environ[\"HOME\"]}/new', 'w'); print('wrote')"
    )

    async def main(sandbox):
        for number in range(2):
            command = BotCommand("bot", (sys.executable, str(bots / "bot.py")))
            process = await launch(command, bots / "run" / str(number), {}, sandbox=sandbox)
            await process.watch()
            lines = [line.text for line in read_output(process.output) if not line.by_arena]
            assert lines == ["wrote"]

    with Sandbox(data=tmp_path / "data", most=Level.S1) as sandbox:
        if sandbox.level is Level.S0:
            pytest.skip("there is no sandbox here")
        trio.run(main, sandbox)


def test_a_bot_in_the_folder_above_another_ones_sees_its_own(tmp_path):
    """Where root runs the arena, closed folders are shown piece by piece, the inner one first."""
    above, below = tmp_path / "bots", tmp_path / "bots" / "one"
    below.mkdir(parents=True)
    for folder in (above, below):
        (folder / "bot.py").write_text("import beside; print(beside.__file__)")
        (folder / "beside.py").write_text("")

    async def main(sandbox):
        for folder in (below, above, below):
            command = BotCommand("bot", (sys.executable, str(folder / "bot.py")))
            process = await launch(
                command, tmp_path / "run" / str(time.monotonic_ns()), {}, sandbox=sandbox
            )
            await process.watch()
            lines = [line.text for line in read_output(process.output) if not line.by_arena]
            assert lines == [str(folder / "beside.py")]

    with Sandbox(data=tmp_path / "data") as sandbox:
        if sandbox.level is Level.S0:
            pytest.skip("there is no sandbox here")
        trio.run(main, sandbox)


@pytest.mark.slow
@pytest.mark.parametrize("most", [Level.S3, Level.S2, Level.S1], ids=str)
def test_the_house_bot_starts_at_every_level(most, tmp_path):
    """At S1 Python may not list the folder of a checkout, in which it would find the engine."""

    async def main(sandbox):
        command = BotCommand("house", (*house_argv("sample"), "--help"))
        process = await launch(command, tmp_path / "run", {}, sandbox=sandbox)
        await process.watch()
        lines = [line.text for line in read_output(process.output) if not line.by_arena]
        assert any("--address" in line for line in lines), lines

    with Sandbox(data=tmp_path / "data", most=most) as sandbox:
        if sandbox.level is not most:
            pytest.skip(sandbox.why_not_better)
        trio.run(main, sandbox)
