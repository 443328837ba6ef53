"""The table of errors: every kind, reason and exit code has one row, which docs/errors.md lists."""

import ast
import re
import runpy
from collections import Counter
from pathlib import Path

import grpc
import pytest

from arena.errors import ENTRIES, checks, entry, exits, fault_reason, faults, refusal, refusals
from arena.referee.spec import AbortCause, FaultKind
from arena.sandbox.spawner import spawn
from arena.testing.qualification import robustness
from cardarena import _run as sdk
from cardarena.v1 import game_pb2, play_pb2

ROOT = Path(__file__).parents[2]
ARENA = sorted((ROOT / "arena").rglob("*.py"))


@pytest.mark.parametrize("part", ["code", "meaning"])
def test_no_two_rows_say_the_same(part):
    found = Counter(getattr(each, part) for each in ENTRIES)
    assert [name for name, number in found.items() if number > 1] == []


@pytest.mark.parametrize("row", ENTRIES, ids=[each.code for each in ENTRIES])
def test_a_row_is_written_as_messages_are(row):
    assert re.fullmatch(r"[FARQSX](-[A-Z0-9]+)+", row.code)
    assert row.meaning[0].islower()
    assert not row.meaning.endswith(".")
    assert all(sentence.endswith(".") for sentence in (row.cause, row.cure))


def test_the_page_lists_every_row():
    made = runpy.run_path(str(ROOT / "scripts" / "error_page.py"))
    listed = [row for _, _, rows in made["SECTIONS"] for row in rows]
    assert Counter(listed) == Counter(ENTRIES)


def test_every_kind_of_fault_and_cause_of_an_abort_has_its_row():
    assert [each.entry.code for each in FaultKind] == [f"F-{each.name}" for each in FaultKind]
    assert [each.entry.code for each in AbortCause] == [f"A-{each.name}" for each in AbortCause]
    assert len(faults.FAULTS) == len(FaultKind) == len(game_pb2.FaultKind.keys()) - 1
    assert len(faults.ABORTS) == len(AbortCause) + 1 == len(game_pb2.AbortCause.keys())


# fmt: off
SAID = [
    (faults.LATE,       {}),
    (faults.BAD_INDEX,  {"index": "9", "offered": "3"}),
    (faults.BAD_MOVE,   {"move": "play (2h\n.*"}),
    (faults.AWAY,       {"seconds": "2.5"}),
    (faults.NOT_PLAYED, {"game": "jam", "seats": "3"}),
    (faults.UNREADABLE, {"why": "anything at all"}),
]
# fmt: on


@pytest.mark.parametrize(("row", "fields"), SAID, ids=[row.code for row, _ in SAID])
def test_a_reason_is_read_back_from_its_text(row, fields):
    assert row.read(row.text(**fields)) == fields


@pytest.mark.parametrize("row", faults.REASONS, ids=[row.code for row in faults.REASONS])
def test_a_text_is_no_other_reason_of_its_kind(row):
    fields = dict.fromkeys(re.findall(r"\{(\w+)\}", row.sentence or row.meaning), "7")
    assert fault_reason(row.code.split("-")[1], row.text(**fields)) is row


def test_a_text_of_another_version_is_no_reason():
    assert fault_reason("TIMEOUT", "it slept") is None


def strings_given_to(name, place=0):
    """The string constants that calls of a name have in a place, in all of the arena."""
    for path in ARENA:
        source = path.read_text("utf-8")
        if f"{name}(" not in source:  # most have none, and to parse all takes seconds
            continue
        for node in ast.walk(ast.parse(source)):
            if not (isinstance(node, ast.Call) and len(node.args) > place):
                continue
            called = node.func.id if isinstance(node.func, ast.Name) else None
            given = node.args[place]
            if called == name and isinstance(given, ast.Constant) and isinstance(given.value, str):
                yield given.value


def reasons_of_errors():
    """The reasons in class statements, as of `class NameTaken(RefusalError, reason="NAME_TAKEN")`."""
    statement = re.compile(r'^class \w+\(.*, reason="(\w+)"\):$', re.MULTILINE)
    for path in ARENA:
        yield from statement.findall(path.read_text("utf-8"))


