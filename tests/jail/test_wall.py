"""What a jailed bot may see, what it is told of what it may not, and how levels are found."""

import errno
import os
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
import trio

from arena.jail import (
    BadCommand,
    BotCommand,
    Demand,
    Level,
    Limits,
    Missing,
    NoWall,
    Wall,
    launch,
    raise_wall,
    read_output,
)
from arena.jail.hidden import hidden
from arena.jail.visible import Visible, runtime_of, visible_to, why_never
from arena.jailer.bubblewrap import arguments
from arena.jailer.cell import Cell, cell_as_json, cell_of
from arena.jailer.control_group import ControlGroups, NoGroups
from arena.jailer.reach import closed_folder
from arena.jailer.seccomp import NoFilter, filter_program
from arena.jailer.starting import CannotStart, Way, start
from arena.jailer.trial import mended

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
        "arena/data/arena.db",
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
    ("arena/bot.py",     False,   "a folder that holds the data of the arena"),
    ("bot.py",           False,   "the home folder itself"),
    (".ssh/id",          False,   "where keys are"),
]
# fmt: on


@pytest.mark.parametrize(("name", "folder", "why"), SEES, ids=[row[-1] for row in SEES])
def test_a_bot_sees_its_folder_unless_that_is_more_than_its_own(name, folder, why, home):
    command = BotCommand("bot", (sys.executable, str(home / name)))
    seen = visible_to(command, home / "arena" / "data")
    assert seen.holds(home / name)
    assert seen.holds((home / name).with_name("beside")) is folder
    assert (seen.alone is None) is folder
    assert not seen.holds(home / "arena" / "data" / "arena.db")
    assert not seen.holds(home / "models")


@pytest.mark.parametrize("folder", ["/", "/home", "/etc", "/tmp", "/proc", "/var"])
def test_no_folder_of_the_system_is_a_bots_own(folder, tmp_path):
    assert why_never(Path(folder), tmp_path)


def test_a_user_without_a_home_has_bots_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("nobody")))
    assert not why_never(tmp_path / "bots", tmp_path / "data")


def test_a_bot_sees_what_it_was_given_and_the_python_with_the_sdk(home):
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
    visible = Visible((home / "bots" / "one",), alone=alone)
    return hidden(text, visible, home / "arena" / "data", memory_bytes=MEMORY_BYTES)


# fmt: off
HIDDEN = [
    # printed                                                        told of it
    ("FileNotFoundError: [Errno 2] No such file: '{home}/models/net.pt'", ["the jail hides ~/models: add --ro ~/models"], "a file: its folder is offered"),
    ("cannot list {home}/models.",                                   ["the jail hides ~/models: add --ro ~/models"], "a folder, at the end of a sentence"),
    ("No such file: '{home}/bot.py'",                                ["the jail hides ~/bot.py: add --ro ~/bot.py"], "a file at home: never its folder"),
    ("No such file: '{home}/no/such'",                               [], "there is none"),
    ("No such file: '{home}/arena/data/arena.db'",                   [], "the arena's data are never offered"),
    ('File "{home}/bots/one/bot.py", line 3',                        [], "what it saw"),
    ("MemoryError",                                                  ["the jail gives each process 1024 MB of memory"], "memory"),
    ("OSError: [Errno 30] Read-only file system: 'x'",               ["a jailed bot can write in its TMPDIR alone, which is gone when it ends"], "writing"),
    ("OSError: [Errno 97] Address family not supported by protocol", ["a jailed bot has no network"], "the network"),
    ("all is well",                                                  [], "nothing"),
]
# fmt: on


@pytest.mark.parametrize(("text", "said", "why"), HIDDEN, ids=[row[-1] for row in HIDDEN])
def test_a_bot_that_fails_is_told_what_the_jail_hid(text, said, why, home):
    assert told(text.format(home=home), home) == said


def test_a_module_beside_a_bot_that_is_alone_is_offered(home):
    (home / "helper.py").write_text("")
    said = told("ModuleNotFoundError: No module named 'helper'", home, alone=home / "bot.py")
    assert said == ["the jail hides ~/helper.py: add --ro ~/helper.py"]


def printed(wall, tmp_path, code, *, data=None):
    bot = tmp_path / "bots" / "bot.py"
    bot.parent.mkdir(exist_ok=True)
    bot.write_text(code)

    async def main():
        command = BotCommand("bot", (sys.executable, str(bot)))
        process = await launch(command, tmp_path / "data" / "bot-0", {"GIVEN": "yes"}, wall=wall)
        await process.watch()
        return process

    process = trio.run(main)
    return [line.text for line in read_output(process.output)], process


@pytest.fixture(scope="module")
def wall(tmp_path_factory):
    with Wall(data=tmp_path_factory.mktemp("data")) as raised:
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
def test_how_a_jailed_bot_ends_is_told_as_of_any(code, returncode, how, wall, tmp_path):
    lines, process = printed(wall, tmp_path, code)
    assert (process.returncode, process.how_it_ended) == (returncode, how)
    assert lines[1] == f"jailed at {wall.level}"
    assert lines[-1] == how


