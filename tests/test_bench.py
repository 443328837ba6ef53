"""What is measured is what it says: a benchmark that is broken, or measures nothing, is found here."""

import itertools
import json

import pytest
from click.testing import CliRunner

from arena.games.catalogue import game_by_id
from bench import __main__ as bench
from bench import hands, house, metrics, peers, strength
from bench.encode import MOVES, ask_60_moves
from bench.processes import Failed
from cardarena.v1 import play_pb2


def clock():
    """Goes on by a second at each look."""
    return itertools.count().__next__


def test_the_ask_that_is_measured_has_sixty_moves_and_is_each_seats_in_turn():
    build = ask_60_moves()
    asks = [play_pb2.Asks.FromString(build()).asks[0].democracy for _ in range(7)]
    assert {len(ask.moves) for ask in asks} == {MOVES}
    assert all(ask.view.island.plays for ask in asks)
    held = [tuple(ask.view.held) for ask in asks]
    assert len(set(held)) == 6
    assert held[6] == held[0]


@pytest.mark.parametrize("name", hands.EVALUATORS)
def test_an_evaluator_puts_hands_in_order(name):
    evaluate = hands.EVALUATORS[name]()
    flush, pair = (
        evaluate(text.split()) for text in ("As Ks 9s 5s 2s 3d 4h", "As Ad 9s 5c 2s 3d Jh")
    )
    # phevaluator counts from the best hand down
    assert (flush < pair) if name == "phevaluator" else (flush > pair)
    assert hands.rate_of(evaluate, clock())(10) > 0


@pytest.mark.parametrize("name", peers.PEERS)
def test_a_peer_plays_where_it_is_installed(name):
    try:
        rate = peers.PEERS[name]()
    except ImportError:
        pytest.skip("scripts/setup bench installs it")
    assert rate(0.01) > 0


def test_what_it_costs_to_count_is_told():
    costs = metrics.measure(rounds=1)
    assert costs.page_ms > 0
    assert costs.page_ms >= costs.page_loop_ms
    assert 0 <= costs.ledger_us < costs.decision_us


def test_a_part_that_fails_loses_nothing_of_those_before_it(tmp_path, monkeypatch):
    def fails(*_):
        raise Failed("there is no port left")

    monkeypatch.setattr(bench, "PARTS", ("encode", "wire"))
    monkeypatch.setattr(bench, "_encode", lambda *_: {"encode": {"us": 9.0}})
    monkeypatch.setattr(bench, "_wire", fails)
    file = tmp_path / "figures.json"
    done = CliRunner().invoke(bench.main, ["--json", str(file)])
    assert done.exit_code == 1
    assert "there is no port left" in done.output
    found = json.loads(file.read_text("utf-8"))
    assert found["encode"] == {"us": 9.0}
    assert found["date"]
    assert found["versions"]


def test_each_decision_of_the_house_bot_is_timed():
    found = list(house.decisions_ms(game_by_id("jam"), 0, 4))
    assert len(found) == 4
    assert min(found) > 0


# fmt: off
CHANCES = [
    # margin   ± 95 %  chance   why
    (2.0,      2.0,    0.025,   "at the end of its interval"),
    (0.0,      2.0,    0.5,     "no margin"),
    (None,     None,   None,    "nothing can be told"),
]
# fmt: on


@pytest.mark.parametrize(
    ("margin", "half_width", "chance", "why"), CHANCES, ids=[row[-1] for row in CHANCES]
)
def test_the_chance_of_a_margin(margin, half_width, chance, why):
    found = strength._p(margin, half_width, 20)
    assert found == (None if chance is None else pytest.approx(chance))
