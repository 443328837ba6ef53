"""Pairs, circles, and what a line does not explain."""

import numpy as np
import pytest

from arena.anytime.verdict import Decision, verdict
from arena.rating.margin_fit import DealSet, MatchScores, fit
from arena.rating.pairs import cycles, pair_margins, unexplained_share, verdicts
from tests.rating.test_margin_fit import deal_set

BOUND = 12.0


def duels(beats, rng, *, deal_sets=120, noise=1.0):
    """Deal-sets of two; `beats` has by how much the first of a pair leads the second."""
    return [
        deal_set(
            {one: lead + rng.normal(0, noise), other: 0.0},
            {other: 0.0, one: lead + rng.normal(0, noise)},
        )
        for _ in range(deal_sets)
        for (one, other), lead in beats.items()
    ]


def table(played, bound=BOUND):
    margins = pair_margins(played)
    return cycles(verdicts(margins, bound)), unexplained_share(fit(played), margins)


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


def test_a_pairs_margin_is_the_mean_over_the_tables_at_which_both_sat():
    played = [
        deal_set({"a": 5, "b": 1, "c": 0}, {"b": 2, "c": 0, "a": 4}),
        deal_set({"c": 1, "b": 0}, {"b": 0, "c": 3}),
    ]
    assert pair_margins(played) == {("a", "b"): [3.0], ("a", "c"): [4.5], ("b", "c"): [1.5, -2.0]}


def test_a_bot_at_two_seats_has_no_margin_against_itself():
    played = [DealSet((MatchScores(("a", "a", "b"), (3.0, 0.0, 1.0)),))]
    assert pair_margins(played) == {}


@pytest.mark.parametrize(("lead", "decision"), [(2.0, Decision.BETTER), (-2.0, Decision.WORSE)])
def test_a_pair_is_decided_for_the_better(lead, decision):
    margins = pair_margins(duels({("a", "b"): lead}, np.random.default_rng(6)))
    assert verdicts(margins, BOUND)["a", "b"].decision is decision
    assert verdicts(margins, None)["a", "b"].approximate


def test_a_pair_is_decided_among_all_pairs_and_not_alone():
    alone = {("a", "b"): [6.0] * 14}
    assert verdict(alone["a", "b"], BOUND).e_value < 100.0
    even = {("a", f"z{number}"): [1.0, -1.0] * 5 for number in range(10)}
    assert verdicts(alone, BOUND)["a", "b"].decision is Decision.BETTER
    assert verdicts(alone | even, BOUND)["a", "b"].decision is Decision.OPEN
