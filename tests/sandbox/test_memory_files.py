"""Bots whose files lie in memory: what they read there, and that no disk is left to read."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import trio

from arena.bots.bot_python import bot_python
from arena.bots.command import launched_manifest
from arena.sandbox.command import BadCommand, BotCommand
from arena.sandbox.hidden_files import hidden
from arena.sandbox.output import read_output
from arena.sandbox.process import launch
from arena.sandbox.sandbox import UPLOADS_AT, Sandbox
from arena.sandbox.spawner.order import Level, ResourceLimits
from arena.sandbox.visible_files import VisibleFiles, visible_to
from tests.programs import require

LIMITS = ResourceLimits(memory_bytes=1 << 30)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def sandbox(data):
    require("bubblewrap")
    with Sandbox(data=data, in_memory=True) as raised:
        if raised.level not in UPLOADS_AT:
            pytest.skip(raised.why_not_better)
        assert not raised.why_disk
        yield raised


def submitted(folder, data, code="", words=("python", "bot.py"), **more):
    """A submitted bot with this file in its folder."""
    folder.mkdir(exist_ok=True)
    (folder / "bot.py").write_text(code)
    manifest = {"command": words, "memory_mb": 1024, **more}
    return launched_manifest("bot", manifest, folder, (), bot_python(data / "python"))


def printed(command, data, sandbox):
    async def main():
        folder = data / "bots" / str(time.monotonic_ns())
        process = await launch(command, folder, {}, sandbox=sandbox)
        await process.watch()
        return process

    process = trio.run(main)
    return [line.text for line in read_output(process.output) if not line.by_arena]


MOUNTS = """
import json
with open("/proc/self/mountinfo") as lines:
    words = [line.split() for line in lines]
