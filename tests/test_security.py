"""The list of threats in docs/security.md: every number once, and every test it names is there."""

import ast
import re

import pytest

from tests.defences.threats import PAGE, ROOT, named_tests, rows, section
from tests.fuzz.targets import MODEL, TARGETS

THREATS = range(1, 42)
STATES = {"defended", "partly", "open"}
ROWS = rows()
TEXT = PAGE.read_text("utf-8")


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


FILES = sorted(set(re.findall(r"`((?:arena|clients|requirements)/[\w/.]+)`", TEXT)))


@pytest.mark.parametrize("path", FILES)
def test_a_file_or_folder_that_is_named_is_there(path):
    assert (ROOT / path).exists()


SCRIPTS = sorted(set(re.findall(r"`(scripts/\w+)[ `]", TEXT)))


@pytest.mark.parametrize("path", SCRIPTS)
def test_a_command_that_is_named_is_there(path):
    assert (ROOT / path).is_file()


def test_every_target_of_the_fuzzing_is_told():
    assert {*TARGETS, MODEL} <= set(re.findall(r"`(\w+)`", section("Fuzzing")))
