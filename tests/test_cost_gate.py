"""The budget of instructions a decision: what is over it fails, and what cannot be compared does not."""

import json

import pytest
from click.testing import CliRunner

from bench import __main__ as bench
from bench import cost
from tests.programs import needs

ONE = cost.CASES[0].name


@pytest.fixture
def counted(monkeypatch, tmp_path):
    """Runs the part as a person would, where so many instructions are counted, one time after another."""

    def run(instructions, budgets):
        times = iter([instructions] * cost.TRIES if isinstance(instructions, int) else instructions)
        budget = tmp_path / "budget.json"
        budget.write_text(json.dumps({"instructions": budgets}))
        monkeypatch.setattr(cost, "BUDGET", budget)

        def count(case, marks, folder, allowed):
            return cost.Cost(case.name, next(times), 8.0, allowed)

        monkeypatch.setattr(cost, "_count", count)
        monkeypatch.setattr(cost, "_marks", lambda folder: folder)
        return CliRunner().invoke(bench.main, ["--only", "cost", "--quick"])

    return run


OVER = f"over the budget of instructions by more than 4.4%: {ONE}"
LOOSE = f"Lower the line in bench/budget.json: {ONE} to "

# fmt: off
ROWS = [
    (100_000, "",    "what the budget says"),
    (104_300, "",    "within the tolerance: runs of whole matches differ by some per cent"),
    (104_500, OVER,  "past the tolerance"),
    (110_000, OVER,  "a tenth slower"),
    (95_100,  "",    "a little better"),
    (94_900,  LOOSE, "so much better that as much could be lost again unnoticed"),
    ([108_600, 100_000], "", "over it while the machine was busy, and not when it is counted again"),
    ([108_600, 109_000, 100_000], "", "over it twice, and not the third time"),
    ([109_000, 108_600, 109_000, 100_000], f"{OVER} by 8.6%", "over it each of three times: the least is told"),
]
# fmt: on


@pytest.mark.parametrize(("instructions", "said", "why"), ROWS, ids=[row[2] for row in ROWS])
def test_a_run_keeps_its_budget(counted, instructions, said, why):
    done = counted(instructions, {cost.build(): {ONE: 100_000}})
    assert done.exit_code == bool(said)
    assert said in done.output


def test_wherever_a_line_may_stand_a_tenth_more_is_over_it():
    lowest = 1 - cost.SLACK
    assert lowest * 1.10 > 1 + cost.TOLERANCE


def test_another_build_has_no_budget_and_says_so(counted):
    done = counted(900_000, {"CPython 2.7.18, pure": {ONE: 1}})
    assert done.exit_code == 0
    assert "none" in done.output


def test_every_line_of_the_budget_is_of_a_case():
    told = json.loads(cost.BUDGET.read_text("utf-8"))
    names = {case.name for case in cost.CASES}
    assert {name for lines in told["instructions"].values() for name in lines} <= names


@pytest.mark.parametrize("build", json.loads(cost.BUDGET.read_text("utf-8"))["instructions"])
def test_a_build_that_has_a_budget_has_one_for_every_case(build):
    told = json.loads(cost.BUDGET.read_text("utf-8"))
    assert set(told["instructions"][build]) == {case.name for case in cost.CASES}


# A slowdown that is planted, and counted by valgrind.

ASK = next(case for case in cost.CASES if isinstance(case, cost.AskCase))
TURN = 117
"""Instructions of a turn of a loop that does nothing, counted with CPython 3.11."""


def count_ask(monkeypatch, turns):
    monkeypatch.setattr(cost, "PROGRAM", "tests.planted_cost")
    monkeypatch.setenv("PLANTED_TURNS", str(turns))
    (found,) = cost.measure([ASK], progress=lambda _: None)
    return found.instructions


@pytest.mark.deep("cost gate")
@needs("valgrind")
def test_a_planted_tenth_is_seen_and_a_hundredth_is_not(monkeypatch, tmp_path):
    budget = tmp_path / "budget.json"
    monkeypatch.setattr(cost, "BUDGET", budget)
    monkeypatch.setattr(cost, "TRIES", 1)
    budget.write_text(json.dumps({"instructions": {}}))
    line = count_ask(monkeypatch, 0)
    budget.write_text(json.dumps({"instructions": {cost.build(): {ASK.name: line}}}))
    monkeypatch.setattr(cost, "CASES", (ASK,))

    def gate(share):
        monkeypatch.setenv("PLANTED_TURNS", str(round(line * share / TURN)))
        return CliRunner().invoke(bench.main, ["--only", "cost"])

    noise, tenth = gate(0.01), gate(0.10)
    assert noise.exit_code == 0, noise.output
    assert tenth.exit_code == 1, tenth.output
    assert f"{ASK.name} by " in tenth.output
