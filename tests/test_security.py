"""The list of threats in docs/security.md: every number once, and every test it names is there."""

import ast
import re
from pathlib import Path

import pytest

from tests.fuzz.targets import MODEL, TARGETS

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs/security.md").read_text("utf-8")
THREATS = range(1, 33)
STATES = {"defended", "partly", "open"}


def rows():
    """The cells of each threat, by its number."""
    found = {}
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and cells[0].isdigit():
            assert int(cells[0]) not in found, f"threat {cells[0]} stands twice"
            found[int(cells[0])] = cells[1:]
    return found


ROWS = rows()


def named_tests(text):
    return re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text)


def functions(path):
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_every_threat_is_listed_once():
    assert sorted(ROWS) == list(THREATS)


@pytest.mark.parametrize("number", THREATS)
def test_a_threat_has_a_state_a_defence_and_tests(number):
    threat, state, defence, *tests = ROWS[number]
    assert threat
    assert state in STATES
    assert defence
    named = named_tests("".join(tests))
    assert named or state != "defended", "a defence without its test does not count"
    for path, function in named:
        assert (ROOT / path).is_file(), path
        assert not function or function in functions(path), f"{path} has no {function}"


FILES = sorted(set(re.findall(r"`((?:arena|clients|requirements)/[\w/.]+)`", PAGE)))


@pytest.mark.parametrize("path", FILES)
def test_a_file_that_is_named_is_there(path):
    assert (ROOT / path).is_file()


SCRIPTS = sorted(set(re.findall(r"`(scripts/\w+)[ `]", PAGE)))


@pytest.mark.parametrize("path", SCRIPTS)
def test_a_command_that_is_named_is_there(path):
    assert (ROOT / path).is_file()


def test_every_target_of_the_fuzzing_is_told():
    section = PAGE.split("## Fuzzing")[1].split("\n## ")[0]
    assert {*TARGETS, MODEL} <= set(re.findall(r"`(\w+)`", section))