print(json.dumps([(each[4], each[each.index("-") + 1], each[5]) for each in words]))
"""
IN_MEMORY = {"tmpfs", "proc", "devtmpfs", "devpts"}
"""File systems without a disk. Those of devices hold no bytes of files."""


def mounts(folder, data, sandbox):
    (line,) = printed(submitted(folder, data, MOUNTS), data, sandbox)
    return json.loads(line)


def test_every_file_that_a_bot_can_open_is_in_memory(sandbox, data, tmp_path):
    """A disk remembers what was read: the next process reads that faster, and so learns of it."""
    mounted = mounts(tmp_path / "bot", data, sandbox)
    assert {path for path, _, _ in mounted} >= {"/", "/usr", "/proc", str(tmp_path / "bot")}
    assert not [each for each in mounted if each[1] not in IN_MEMORY]


def test_reading_leaves_no_time_on_files_in_memory(sandbox, data, tmp_path):
    own = {"/tmp", "/dev/shm"}
    for path, kind, flags in mounts(tmp_path / "bot", data, sandbox):
        if kind == "tmpfs" and path not in own and not path.startswith("/dev"):
            assert "ro" in flags.split(","), path


def test_a_disk_is_found_by_this_test_where_bots_read_one(data, tmp_path):
    require("bubblewrap")
    if Path("/usr").stat().st_dev == Path("/dev/shm").stat().st_dev:
        pytest.skip("the system is in memory")
    with Sandbox(data=data) as sandbox:
        if sandbox.level not in UPLOADS_AT:
            pytest.skip(sandbox.why_not_better)
        assert sandbox.why_disk
        mounted = mounts(tmp_path / "bot", data, sandbox)
    assert [each for each in mounted if each[1] not in IN_MEMORY]


# fmt: off
RUNS = [
    # program   words                                                       prints   why
    ("python3", ["-c", "import cardarena, arena.games, ctypes, sqlite3, ssl, zoneinfo; zoneinfo.ZoneInfo('Asia/Tokyo'); print('runs')"], "runs", "Python with its compiled modules"),
    ("node",    ["-e", "require('crypto'); require('worker_threads'); console.log('runs')"], "runs", "Node.js"),
    ("java",    ["-version"],                                                "Runtime Environment", "Java"),
    ("sh",      ["-c", "for each in 3 1 2; do echo $each; done | sort | head -n 1 | sed s/1/runs/"], "runs", "programs of scripts"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(("program", "words", "text", "why"), RUNS, ids=[row[-1] for row in RUNS])
def test_a_program_brings_what_it_needs_into_memory(
    program, words, text, why, sandbox, data, tmp_path
):
    if program in {"node", "java"}:
        require(program)
    python = bot_python(data / "python")
    argv = (str(python) if program == "python3" else shutil.which(program), *words)
    command = BotCommand("bot", argv, LIMITS, files=tmp_path)
    lines = printed(command, data, sandbox)
    assert any(text in line for line in lines), lines


@pytest.mark.slow
def test_a_compiled_bot_brings_its_libraries(sandbox, data, tmp_path):
    require("c++")
    source = tmp_path / "bot.cc"
    source.write_text('#include <iostream>\nint main() { std::cout << "runs" << std::endl; }\n')
    subprocess.run(["c++", "-o", tmp_path / "bot", source], check=True)
    command = BotCommand("bot", (str(tmp_path / "bot"),), LIMITS, files=tmp_path)
    assert printed(command, data, sandbox) == ["runs"]


def test_a_script_brings_its_interpreter(sandbox, data, tmp_path):
    require("perl")
    script = tmp_path / "bot"
    script.write_text("#!/usr/bin/perl\nuse strict; use List::Util; print 'runs';\n")
    script.chmod(0o755)
    command = BotCommand("bot", (str(script),), LIMITS, files=tmp_path)
    assert printed(command, data, sandbox) == ["runs"]


def test_a_bot_behind_the_bridge_has_the_sdk_of_submitted_bots(sandbox, data, tmp_path):
    command = submitted(tmp_path / "bot", data, protocol="stdio")
    assert command.argv[0] == str(bot_python(data / "python"))
    assert command.own_argv == (command.argv[0], str(tmp_path / "bot" / "bot.py"))
    lines = printed(command, data, sandbox)
    assert any(line.startswith("cardarena: ") for line in lines), lines  # the bridge ran


def test_a_changed_file_is_copied_again(sandbox, data, tmp_path):
    for word in ("one", "two"):
        command = submitted(tmp_path / "bot", data, f"print({word!r})")
        assert printed(command, data, sandbox) == [word]


def test_a_program_that_is_not_in_memory_is_suggested(sandbox, data, tmp_path):
    program = next(
        path
        for path in map(Path, ("/usr/bin/mount", "/usr/bin/bwrap", "/usr/bin/passwd"))
        if path.exists()
    )
    command = submitted(tmp_path / "bot", data, f"import os; os.execv({str(program)!r}, ['x'])")
    text = "\n".join(printed(command, data, sandbox))
    assert "FileNotFoundError" in text
    text = f"FileNotFoundError: [Errno 2] No such file or directory: '{program}'"
    said = sandbox.what_it_hid(text, sandbox.visible_to(command), command)
    assert said == f"\nthe sandbox hides {program}: add --ro {program}"


def test_a_read_only_path_of_the_system_is_shown_with_its_libraries(data, tmp_path):
    require("bubblewrap")
    program = Path(shutil.which("bwrap"))
    with Sandbox(data=data, read_only=(program,), in_memory=True) as sandbox:
        if sandbox.level not in UPLOADS_AT:
            pytest.skip(sandbox.why_not_better)
        command = BotCommand(
            "bot", ("/bin/sh", "-c", f"{program} --version"), LIMITS, files=tmp_path
        )
        (line,) = printed(command, data, sandbox)
    assert line.startswith("bubblewrap ")


# fmt: off
SUGGESTED = [
    # printed                                     suggested?       why
    ("sh: 1: /usr/bin/ffmpeg9: not found",         None,            "there is none"),
    ("sh: 1: mount: not found",                    "/usr/bin/mount", "a program that a shell misses"),
    ("FileNotFoundError: [Errno 2] No such file or directory: 'mount'", "/usr/bin/mount", "one that Python misses"),
    ("sh: 1: sed: not found",                      None,            "a program that each bot sees"),
    ("No such file: '/usr/bin/env'",               None,            "what each bot sees"),
    ("cannot open /usr/lib/os-release",            "/usr/lib/os-release", "a file, and not all files beside it"),
]
# fmt: on


@pytest.mark.parametrize(
    ("text", "suggested", "why"), SUGGESTED, ids=[row[-1] for row in SUGGESTED]
)
def test_hidden_files_of_the_system_are_suggested_alone(text, suggested, why, tmp_path):
    if suggested and not Path(suggested).exists():
        pytest.skip(f"{suggested} is not here")
    seen = VisibleFiles((), in_memory=True)
    said = hidden(text, seen, tmp_path, memory_bytes=1 << 30)
    assert said == ([f"the sandbox hides {suggested}: add --ro {suggested}"] if suggested else [])


def test_a_submitted_bot_sees_its_environment_and_no_other_packages(data, tmp_path):
    command = submitted(tmp_path / "bot", data)
    seen = visible_to(command, data, in_memory=True)
    assert seen.holds(Path(trio.__file__)) is False
    assert seen.holds(tmp_path / "bot" / "bot.py")
    assert seen.fresh == (tmp_path / "bot",)


def test_the_files_of_a_large_command_stay_on_the_disk_and_it_is_said(
    sandbox, data, tmp_path, monkeypatch
):
    monkeypatch.setattr("arena.sandbox.sandbox.MAX_COMMAND_BYTES", 1 << 20)
    own = BotCommand("ann", (sys.executable, str(tmp_path / "bot.py")))
    assert "ann may read" in sandbox.why_reads_disk(own)
    assert not sandbox.why_reads_disk(submitted(tmp_path / "bot", data))
    assert not sandbox.visible_to(own).in_memory


# The copies, in a process with a mount namespace of its own.

COPIES = """
import json, os, sys
from dataclasses import replace
from arena.sandbox.spawner import kernel, memory_files
from arena.sandbox.spawner.memory_files import MemoryFiles, TooLarge, enter_namespace
from arena.sandbox.spawner.order import SpawnOrder
folder = sys.argv[1]
if os.getuid():
    enter_namespace()