def test_a_jailed_bot_has_a_folder_to_write_in_and_what_it_is_given(wall, tmp_path):
    code = (
        "import os, tempfile, threading, cardarena\n"
        "with tempfile.TemporaryFile() as file: file.write(b'x')\n"
        "thread = threading.Thread(target=print, args=(os.environ['GIVEN'],))\n"
        "thread.start(); thread.join()\n"
        "print(os.environ['HOME'] == os.environ['TMPDIR'] == os.getcwd())\n"
    )
    lines, _ = printed(wall, tmp_path, code)
    assert sorted(lines[2:-1]) == ["True", "yes"], lines


def test_a_bot_that_only_its_user_may_read_is_read(wall, tmp_path):
    folder = tmp_path / "bots"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "part.py").write_text("word = 'read'")
    for path, mode in ((folder / "parts" / "part.py", 0o600), (folder / "parts", 0o700)):
        path.chmod(mode)
    folder.chmod(0o700)
    lines, _ = printed(wall, tmp_path, "from parts import part; print(part.word)")
    assert "read" in lines, lines


def test_a_bot_that_is_asked_to_end_has_time_to_and_one_that_does_not_is_ended(wall, tmp_path):
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
        bot = tmp_path / "bot.py"
        bot.write_text(code.format(handler))
        command = BotCommand("bot", (sys.executable, str(bot)))
        process = await launch(command, tmp_path / "data" / f"bot-{handler}", {}, wall=wall)
        await cancelled(process)
        return process.returncode

    assert trio.run(main, "end") == 0
    assert trio.run(main, "signal.SIG_IGN") == -9


# fmt: off
NO_PROGRAMS = [
    ("x",           0o755, "it is no program, nor a script", "neither a program nor a script"),
    ("#!/bin/sh\n", 0o644, "Permission denied",              "not executable"),
]
# fmt: on


@pytest.mark.parametrize(
    ("text", "mode", "said", "why"), NO_PROGRAMS, ids=[r[-1] for r in NO_PROGRAMS]
)
def test_what_is_no_program_is_told_before_it_is_jailed(text, mode, said, why, wall, tmp_path):
    path = tmp_path / "bot"
    path.write_text(text)
    path.chmod(mode)
    if os.getuid() == 0 and mode == 0o644:
        said = "Permission denied"  # root may not run it either

    async def main():
        await launch(BotCommand("bot", (str(path),)), tmp_path / "data" / "bot", {}, wall=wall)

    with pytest.raises(BadCommand, match=said):
        trio.run(main)


def test_without_a_wall_the_required_one_is_refused_and_says_why(tmp_path, monkeypatch):
    why = (Level.S0, (Missing(Level.S2, "bubblewrap is not installed: apt install bubblewrap"),))
    monkeypatch.setattr(Wall, "_found", lambda self: why)
    with pytest.raises(NoWall, match="--jail require asks: bubblewrap is not installed: apt"):
        raise_wall(Demand.REQUIRE, data=tmp_path)
    with raise_wall(Demand.AUTO, data=tmp_path) as wall:
        assert wall.level is Level.S0
    assert raise_wall(Demand.OFF, data=tmp_path) is None


def test_a_jailer_that_has_gone_is_told_in_words(tmp_path):
    with Wall(data=tmp_path) as wall:
        assert wall.level
        wall._process.kill()
        wall._process.wait()
        with pytest.raises(BadCommand, match="the jailer has ended"):
            printed(wall, tmp_path, "")


def test_bubblewrap_is_never_started_as_root(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 0)
    cell = Cell(("/bin/true",), {}, ())
    with pytest.raises(CannotStart, match="never started as root"):
        start(cell, Way(Level.S2, "/usr/bin/bwrap"), 1)


# fmt: off
REASONS = [
    ("bwrap: Unknown option --disable-userns", "bubblewrap 0.8.0 or newer is needed",  "an old one"),
    ("the wall does not hold: x\nmore",        "the wall does not hold: x",            "one line"),
]
# fmt: on


@pytest.mark.parametrize(("why", "said", "case"), REASONS, ids=[row[-1] for row in REASONS])
def test_why_a_level_is_not_to_be_had_is_one_line(why, said, case):
    assert said in mended(why)
    assert "\n" not in mended(why)


def test_what_a_cell_is_survives_its_way_to_the_jailer():
    cell = Cell(("a", "b"), {"X": "é"}, ("/p",), "/s", "/f", Limits(processes=3))
    assert cell_of(cell_as_json(cell)) == cell
    with pytest.raises(ValueError, match="no cell"):
        cell_of({"argv": ["a"]})


def test_what_is_bound_beneath_the_scratch_folder_comes_after_it():
    words = arguments(Cell(("/x",), {}, ("/tmp/bot",)), filter_fd=3, block_fd=-1, info_fd=-1)
    assert words.index("/tmp") < words.index("/tmp/bot")
    last = words[words.index("/tmp/bot") :]
    assert last[last.index("--remount-ro") + 1] == "/", "bubblewrap's own root has no bound"


