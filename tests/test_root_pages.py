"""AGENTS.md, CONTRIBUTING.md, SECURITY.md and llms.txt: their links lead somewhere, and commands for agents work."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
PAGES = ["AGENTS.md", "CONTRIBUTING.md", "SECURITY.md", "llms.txt", "README.md"]
TEMPLATES = sorted(path.name for path in (ROOT / ".github" / "ISSUE_TEMPLATE").iterdir())


def read(name):
    return (ROOT / name).read_text("utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_files(name):
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", read(name))
    assert targets
    assert [each for each in targets if not (ROOT / each).exists()] == []


@pytest.mark.parametrize("name", [*PAGES[:3], *(f".github/ISSUE_TEMPLATE/{n}" for n in TEMPLATES)])
def test_commands_that_are_named_exist(name):
    text = read(name)
    named = re.findall(r"(?:^    |`)arena ([a-z]+)", text, re.MULTILINE)
    assert set(named) <= set(COMMANDS)
    for script in re.findall(r"scripts/[a-z-]+", text):
        assert (ROOT / script).is_file(), script


def commands_for_agents():
    """The commands before those that need an arena of somebody else."""
    before, _, _ = read("AGENTS.md").partition("To submit")
    return [line.strip().partition("  #")[0] for line in before.splitlines() if line[:4] == " " * 4]


@pytest.mark.slow
def test_the_commands_for_agents_work_as_they_are_printed(tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, what in (("python", ""), ("arena", " -m arena")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable}{what} "$@"\n')
        (programs / name).chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "clients/python")]),
    }
    typed = commands_for_agents()
    assert len(typed) == 8
    for command in typed:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True,
            check=False, timeout=300,
        )  # fmt: skip
        # 4: the comparison of a bot with its copy decides nothing.
        assert done.returncode in ({4} if "compare" in command else {0}), (command, done)
        assert "Traceback" not in done.stderr, (command, done)