def test_every_refusal_is_given_and_every_one_given_has_a_row():
    in_messages = {
        name.partition("REFUSAL_REASON_")[2] or name.partition("GAME_REFUSAL_")[2]
        for enum in (play_pb2.RefusalReason, play_pb2.GameRefusal)
        for name in enum.keys()  # noqa: SIM118 - no mapping
    } - {"UNSPECIFIED"}
    given = set(strings_given_to("Refused")) | set(strings_given_to("refusal")) | in_messages
    given |= set(reasons_of_errors())
    given |= {"BOT_NOT_AVAILABLE", "DRAINING"}  # by the names of constants
    given |= set(_constants("arena/api/store_refusals.py"))
    given |= set(_constants("arena/live/orders.py"))
    assert {each.reason for each in refusals.REFUSALS} == {
        each for each in given if re.fullmatch(r"[A-Z]+(_[A-Z]+)*", each)
    }


def _constants(path):
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("row", refusals.REFUSALS, ids=[row.reason for row in refusals.REFUSALS])
def test_a_refusal_has_statuses_of_grpc(row):
    assert refusal(row.reason) is row
    assert all(hasattr(grpc.StatusCode, status) for status in row.statuses)


def test_the_table_of_the_play_stream_has_the_same_statuses():
    """The contract lists for each status the reasons that a stream ends with."""
    text = (ROOT / "proto" / "cardarena" / "v1" / "play.proto").read_text("utf-8")
    table = text[text.index("The table lists how a stream ends") : text.index("rpc Play(")]
    status, found = "", []
    for line in re.findall(r"^ *// \|(.*)\|$", table, re.MULTILINE):
        cells = [cell.strip() for cell in line.split("|")]
        status = cells[0] or status
        for reason in re.findall(r"\b[A-Z]+(?:_[A-Z]+)*\b", cells[1]):
            row = next((each for each in refusals.REFUSALS if each.reason == reason), None)
            if row is not None:
                found.append((reason, status, row.statuses))
    assert len(found) > 20
    assert [each for each in found if each[1] not in each[2]] == []


@pytest.mark.parametrize(
    "file", sorted((ROOT / "proto/cardarena/v1").glob("*.proto")), ids=lambda file: file.stem
)
def test_the_errors_of_calls_have_the_statuses_of_the_contract(file):
    for block in re.findall(r"  //\n  // Errors:\n((?:  //   .*\n)+)", file.read_text("utf-8")):
        for status, text in re.findall(r"//   ([A-Z_]+) +(.*\n(?:  //      +.*\n)*)", block):
            for reason in re.findall(r"\b[A-Z][A-Z_]+[A-Z]\b", text):
                assert status in refusal(reason).statuses, reason


def test_every_case_of_a_qualification_has_a_row():
    assert [robustness.entry_of(name) for name in robustness.NAMES] == list(checks.CASES)


def test_the_exit_codes_of_bots_and_of_the_sandbox_are_those_of_their_programs():
    numbers = {each.program: [] for each in exits.EXITS}
    for each in exits.EXITS:
        numbers[each.program].append(each.number)
    codes = (sdk.EXIT_UNREACHABLE, sdk.EXIT_REFUSED, sdk.EXIT_LIED, sdk.EXIT_INTERRUPTED)
    assert numbers["bot"] == [0, *codes]
    assert numbers["sandbox"] == [spawn._FAILED]
    assert entry("X-BOT-3").meaning == "the arena's deals are not what it committed to"


def test_commands_exit_with_codes_of_the_table_alone():
    """Every number or constant that a command exits with; click's own are 1 and 2."""
    allowed = {name for name in vars(exits) if name.isupper()}
    for path in ARENA:
        if path.parts[-2] not in ("cli", "terminal") and path != ROOT / "arena" / "__main__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in CODES_TAKEN_BY:
                for given in node.args[:1]:
                    assert ast.unparse(given).split(".")[-1] in allowed, (path, node.lineno)


CODES_TAKEN_BY = {
    "SystemExit",
    "context.exit",
    "ctx.exit",
    "click.exceptions.Exit",
    "sys.exit",
    "os._exit",
}
