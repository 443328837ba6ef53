"""The kit: its cases are whole, the Python SDK passes them, and planted faults are found."""

import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.games.catalogue import GAMES
from arena.testing.conformance.cases import STEPS, BadCase, chosen, folder, load
from arena.testing.conformance.deals import LIES
from arena.testing.conformance.endpoint import StreamEnded
from arena.testing.conformance.expected import Bound
from arena.testing.conformance.play import CaseResult, badge_line, judge, result_line
from arena.testing.conformance.relay import Frames
from cardarena.v1 import play_pb2
from tests.rows import slow_unless
from tests.sdk.kit import CASES, KIT, begun, judged, passes_every_case
from tests.testing.conformance import planted, recorded

ROOT = Path(__file__).resolve().parents[3]
README = (KIT / "README.md").read_text("utf-8")
CLIENT = [sys.executable, str(KIT / "python" / "client.py")]
QUICK = {"C1", "C2-games", "C3", "C14-plain", "C17", "C21-own-left-out", "C24", "C28"}
SECONDS = {"C14-plain", "C17"}
"""Those that take some."""


# The cases.


def test_the_kit_is_found_beside_the_checkout():
    assert folder() == KIT


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_case_says_what_and_where(case):
    assert case.title
    assert case.must
    place, _, name = case.source.partition(", ")
    assert place in CONTRACT
    if place == "play.proto":
        assert name in {"the head", "Play"} or is_in_play_proto(name)


CONTRACT = (
    *("play.proto", "docs/fair-deals.md", "docs/writing-a-client.md"),
    "clients/conformance/README.md",
)
"""Where a client's author reads what a case demands."""


def is_in_play_proto(name):
    message, _, field = name.partition(".")
    found = play_pb2.DESCRIPTOR.message_types_by_name.get(message)
    return found is not None and (not field or field in found.fields_by_name)


def test_the_cases_are_those_of_the_drafts_list():
    numbers = {int(re.match(r"C(\d+)", case.id)[1]) for case in CASES}
    assert numbers >= set(range(1, 29)) - {22, 23}, "22 and 23 are for who has the vectors"


def test_every_step_and_every_lie_is_explained_and_used():
    steps = [step for case in CASES for script in case.streams for step in script.steps]
    assert {name for step in steps for name in step if name in STEPS} == STEPS
    assert {step["lie"] for step in steps if "lie" in step} == LIES
    for name in STEPS | LIES:
        assert f"`{name}`" in README, name


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.id)
def test_the_recorded_asks_are_those_of_the_rules(game):
    kept = (KIT / "asks" / f"{game.id}.json").read_text("utf-8")
    assert kept == recorded.text(game), "run python -m tests.testing.conformance.recorded"


def test_the_cases_with_all_games_list_those_there_are():
    cases = recorded.CASES.read_text("utf-8")
    assert recorded.with_games(cases) == cases, "run python -m tests.testing.conformance.recorded"


# fmt: off
WRONG = [
    # the file                                          what is said of it
    ("[",                                               "1.json: this cannot be read"),
    ('[{"id": "C1"}]',                                  "missing"),
    ("[]",                                              "there are no cases"),
    ('[{"id": "C1", "title": "t", "must": "m", "source": "s", "streams": [{"steps": [{"sing": 1}]}]}]',
                                                        "a step does one of"),
    (json.dumps([{"id": "C1", "title": "t", "must": "m", "source": "s", "streams": []}] * 2),
                                                        "two cases have the id C1"),
]
# fmt: on


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[row[1] for row in WRONG])
def test_an_invalid_file_of_cases_is_an_error(tmp_path, text, said):
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "1.json").write_text(text)
    with pytest.raises(BadCase, match=said):
        load(tmp_path)


def test_cases_are_chosen_by_their_id_or_what_it_begins_with():
    assert [case.id for case in chosen(CASES, ["C28"])] == ["C28", "C28-head", "C28-welcome"]
    assert chosen(CASES, []) == CASES
    with pytest.raises(BadCase, match="no case C0"):
        chosen(CASES, ["C0"])


# What the scripted arena is made of.


def frame(kind, size, flags=0):
    return size.to_bytes(3, "big") + bytes([kind, flags]) + bytes(4) + bytes(size)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_http2_frames_are_found_in_any_split_of_the_bytes(size):
    data = frame(4, 0) + frame(0, 20) + frame(6, 8) + frame(6, 8, flags=1) + frame(0, 7)
    frames = Frames(preface=False)
    assert sum(frames.take(data[at : at + size]) for at in range(0, len(data), size)) == len(data)
    assert (frames.data_bytes, frames.pings) == (27, 1), "an answer to a ping is none"


@pytest.mark.parametrize(("most", "passed"), [(0, 9), (5, 14), (20, 38), (21, 39), (99, 45)])
def test_a_cut_falls_on_its_byte_of_data(most, passed):
    assert Frames(preface=False).take(frame(0, 20) + frame(0, 7), most) == passed


