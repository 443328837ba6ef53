"""The GitHub Action: its script is run with recorded answers of `arena`, and writes a verdict."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from arena.referee.wire.message_json import message_json
from arena.results.qualification_report import Check, QualificationReport
from cardarena.v1 import bots_pb2, comparisons_pb2

ROOT = Path(__file__).parent.parent
ACTION = ROOT / "deploy" / "github"
VERDICT = runpy.run_path(str(ACTION / "verdict.py"))
EVIL = "```</code><script>alert(1)</script> @everyone"


def check(*, passed=True):
    checks = (
        Check("manifest", passed=True),
        Check("start", passed=True),
        Check("jam", passed=passed, seats=3, problem="" if passed else EVIL),
    )
    return {"name": "my-bot"} | QualificationReport("0" * 64, "q7", 9.4, checks).as_json()


def comparison(decision="BETTER"):
    number = comparisons_pb2.ComparisonDecision.Value(f"COMPARISON_DECISION_{decision}")
    message = comparisons_pb2.Comparison(
        first="after", second="before", mean=1.5, low=0.5, high=2.5, e_value=31.0, deal_sets=24,
        decision=number,
    )  # fmt: skip
    return {"game": "jam", "seats": 3} | message_json(message)


SUBMITTED = message_json(
    bots_pb2.GetReportResponse(version=bots_pb2.VersionInfo(bot="my-bot", version=8, parent=7))
)
FAKE = """#!{python}
import json, os, sys
from pathlib import Path
folder = Path(os.environ["ANSWERS"])
name = Path(sys.argv[0]).name
with (folder / "calls").open("a") as calls:
    calls.write(json.dumps([name, *sys.argv[1:]]) + "\\n")
answer = folder / f"{{name}}-{{sys.argv[1]}}"
print(answer.read_text() if answer.exists() else "", end="")
sys.exit(4 if sys.argv[1] == "compare" else 0)
"""


@pytest.fixture
def run(tmp_path):
    """Run the script with answers of commands, by their names; what it did."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("arena", "gh", "git"):
        (tools / name).write_text(FAKE.format(python=sys.executable))
        (tools / name).chmod(0o755)

    def act(answers, **given):
        for name, answer in answers.items():
            text = answer if isinstance(answer, str) else json.dumps(answer)
            (tmp_path / name).write_text(text)
        environment = {
            "PATH": f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "ANSWERS": str(tmp_path),
            "RUNNER_TEMP": str(tmp_path / "temp"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            "GITHUB_REPOSITORY": "ann/bots",
            "GITHUB_BASE_REF": "main",
            "BOT": "my-bot",
            "GAME": "jam",
            "DEAL_SETS": "60",
            "PULL_REQUEST": "5",
        }
        done = subprocess.run([ACTION / "run"], env=environment | given, check=False, cwd=ROOT)
        calls = [json.loads(line) for line in (tmp_path / "calls").read_text().splitlines()]
        return done.returncode, (tmp_path / "summary.md").read_text(), calls

    return act


def test_a_verdict_is_written_on_the_pull_request(run):
    code, summary, calls = run({"arena-check": check(), "arena-compare": comparison()})
    assert code == 0
    assert "would be qualified" in summary
    assert "after is better than before: +1.50 points a match" in summary
    (compared,) = [call for call in calls if call[:2] == ["arena", "compare"]]
    assert compared[2:4] == [
        "after=my-bot",
        next(word for word in compared if word.endswith("base/my-bot")),
    ]
    assert calls[-1][:3] == ["gh", "api", "repos/ann/bots/issues/5/comments"]
    assert "-X" not in calls[-1]


def test_a_later_verdict_changes_the_comment(run):
    _, _, calls = run({"arena-check": check(), "arena-compare": comparison(), "gh-api": "77\n78\n"})
    assert calls[-1][:5] == ["gh", "api", "-X", "PATCH", "repos/ann/bots/issues/comments/77"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param((check(passed=False), None), "not be qualified", id="not qualified"),
        pytest.param((check(), comparison("WORSE")), "is worse", id="worse"),
        pytest.param((None, None), "could not be checked", id="no check"),
    ],
)
def test_a_bad_verdict_fails(given, words):
    text, good = VERDICT["verdict"](*given)
    assert not good
    assert words in text


def test_a_comparison_without_a_decision_passes():
    assert VERDICT["verdict"](check(), comparison("UNSPECIFIED"))[1]


def test_text_of_a_bot_is_code_that_it_cannot_end():
    text, _ = VERDICT["verdict"](check(passed=False), None)
    assert text.count("```") == 2
    assert "<script>" in text.partition("```text")[2].partition("```")[0]


def test_an_arena_compares_the_submitted_version_with_the_active_one(run):
    answers = {"arena-check": check(), "arena-bots": SUBMITTED, "arena-compare": comparison()}
    given = {"SERVER": "arena.example:7654", "NAME": "my-bot"}
    _, _, calls = run(answers, **given)
    (compared,) = [call for call in calls if call[:2] == ["arena", "compare"]]
    assert compared[2:4] == ["my-bot@8", "my-bot@7"]


def test_no_input_is_part_of_a_script():
    action = yaml.safe_load((ACTION / "action.yml").read_text("utf-8"))
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    assert scripts
    assert not any("${{" in script for script in scripts)