def test_the_uppermost_closed_folder_is_found(tmp_path):
    inner = tmp_path / "closed" / "open"
    inner.mkdir(parents=True)
    (tmp_path / "closed").chmod(0o700)
    found = closed_folder(str(inner))
    assert found is not None
    assert str(inner).startswith(found)
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
        holds = {0x15: held == value, 0x25: held > value, 0x45: bool(held & value)}[code]
        at += if_true if holds else if_false


ALLOW, KILL = 0x7FFF_0000, 0x8000_0000
X86, ARM = 0xC000_003E, 0xC000_00B7


def refused(error):
    return 0x0005_0000 | error


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


def test_a_machine_without_a_filter_has_no_wall():
    with pytest.raises(NoFilter, match="no seccomp filter for riscv64"):
        filter_program("riscv64")


# Control groups, of a tree of files that is like the kernel's.


@pytest.fixture
def groups(tmp_path):
    own = tmp_path / "sys" / "user.slice" / "arena.scope"
    own.mkdir(parents=True)
    (own / "cgroup.controllers").write_text("cpu memory pids\n")
    (own / "cgroup.procs").write_text("")
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "cgroup").write_text("0::/user.slice/arena.scope\n")
    return tmp_path


def of(tree):
    return ControlGroups.of_this_process(str(tree / "sys"), str(tree / "proc"))


def test_a_group_bounds_what_a_bot_uses_in_all(groups):
    made = Path(of(groups).make(Limits(memory_bytes=1 << 20, processes=7)).path)
    assert (made / "memory.max").read_text() == "1048576"
    assert (made / "pids.max").read_text() == "7"
    assert (made / "cpu.max").read_text() == "100000 100000"


# fmt: off
NO_GROUPS = [
    ("cgroup",             "1:name=systemd:/\n", "has no cgroup v2",   "cgroup v1"),
    ("cgroup.controllers", "hugetlb\n",          "lacks cpu, memory",  "without what is needed"),
]
# fmt: on


@pytest.mark.parametrize(("name", "text", "said", "why"), NO_GROUPS, ids=[r[-1] for r in NO_GROUPS])
def test_where_there_are_no_groups_it_is_said_why(name, text, said, why, groups):
    (path,) = groups.rglob(name)
    path.write_text(text)
    with pytest.raises(NoGroups, match=said):
        of(groups)


# The trial.

TRIAL = """
import os, shutil, sys
from arena.jail.visible import runtime_of
from arena.jailer import trial
from arena.jailer.cell import Cell, Level
from arena.jailer.reach import Reach
trial.shutil.which = lambda name: sys.argv[1]
root = os.getuid() == 0
show = Reach().show if root else lambda path: None
show(sys.argv[1])
visible = tuple(map(str, runtime_of(sys.executable)))
cell = Cell((sys.executable,), {}, visible)
verdict = trial.try_levels(cell, user=250_000 if root else -1, most=Level.S2, show=show)
print(verdict.level)
for level, why in verdict.missing:
    print(level, why)
"""
NO_WALLS = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n'


# fmt: off
BWRAPS = [
    (NO_WALLS,                                      "the wall does not hold: open",     "one that builds no wall"),
    ("#!/bin/sh\necho bwrap: No permissions; exit 1\n", "bwrap: No permissions",        "one that may not"),
    ("#!/bin/sh\nexit 0\n",                         "the trial run ended without a word", "one that does nothing"),
]
# fmt: on


@pytest.mark.parametrize(("bwrap", "said", "why"), BWRAPS, ids=[row[-1] for row in BWRAPS])
def test_a_bubblewrap_that_is_there_proves_nothing(bwrap, said, why, tmp_path):
    path = tmp_path / "bwrap"
    path.write_text(bwrap)
    path.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", TRIAL, str(path)], capture_output=True, text=True, check=True
    )
    level, *missing = done.stdout.splitlines()
    assert level in {"S1", "S0"}
    assert any(line.startswith(f"S2 {said}") for line in missing), done.stdout


def test_a_bot_in_the_folder_above_another_ones_sees_its_own(tmp_path):
    """Where root runs the arena, closed folders are shown piece by piece, the inner one first."""
    above, below = tmp_path / "bots", tmp_path / "bots" / "one"
    below.mkdir(parents=True)
    for folder in (above, below):
        (folder / "bot.py").write_text("import beside; print(beside.__file__)")
        (folder / "beside.py").write_text("")

    async def main(wall):
        for folder in (below, above, below):
            command = BotCommand("bot", (sys.executable, str(folder / "bot.py")))
            process = await launch(
                command, tmp_path / "run" / str(time.monotonic_ns()), {}, wall=wall
            )
            await process.watch()
            lines = [line.text for line in read_output(process.output) if not line.by_arena]
            assert lines == [str(folder / "beside.py")]

    with Wall(data=tmp_path / "data") as wall:
        if wall.level is Level.S0:
            pytest.skip("there is no wall here")
        trio.run(main, wall)
