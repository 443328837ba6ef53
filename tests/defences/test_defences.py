"""The removal of defences: what is removed, and what counts as noticed."""

import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from tests.defences.__main__ import DAY_S, of_turn, report, table
from tests.defences.checkout import Checkout
from tests.defences.defence import Defence, Edit, Stale, defences
from tests.defences.threats import ROOT
from tests.defences.trial import SEEN, STALE, SURVIVED, Trials, Verdict, tried

pytestmark = pytest.mark.deep("tools for tests")

# What counts as noticed.

CODE = (
    "def bounded(size):\n    return min(size, 512)\n\n\ndef checked(size):\n    return size >= 0\n"
)
BOUND, NO_BOUND = "return min(size, 512)", "return size"
TESTS = """\
import pytest
import limits

def test_bound():
    assert limits.bounded(1_000) == 512

def test_breaks():
    {512: "known"}[limits.bounded(1_000)]

def test_raises():
    with pytest.raises(KeyError):
        {512: "known"}[limits.bounded(1_000) + 1]

def test_group():
    if limits.bounded(1_000) != 512:
        raise ExceptionGroup("of a nursery", [AssertionError("it is not bounded")])

def test_passes():
    assert limits.checked(1)

def test_endless():
    while limits.bounded(1_000) != 512:
        pass

def test_dies():
    import os
    if limits.bounded(1_000) != 512:
        os._exit(3)
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("root") / "project"
    root.mkdir()
    (root / "limits.py").write_text(CODE)
    (root / "test_limits.py").write_text(TESTS)
    (root / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    return root


@pytest.fixture(scope="module")
def checkout(root, tmp_path_factory):
    return Checkout(root, tmp_path_factory.mktemp("copies"))


def defence(test, text=BOUND, becomes=NO_BOUND):
    return Defence(
        1, "it is bounded", f"test_limits.py::{test}", (Edit("limits.py", text, becomes),)
    )


# fmt: off
FATES = [
    # seen by         the defence becomes    fate        why
    ("test_bound",    NO_BOUND,              SEEN,       "a test says what should have been"),
    ("test_raises",   "return 511",          SEEN,       "an error that should have come does not"),
    ("test_group",    NO_BOUND,              SEEN,       "an assertion within a group of errors"),
    ("test_breaks",   NO_BOUND,              SURVIVED,   "a test that breaks down has said nothing"),
    ("test_passes",   NO_BOUND,              SURVIVED,   "a test that does not look"),
    ("test_bound",    "return min(size, 8*64)", SURVIVED, "nothing was removed but words"),
    ("test_bound",    "return (",            SURVIVED,   "what cannot be imported shows nothing"),
    ("test_dies",     NO_BOUND,              SURVIVED,   "nor does a process that dies"),
    ("test_missing",  NO_BOUND,              SURVIVED,   "nor a test that there is not"),
]
# fmt: on


@pytest.mark.parametrize(
    ("test", "becomes", "fate", "why"),
    FATES,
    ids=[row[3] for row in FATES],
)
def test_what_becomes_of_a_removal(checkout, test, becomes, fate, why):
    verdict = tried(defence(test, becomes=becomes), checkout, [])
    assert verdict.fate == fate, verdict.why
    assert bool(verdict.tests) == (fate == SEEN)
    assert verdict.why
    assert (checkout.root / "limits.py").read_text() == CODE, "it is put back"


def test_tests_that_do_not_end_have_noticed_nothing(checkout, monkeypatch):
    monkeypatch.setattr("tests.defences.trial.TIMEOUT_S", 3.0)
    verdict = tried(defence("test_endless"), checkout, [])
    assert (verdict.fate, verdict.why) == (SURVIVED, "no end")


def test_the_other_tests_of_the_row_may_see_it(checkout):
    named = ["test_limits.py::test_passes", "test_limits.py::test_bound"]
    verdict = tried(defence("test_passes"), checkout, named)
    assert (verdict.fate, verdict.tests) == (SEEN, ("test_limits.py::test_bound",))


@pytest.mark.parametrize("text", ["return max(size, 512)", "size"], ids=["gone", "there twice"])
def test_words_that_are_not_there_once_are_no_removal(checkout, text):
    verdict = tried(defence("test_bound", text=text), checkout, [])
    assert verdict.fate == STALE
    assert "not once" in verdict.why


def test_tests_that_fail_unharmed_are_told(root):
    trials = Trials(root)
    assert trials.unharmed(["test_limits.py::test_bound"]) == []
    assert trials.unharmed(["test_limits.py::test_raises", "test_limits.py::test_missing"])


def test_many_are_tried_at_once_each_in_a_copy_of_its_own(root):
    found = [defence("test_bound", becomes=f"return {size}") for size in range(4)]
    verdicts = list(Trials(root, processes=2).run(found, {1: []}))
    assert {each.fate for each in verdicts} == {SEEN}
    assert {each.defence.edits for each in verdicts} == {each.edits for each in found}


# fmt: off
BAD = [
    # the file                                                              said         why
    ('[[defence]]\nrow = 1\nname = "a"\nseen_by = "t"\n',                   "edit",      "without an edit"),
    ('[[defence]]\nrow = 1\nname = "a"\nseen_by = "t"\nedit = []\n',        "nothing",   "with none"),
    ('[[defence]]\nrow = 1\nname = "a"\nseen_by = "t"\nfast = true\nedit = []\n', "fast", "a field too many"),
]
# fmt: on
EDIT = '[[defence.edit]]\nfile = "f"\ntext = "a"\nbecomes = "b"\n'


@pytest.mark.parametrize(("text", "said", "why"), BAD, ids=[row[2] for row in BAD])
def test_an_entry_that_removes_nothing_is_refused(text, said, why, tmp_path):
    path = tmp_path / "removals.toml"
    path.write_text(text)
    with pytest.raises(Stale, match=said):
        defences(path)


def test_an_entry_that_stands_twice_is_refused(tmp_path):
    path = tmp_path / "removals.toml"
    path.write_text(2 * ('[[defence]]\nrow = 1\nname = "a"\nseen_by = "t"\n' + EDIT))
    with pytest.raises(Stale, match="twice"):
        defences(path)


# The command.


def test_turns_go_through_all_quick_defences_of_each_row():
    found = [SimpleNamespace(row=row, slow=name == "s", name=name) for row, name in ROWS]
    turns = ["".join(each.name for each in of_turn(found, turn)) for turn in range(4)]
    assert turns == ["ax", "bx", "cx", "ax"]


ROWS = [(1, "a"), (1, "b"), (1, "s"), (1, "c"), (2, "x"), (3, "s")]


def test_a_report_names_what_was_removed_and_what_failed():
    verdicts = [
        Verdict(defence("test_bound"), SEEN, ("t::a",), "AssertionError: it is 7", 1.25),
        Verdict(defence("test_passes"), SURVIVED, why="3 tests passed", took_s=2.0),
    ]
    *_, seen, survived = table(verdicts)
    assert seen == "| 1 | it is bounded | limits.py | seen | t::a | 1.2 |"
    assert survived == "| 1 | it is bounded | limits.py | SURVIVED | 3 tests passed | 2.0 |"
    assert [each["tests"] for each in report(verdicts)] == [["t::a"], []]


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "tests.defences", *arguments],
        capture_output=True,
        check=False,
        cwd=ROOT,
        text=True,
        timeout=600,
    )


def test_the_command_lists_what_it_would_remove():
    done = run("--list", "--only", "5")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) == 2 + sum(each.row == 5 for each in defences())


def test_a_row_without_defences_is_told_from_the_others():
    done = run("--only", "99")
    assert done.returncode == 2
    assert "no defence of row 99" in done.stderr


@pytest.mark.deep("defences")
def test_the_defences_of_today_are_seen():
    """Ten of the short form; other ones on another day."""
    day = str(int(time.time()) // DAY_S)
    few = ("--sample", "10", "--seed", day)
    done = run("--short", *few, "--processes", "2", "--unproven")
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


# fmt: off
MADE = [
    ("arena/cards.cpython-311-x86_64-linux-gnu.so", "a module that was compiled would be run in place of the changed source"),
    ("clients/rust/target/release/deps/rmeta",      "cargo writes and removes files there while a copy is made"),
    ("clients/typescript/node_modules/a/index.js",  "packages of npm, which are many"),
    ("clients/typescript/dist/index.js",            "what was bundled"),
    (".venv/bin/python",                            "the environment, which is used where it is"),
]
# fmt: on


@pytest.mark.parametrize(("made", "why"), MADE, ids=[row[1] for row in MADE])
def test_a_copy_has_what_was_written_and_nothing_that_was_made(made, why, tmp_path):
    root = tmp_path / "checkout"
    for name in (made, "arena/games/cards.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    copy = Checkout(root, tmp_path / "copies")
    assert [
        str(each.relative_to(copy.root)) for each in copy.root.rglob("*") if each.is_file()
    ] == ["arena/games/cards.py"]
