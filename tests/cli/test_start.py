"""The first moments of the program `arena`: what it loads, what it lacks, and Ctrl-C meanwhile."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from arena.cli import COMMANDS, main
from tests.rows import slow_unless

ROOT = Path(__file__).parents[2]
PROGRAM = "import sys; sys.argv[0] = 'arena'; from arena.__main__ import main; main()"
HEAVY = {"alembic", "asyncio", "cardarena", "cryptography", "google", "grpc", "numpy", "rich"} | {
    "prometheus_client", "sqlalchemy", "trio",
}  # fmt: skip


def started(*arguments, before="", flags=()):
    command = [sys.executable, *flags, "-c", f"{before}\n{PROGRAM}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


# What it loads.

TELLS = "import atexit, sys; atexit.register(lambda: print('loaded', *sorted(sys.modules)))"


@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("nosuch",)], ids=" ".join)
def test_nothing_heavy_is_loaded_for(arguments):
    done = started(*arguments, before=TELLS)
    *_, line = done.stdout.splitlines()
    modules = line.split()
    assert "click" in modules
    assert {name for name in modules if name.partition(".")[0] in HEAVY} == set()
    assert {name for name in modules if name.startswith("arena.")} <= {
        "arena.__main__",
        "arena.cli",
        "arena.cli.near",
        "arena.cli.terminal",
        "arena.cli.terminal.plain",
        "arena.compiled",
    }


def test_pages_load_neither_an_arena_nor_what_plays_matches_again():
    """The process that has all watchers holds what it needs itself; its worker holds the rest."""
    program = "import arena.cli.web, arena.web.serve, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    others = {"arena.jail", "arena.replay.verify", "arena.server.arena", "cryptography", "numpy"} | {
        "alembic", "arena.web.sample", "markdown_it", "rich", "sqlalchemy.dialects.postgresql", "trio",
    }  # fmt: skip
    assert others & set(loaded.stdout.split()) == set()


def test_the_version_is_told():
    version = r"arena, version \d+\.\d+\.\d+, (pure|compiled)\n"
    assert re.fullmatch(version, started("--version").stdout)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_what_its_line_says(name):
    module, line = COMMANDS[name]
    command = getattr(importlib.import_module(module), name.replace("-", "_"))
    assert isinstance(command, click.Command)
    assert command.name == name
    assert line.endswith(".")
    assert re.search(rf"^  {name} +{re.escape(line)}$", help_of(), re.MULTILINE)


def help_of(*path):
    shown = CliRunner().invoke(main, [*path, "--help"])
    assert shown.exit_code == 0, shown.output
    return shown.output


def every_command():
    for name, (module, _) in COMMANDS.items():
        command = getattr(importlib.import_module(module), name.replace("-", "_"))
        yield (name,), command
        for inner in getattr(command, "commands", {}).values():
            yield (name, inner.name), inner


@pytest.mark.parametrize("path", [path for path, _ in every_command()], ids=" ".join)
def test_the_help_of_every_command_has_examples(path):
    text = help_of(*path)
    assert "Examples:" in text
    assert f"  arena {path[0]}" in text.partition("Examples:")[2]


def test_what_there_is_not_is_told_with_what_is_near():
    done = CliRunner().invoke(main, ["torunament"])
    assert done.exit_code == 2
    assert "there is no command 'torunament'; perhaps 'tournament' is meant" in done.output


# What it lacks.

# fmt: off
MISSING = [
    (("-S",), "",                             ("--version",), "click",   "the rules alone are installed"),
    ((),      "import sys; sys.modules['grpc'] = None", ("serve",), "grpc",    "half of it is"),
]
# fmt: on


@pytest.mark.parametrize(
    ("flags", "before", "arguments", "name", "why"), MISSING, ids=[row[-1] for row in MISSING]
)
def test_what_to_install_is_said_if(flags, before, arguments, name, why):
    done = started(*arguments, before=before, flags=flags)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{name} is missing" in done.stderr
    assert "pip install 'cardarena-engine[server]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_module_of_ours_that_is_missing_is_a_bug_and_told_as_one():
    done = started("serve", before="import sys; sys.modules['arena.cli.serve'] = None")
    assert done.returncode == 1
    assert "Traceback" in done.stderr


# Ctrl-C.

INTERRUPT = """
import os, signal, sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupted())
"""

# fmt: off
MOMENTS = [
    ("click",                         "nothing is loaded"),
    ("arena.cli.serve",               "the command is chosen"),
    ("grpc",                          "the server is loaded"),
    ("sqlalchemy",                    "the store is loaded"),
    ("arena.server.services.metrics", "the server is about to listen"),
]
# fmt: on


@pytest.mark.parametrize(
    ("name", "why"),
    slow_unless(lambda name, why: name in {"click", "arena.cli.serve"}, MOMENTS),
    ids=[row[-1] for row in MOMENTS],
)
def test_ctrl_c_is_quiet_when(name, why, tmp_path):
    environment = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "clients/python")])}
    program = f"{INTERRUPT.format(name=name)}\n{PROGRAM}"
    done = subprocess.run(
        [sys.executable, "-c", program, "serve", "--port", "0", "--data", tmp_path],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=60,
        env={**os.environ, **environment},
    )
    assert done.stderr.strip() in {"", "Aborted!"}
    assert done.stdout in {"", "Stopped.\n"}
