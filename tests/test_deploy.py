"""The units of deploy/systemd: systemd accepts them, their commands exist, and the sandbox works below them."""

import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest

from arena.cli import main
from tests.programs import needs

UNITS = sorted((Path(__file__).resolve().parents[1] / "deploy" / "systemd").glob("*.service"))
PROGRAM = "/opt/card-arena/bin/arena"


def settings(unit):
    """The settings of a unit; of a repeated one the last."""
    text = unit.read_text("utf-8").replace("\\\n", "")
    return dict(line.split("=", 1) for line in text.splitlines() if re.match(r"[A-Z]\w*=", line))


@needs("systemd-analyze")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_accepts_a_unit(unit, tmp_path):
    """With a program that exists on every machine in place of the arena."""
    here = tmp_path / unit.name
    here.write_text(unit.read_text("utf-8").replace(PROGRAM, "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", here], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_command_of_a_unit_is_one_of_the_arena(unit):
    program, *words = shlex.split(settings(unit)["ExecStart"])
    assert program == PROGRAM
    context = click.Context(main)
    command = main.get_command(context, words[0])
    if isinstance(command, click.Group):
        command = command.get_command(context, command.default)
    command.make_context(words[0], words[1:])


def test_an_arena_has_the_time_that_it_needs_to_drain():
    (arena,) = [settings(unit) for unit in UNITS if unit.stem == "card-arena"]
    (drain,) = [each.default for each in main.get_command(click.Context(main), "serve").params
                if each.name == "drain"]  # fmt: skip
    assert int(arena["TimeoutStopSec"]) > drain
    assert arena["KillMode"] == "mixed", "the drain is the arena's, not its bots'"


FORBID_SANDBOXES = {
    "RestrictNamespaces": "bots run in namespaces",
    "ProtectProc": "a covered /proc allows no other one below it",
    "ProcSubset": "likewise",
    "ProtectKernelTunables": "likewise",
    "ProtectKernelLogs": "likewise",
    "ProtectControlGroups": "each bot has a control group",
    "ProtectHostname": "it covers a file of /proc",
    "MemoryDenyWriteExecute": "Node and Java compile while they run",
    "PrivateUsers": "its user namespace maps one user",
}


@pytest.mark.parametrize("name", FORBID_SANDBOXES)
def test_the_unit_of_the_arena_leaves_out_what_forbids_sandboxes(name):
    (arena,) = [settings(unit) for unit in UNITS if unit.stem == "card-arena"]
    assert name not in arena, FORBID_SANDBOXES[name]
    assert "memory" in arena["Delegate"]


def test_pages_can_change_nothing_but_the_data_folder():
    (pages,) = [settings(unit) for unit in UNITS if unit.stem == "card-arena-pages"]
    assert (pages["ProtectSystem"], pages["StateDirectory"]) == ("strict", "card-arena")
    assert pages["RestrictNamespaces"] == pages["NoNewPrivileges"] == "yes"