# fmt: off
COMPARED = [
    # expected                     seen                         difference
    ({"a": 1},                     {"a": 1, "b": 2},            ""),
    ({"a": 7},                     {"a": "7"},                  ""),
    ({"a": None},                  {},                          ""),
    ({"a": 1},                     {"a": 2},                    "it.a is 2; expected 1"),
    ({"a": [1, 2]},                {"a": [1, 3]},               "it.a[1] is 3; expected 2"),
    ({"a": [1, 2]},                {"a": [1]},                  "it.a is [1]; expected [1, 2]"),
    ({"a": {"b": 1}},              {"a": 3},                    "it.a is 3, and has no fields"),
    ({"a": "$x", "b": "$x"},       {"a": "z", "b": "z"},        ""),
    ({"a": "$x", "b": "$x"},       {"a": "z", "b": "y"},        "it.b is 'y'; expected 'z', as before"),
    ({"a": "$x"},                  {},                          "it.a is None; expected None, as before"),
]
# fmt: on


@pytest.mark.parametrize(("expected", "seen", "difference"), COMPARED)
def test_what_is_expected_is_compared(expected, seen, difference):
    assert Bound().differs(expected, seen, "it") == difference


def test_an_end_without_details_has_none():
    assert StreamEnded(planted.grpc.StatusCode.UNAVAILABLE).details() == b""


# The Python SDK.


@pytest.mark.parametrize(
    "case",
    slow_unless(lambda case: case.id not in SECONDS, [each for each in CASES if each.id in QUICK]),
    ids=lambda case: case.id,
)
def test_the_python_sdk_passes(case):
    verdict = judge(case, CLIENT, KIT)
    assert verdict.passed, f"{verdict.sentence}\n{verdict.stderr_tail}"


@pytest.fixture(scope="module")
def long(beside):
    """An idle stream is watched beside what comes next."""
    return begun(CLIENT, beside)


def with_fault(name):
    return [sys.executable, planted.__file__, name]


@pytest.fixture(scope="module")
def verdicts(long, request, beside):
    """Of the faults that are tried in this run."""
    tried = {
        item.callspec.params.get("fault")
        for item in request.session.items
        if hasattr(item, "callspec")
    }
    rows = [(each.__name__, found_by) for each, found_by in planted.FAULTS.items() if each in tried]
    return judged(rows, with_fault, beside)


@pytest.mark.deep("the SDK for Python")
@pytest.mark.parametrize(
    ("fault", "found_by"),
    planted.FAULTS.items(),
    ids=[fault.__name__ for fault in planted.FAULTS],
)
def test_a_planted_fault_is_found(verdicts, fault, found_by):
    verdict = verdicts[found_by].result()
    assert not verdict.passed
    assert "expected" in verdict.sentence, verdict.sentence


@pytest.mark.deep("the SDK for Python")
def test_the_python_sdk_passes_every_case(long):
    passes_every_case(CLIENT, long)


@pytest.mark.deep("the SDK for Python")
def test_the_bridge_passes_every_case(beside):
    """What only waits is watched beside the others."""
    client = [sys.executable, str(KIT / "stdio" / "client.py")]
    passes_every_case(client, begun(client, beside))


# The command.


def invoked(*arguments):
    return CliRunner().invoke(main, ["conformance", *arguments])


def test_the_command_says_pass_and_gives_a_badge():
    done = invoked("--case", "C32", "--badge", "--", *CLIENT)
    assert done.exit_code == 0, done.output
    assert "\nPASS 1/1\n" in done.output
    assert re.search(r"\*\*Card Arena contract 1: PASS 1/1\*\* \(`arena conformance`", done.output)


def test_the_command_says_what_was_expected_and_seen():
    done = invoked("--case", "C32", "--", sys.executable, "-c", "print('no client')")
    assert done.exit_code == 1
    assert "expected exit code 2; it ended with 0" in done.output
    assert done.output.endswith("FAIL 0/1\n")


def test_the_command_may_name_files_from_where_it_is_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "classes").mkdir()
    client = "import pathlib, sys; sys.exit(2 if pathlib.Path('classes').is_dir() else 9)"
    done = invoked("--case", "C32", "--", sys.executable, "-c", client)
    assert done.exit_code == 0, done.output


def test_the_command_prints_json():
    done = invoked("--case", "C32", "--json", "--", *CLIENT)
    said = json.loads(done.stdout)
    assert said["result"] == "PASS 1/1"
    assert [case["id"] for case in said["cases"]] == ["C32"]


def test_the_command_lists_its_cases():
    done = invoked("--list")
    assert done.exit_code == 0
    assert "C21-own-left-out" in done.output


# fmt: off
MISTAKES = [
    ([],                                "give the client's command after --"),
    (["--case", "C0", "--", "true"],    "there is no case C0"),
    (["--case", "C1", "--", "./nobody"], "./nobody cannot be started: No such file or directory"),
]
# fmt: on


@pytest.mark.parametrize(("arguments", "said"), MISTAKES, ids=[row[1] for row in MISTAKES])
def test_errors_are_one_sentence(arguments, said):
    done = invoked(*arguments)
    assert done.exit_code != 0
    assert said in done.output


def test_a_badge_counts_the_played_cases_only():
    verdicts = [CaseResult(case, case.id != "C3", "", 0.0, "") for case in CASES[:20]]
    assert result_line(verdicts) == "FAIL 19/20"
    assert "FAIL 19/20" in badge_line(verdicts, "2026-11-22")