else:
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("none", "/", "none", kernel.MS_REC | kernel.MS_SLAVE)
memory = MemoryFiles(())

def path(name, size=1 << 20):
    whole = f"{folder}/{name}"
    with open(whole, "wb") as file:
        file.write(os.urandom(size))
    return whole

def hold(*paths, **more):
    return memory.hold(SpawnOrder((sys.executable,), {}, paths, in_memory=True, **more))

def copies():
    return sum(name.isdigit() for name in os.listdir(memory_files._AT))
"""


def in_namespace(code, folder):
    done = subprocess.run(
        [sys.executable, "-c", COPIES + code, str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if "Operation not permitted" in done.stderr or "Invalid argument" in done.stderr:
        pytest.skip("this machine allows no mounts")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# fmt: off
KEPT = [
    # code                                                                     prints      why
    ("one = path('one'); a, b = hold(one), hold(one); print(json.dumps([a.sources == b.sources, copies()]))",
     [True, 1],  "two bots share a copy"),
    (("one = path('one'); a = hold(one, fresh=(one,)); path('one', 9); b = hold(one, fresh=(one,))\n"
     "print(json.dumps([os.path.getsize(a.sources[one]), os.path.getsize(b.sources[one])]))"),
     [1 << 20, 9], "a bot that runs keeps what it began with"),
    (("one = path('one'); a = hold(one, fresh=(one,)); path('one', 9); b = hold(one, fresh=(one,)); memory.release(a)\n"
     "print(json.dumps([copies(), os.path.exists(b.sources[one])]))"),
     [1, True],  "the copy of what has changed since is removed when its last bot ends"),
    ("one = path('one'); a = hold(one, fresh=(one,)); memory.release(a); path('one', 9); hold(one, fresh=(one,)); print(copies())",
     1,          "or when it is copied again"),
    ("one = path('one'); a = hold(one); path('one', 9); print(os.path.getsize(hold(one).sources[one]))",
     1 << 20,    "a runtime is copied once"),
    (("memory_files._room_bytes = lambda: 3 << 20\n"
     "memory.release(hold(path('one')))\nmemory_files._room_bytes = lambda: (1 << 20) if copies() else (3 << 20)\n"
     "hold(path('two')); print(copies())"),
     1,          "what no bot uses makes room"),
    (("hold(path('one'))\nmemory_files._room_bytes = lambda: 1 << 20\n"
     "try:\n    hold(path('two')); print(json.dumps(['it fits', copies()]))\nexcept TooLarge as error:\n    print(json.dumps([str(error)[-78:], copies()]))"),
     ["two has 1 MB, and 0 MB of memory are free for files of bots", 1], "what does not fit is refused, and what bots use stays"),
    (("outer, inner = f'{folder}/lib', f'{folder}/lib/site/package'\nos.makedirs(inner); open(f'{inner}/x', 'w').close(); open(f'{folder}/lib/site/hidden', 'w').close()\n"
     "a = hold(outer, inner, omitted=(f'{folder}/lib/site',)); at = a.sources[outer]\n"
     "print(json.dumps([os.listdir(f'{at}/site'), os.listdir(f'{at}/site/package'), os.listdir(a.sources[inner])]))"),
     [["package"], [], ["x"]], "an omitted folder has a place for what is visible in it"),
    (("one = path('one'); os.utime(one, ns=(5, 7)); os.chmod(one, 0o640); found = os.stat(hold(one).sources[one])\n"
     "print(json.dumps([found.st_mtime_ns, found.st_mode & 0o777]))"),
     [7, 0o640], "times and rights of files are those of the originals"),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.parametrize(("code", "expected", "why"), KEPT, ids=[row[-1] for row in KEPT])
def test_copies_are_kept_while_bots_use_them(code, expected, why, tmp_path):
    printed = in_namespace(code, tmp_path)
    if isinstance(expected, list) and isinstance(expected[0], str):
        assert printed[0].endswith(expected[0])
        assert printed[1:] == expected[1:]
    else:
        assert printed == expected


def test_a_submitted_bot_that_does_not_fit_is_not_started(data, tmp_path, monkeypatch):
    """It would read the disk otherwise, and a bot that fills the memory could see to that."""
    require("bubblewrap")
    with Sandbox(data=data) as sandbox:
        if sandbox.level not in UPLOADS_AT:
            pytest.skip(sandbox.why_not_better)
        monkeypatch.setattr(Sandbox, "why_reads_disk", lambda *_: "")  # the spawner has no memory
        with pytest.raises(BadCommand, match="keeps no files in memory"):
            printed(submitted(tmp_path / "bot", data), data, sandbox)


def test_below_s2_bots_read_a_disk(data):
    with Sandbox(data=data, most=Level.S1, in_memory=True) as sandbox:
        if sandbox.level is not Level.S1:
            pytest.skip("there is no S1 here")
        assert sandbox.why_reads_disk(BotCommand("bot", ("/bin/true",), files=Path(os.devnull)))
