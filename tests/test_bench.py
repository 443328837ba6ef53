"""What is measured is what it says: a benchmark that is broken, or measures nothing, is found here."""

import json

import pytest
from click.testing import CliRunner

from arena.games.catalogue import game_by_id
from arena.local.many import DealSetResult
from arena.local.match import Result
from bench import __main__ as bench
from bench import house, rules, strength
from bench.encode import MOVES, ask_60_moves
from bench.processes import Failed
from cardarena.v1 import play_pb2
from cardarena.v1.game_pb2 import Fault, FaultKind


def test_the_ask_that_is_measured_has_sixty_moves_and_is_each_seats_in_turn():
    build = ask_60_moves()
    asks = [play_pb2.Asks.FromString(build()).asks[0].democracy for _ in range(7)]
    assert {len(ask.moves) for ask in asks} == {MOVES}
    assert all(ask.view.island.plays for ask in asks)
    held = [tuple(ask.view.held) for ask in asks]
    assert len(set(held)) == 6
    assert held[6] == held[0]


def test_a_part_that_fails_loses_nothing_of_those_before_it(tmp_path, monkeypatch):
    def fails(*_):
        raise Failed("there is no port left")

    monkeypatch.setattr(bench, "PARTS", {"rules": ("", lambda *_: {"jam": 9}), "wire": ("", fails)})
    file = tmp_path / "figures.json"
    done = CliRunner().invoke(bench.main, ["--json", str(file)])
    assert done.exit_code == 1
    assert "there is no port left" in done.output
    figures = json.loads(file.read_text("utf-8"))
    assert figures["rules"] == {"jam": 9}
    assert figures["date"]
    assert figures["versions"]


@pytest.mark.deep("bench")
@pytest.mark.parametrize("part", ["wire", "clock"])
def test_a_part_ends_with_figures(part, tmp_path):
    file = tmp_path / "figures.json"
    done = CliRunner().invoke(bench.main, ["--only", part, "--quick", "--json", str(file)])
    assert done.exit_code == 0, done.output
    assert json.loads(file.read_text("utf-8"))[part]


@pytest.mark.parametrize("offered", [False, True], ids=["legal moves", "offered moves"])
def test_decisions_of_the_rules_are_counted(offered):
    now = iter(range(100))
    assert rules.rate_of(game_by_id("eleusis_express"), now.__next__, offered=offered)(3) > 1


def test_each_decision_of_the_house_bot_is_timed():
    found = list(house.decisions_ms(game_by_id("jam"), 0, 4))
    assert len(found) == 4
    assert min(found) > 0


# fmt: off
CHANCES = [
    # margin  error  chance           why
    (2.0,     0.955, 0.025,           "about at the end of its interval"),
    (0.0,     1.0,   0.5,             "no margin"),
    (2.0,     0.0,   None,            "all margins are equal"),
]
# fmt: on


@pytest.mark.parametrize(
    ("margin", "error", "chance", "why"), CHANCES, ids=[row[-1] for row in CHANCES]
)
def test_the_chance_of_a_margin(margin, error, chance, why):
    p = strength.p_of(margin, error, 19)
    assert p == (None if chance is None else pytest.approx(chance, rel=0.01))


def test_a_bot_is_measured_against_the_mean_of_the_others_at_every_seat():
    trial = strength.Trial("democracy", "democracy.py", seats=3)
    matches = [
        Result("democracy", "1", scores, (1, 2, 3), (), faults, (), 9, None)
        for scores, faults in [
            ((6, 0, 0), ()),
            ((0, 6, 0), [Fault(seat=1, kind=FaultKind.FAULT_KIND_ILLEGAL)]),
            ((3, 0, 3), [Fault(seat=1, kind=FaultKind.FAULT_KIND_ILLEGAL)]),
        ]
    ]
    result = DealSetResult(0, 0, "1", tuple(matches))
    found = strength.finding(trial, [result, result])
    assert found.margin == (6 + 6 + 3) / 3 - (3 / 3) / 2
    assert found.faults == {"FAULT_KIND_ILLEGAL": 2}
