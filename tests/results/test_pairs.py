"""Pairs, circles, and what a line does not explain."""

import numpy as np
import pytest

from arena.results.anytime.verdict import Decision, PairVerdict, pair_verdicts, verdict
from arena.results.pairs import cycles, unexplained_share, verdicts

BOUND = 12.0


def duels(beats, rng, *, deal_sets=120, noise=1.0):
    """Margins of deal-sets of two; `beats` has by how much the first of a pair leads the second."""
    return {
        (min(pair), max(pair)): [
            (lead if pair[0] < pair[1] else -lead) + rng.normal(0, noise / 2**0.5)
            for _ in range(deal_sets)
        ]
        for pair, lead in beats.items()
    }


def table(margins, bound=BOUND):
    return cycles(verdicts(margins, bound)), unexplained_share(margins)


def test_a_circle_is_found_and_no_line_explains_it():
    beats = {("rock", "scissors"): 1.0, ("scissors", "paper"): 1.0, ("paper", "rock"): 1.0}
    found, share = table(duels(beats, np.random.default_rng(1)))
    assert found == (("paper", "rock", "scissors"),)
    assert share > 0.95


def test_on_a_line_there_is_no_circle_and_skills_explain_all():
    skills = {"a": 2.0, "b": 1.0, "c": 0.0, "d": -1.5}
    beats = {
        (one, other): skills[one] - skills[other]
        for one in skills
        for other in skills
        if one < other
    }
    found, share = table(duels(beats, np.random.default_rng(2)))
    assert found == ()
    assert share < 0.02


def test_two_wins_and_a_tie_in_a_circle_are_a_third_of_a_line():
    beats = {("a", "b"): 2.0, ("b", "c"): 2.0, ("c", "a"): 0.0}
    _, share = table(duels(beats, np.random.default_rng(3)))
    assert share == pytest.approx(2 / 3, abs=0.05)  # least squares by hand: 16/3 of 8 is left


def test_a_circle_counts_only_if_every_edge_is_decided():
    beats = {("a", "b"): 1.0, ("b", "c"): 1.0, ("c", "a"): 0.02}
    found, _ = table(duels(beats, np.random.default_rng(4)))
    assert found == ()


def test_where_chance_explains_all_there_is_no_share():
    rng = np.random.default_rng(5)
    played = duels(dict.fromkeys([("a", "b"), ("b", "c"), ("a", "c")], 0.0), rng, deal_sets=3)
    assert table(played)[1] is None or 0.0 <= table(played)[1] <= 1.0
    assert table(duels({("a", "b"): 1.0}, rng))[1] is None  # one pair fixes its own skills


@pytest.mark.parametrize(("lead", "decision"), [(2.0, Decision.BETTER), (-2.0, Decision.WORSE)])
def test_a_pair_is_decided_for_the_better(lead, decision):
    margins = duels({("a", "b"): lead}, np.random.default_rng(6))
    assert verdicts(margins, BOUND)["a", "b"].decision is decision
    assert verdicts(margins, None)["a", "b"].approximate


def test_a_pair_is_decided_among_all_pairs_and_not_alone():
    alone = {("a", "b"): [6.0] * 14}
    assert verdict(alone["a", "b"], BOUND).e_value < 100.0
    even = {("a", f"z{number}"): [1.0, -1.0] * 5 for number in range(10)}
    assert verdicts(alone, BOUND)["a", "b"].decision is Decision.BETTER
    assert verdicts(alone | even, BOUND)["a", "b"].decision is Decision.OPEN


@pytest.mark.parametrize("bound", [BOUND, None])
def test_pairs_that_are_judged_together_are_judged_as_each_alone(bound):
    rng = np.random.default_rng(7)
    lengths = (0, 1, 2, 5, 5, 5, 40, 120, 120)
    margins = [rng.uniform(-1.0, BOUND, number).tolist() for number in lengths]
    for of_pair, judged in zip(margins, pair_verdicts(margins, bound), strict=True):
        alone = verdict(of_pair, bound)
        parts = {name: getattr(alone, name) for name in PairVerdict.__slots__}
        assert judged == PairVerdict(**parts)
