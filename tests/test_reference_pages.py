"""The pages of docs/ that follow from code are those that the code makes."""

import importlib
import sys
from pathlib import Path

import pytest

from arena.cli import COMMANDS, SECTIONS

SCRIPTS = str(Path(__file__).resolve().parents[1] / "scripts")


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    made = importlib.import_module("reference_pages").PAGES
    yield made
    for name in ("reference_pages", "command_page", "data_page", "error_page", "layout_page"):
        del sys.modules[name]


@pytest.mark.parametrize("name", ["errors.md", "commands.md", "layouts.md", "data-sets.md"])
def test_a_page_is_what_its_script_writes(name, pages):
    ((path, page),) = [each for each in pages.items() if each[0].name == name]
    assert path.read_text("utf-8") == page(), "run scripts/reference_pages.py"


def test_the_page_of_commands_has_every_command_under_its_heading(pages):
    (page,) = [each for path, each in pages.items() if path.name == "commands.md"]
    lines = [line for line in page().splitlines() if line.startswith(("## ", "### "))]
    expected = []
    for title, section in SECTIONS.items():
        expected += [f"## {title}", *(f"### arena {name}" for name in section)]
    assert lines == expected
    assert len(lines) == len(SECTIONS) + len(COMMANDS)
