"""The first moments of the program `arena`: what it loads, what it lacks, and Ctrl-C meanwhile."""

import gc
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from arena.cli import COMMANDS, SECTIONS, main
from arena.cli.command_group import CommandGroup
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
        "arena.cli.command_group",
        "arena.cli.suggestions",
        "arena.cli.terminal",
        "arena.cli.terminal.plain",
        "arena.compiled",
        *(name for name in modules if name.partition(".errors")[0] == "arena"),  # exit codes
    }


SEES = """
import gc
collected = []
gc.callbacks.append(lambda phase, _: collected.append(phase))
graph = [[] for _ in range(100_000)]
while_loading = list(collected)
command = None
"""


def test_garbage_is_not_collected_while_a_command_is_loaded_nor_looked_for_in_it(
    tmp_path, monkeypatch
):
    """What collections cost a start, decision 30 says."""
    (tmp_path / "sees_collections.py").write_text(SEES)
    monkeypatch.syspath_prepend(tmp_path)
    frozen = gc.get_freeze_count()
    group = CommandGroup("arena", lazy={"command": "sees_collections:command"})
    for _ in range(2):
        group.get_command(click.Context(group), "command")
        seen = sys.modules["sees_collections"]
        gc.callbacks[:] = [each for each in gc.callbacks if each.__module__ != seen.__name__]
        assert seen.while_loading == []
        assert gc.isenabled()
        assert gc.get_freeze_count() > frozen + 100_000
    del sys.modules["sees_collections"]


@pytest.mark.slow
def test_pages_load_neither_an_arena_nor_what_plays_matches_again():
    """The process that has all watchers holds what it needs itself; its worker holds the rest."""
    program = "import arena.cli.web, arena.web.serve, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    others = {"arena.sandbox.sandbox", "arena.records.verify", "arena.live.arena", "cryptography", "numpy"} | {
        "alembic", "arena.web.sample_hand", "markdown_it", "rich", "sqlalchemy.dialects.postgresql", "trio",
    }  # fmt: skip
    assert others & set(loaded.stdout.split()) == set()


def test_the_version_is_told():
    version = r"arena, version \d+\.\d+\.\d+(rc\d+)?, (pure|compiled)\n"
    assert re.fullmatch(version, started("--version").stdout)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_what_its_line_says(name):
    module, line = COMMANDS[name]
    command = getattr(importlib.import_module(module), name)
    assert isinstance(command, click.Command)
    assert command.name == name
    assert line.endswith(".")
    assert re.search(rf"^  {name} +{re.escape(line)}$", help_of(), re.MULTILINE)


def help_of(*path):
    shown = CliRunner().invoke(main, [*path, "--help"])
    assert shown.exit_code == 0, shown.output
    return shown.output


def every_command():
    context = click.Context(main, info_name="arena")
    for name in COMMANDS:
        command = main.get_command(context, name)
        yield (name,), command
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                yield (name, inner), command.get_command(context, inner)


@pytest.mark.parametrize("path", [path for path, _ in every_command()], ids=" ".join)
def test_the_help_of_every_command_has_examples(path):
    text = help_of(*path)
    assert "Examples:" in text
    assert f"  arena {path[0]}" in text.partition("Examples:")[2]


def test_the_help_lists_commands_by_reader():
    headings = re.findall(r"^([A-Z][a-z ]+):$", help_of(), re.MULTILINE)
    assert headings == ["Options", *SECTIONS]
    assert list(SECTIONS) == [
        "Play", "Write a bot", "Compete", "Organise", "Watch", "Run a server",
    ]  # fmt: skip


# fmt: off
MISTYPED = [
    # typed                  what is proposed                                                why
    (["torunament"],         "no command 'torunament'; perhaps 'tournament' is meant",       "a command"),
    (["bots", "submti"],     "no command 'submti'; perhaps 'submit' is meant",               "a subcommand"),
    (["match", "crate"],     "no command 'crate'; perhaps 'create' is meant",                "one that is loaded when it is called"),
    (["keys", "new", "bto"], "no command 'bto'; perhaps 'bot' is meant",                     "one of a group in a group"),
    (["web", "exprot"],      "no command 'exprot'; perhaps 'export' is meant",               "one beside a default"),
    (["matches"],            "no command 'matches'; perhaps 'match' is meant",               "a former name that is near"),
    (["standings"],          "no command 'standings'; there are play, tournament, ",         "a former name that is not near"),
]
# fmt: on


@pytest.mark.parametrize(("typed", "said", "why"), MISTYPED, ids=[row[-1] for row in MISTYPED])
def test_for_a_mistyped_command_the_nearest_is_proposed(typed, said, why):
    done = CliRunner().invoke(main, typed)
    assert done.exit_code == 2
    assert f"there is {said}" in done.output


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


# How it writes.


@pytest.mark.parametrize("encoding", ["iso8859-1", "cp1252", "ascii", "utf-8"])
def test_characters_that_a_terminal_does_not_have_are_replaced(encoding):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "games", "show", "klaberjass"],
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Klaberjass" in done.stdout.decode(encoding)
    assert ("┏" in done.stdout.decode(encoding)) == (encoding == "utf-8")


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
    ("arena.api.metrics_port", "the server is about to listen"),
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
