"""The bet on bounded margins: exact identities, and what it promises."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.anytime import bet
from arena.anytime.bet import STAKES, BeyondBound, evidence, interval, log_path

BOUND = 12.0
margins = st.lists(st.floats(-BOUND, BOUND), max_size=60)
some_margins = st.lists(st.floats(-BOUND, BOUND), min_size=1, max_size=60)


def by_hand(margins, bound):
    """E as the formula has it, product by product."""
    better = sum(math.prod(1 + k * x / bound for x in margins) for k in STAKES) / len(STAKES)
    worse = sum(math.prod(1 - k * x / bound for x in margins) for k in STAKES) / len(STAKES)
    return better, worse, (better + worse) / 2


def test_the_stakes_are_twelve_and_geometric():
    ratios = [later / stake for stake, later in itertools.pairwise(STAKES)]
    assert (len(STAKES), STAKES[0], STAKES[-1]) == (12, 0.02, pytest.approx(0.95))
    assert ratios == pytest.approx([ratios[0]] * 11)


@given(margins)
def test_it_is_the_mean_of_the_products(margins):
    found = evidence(margins, BOUND)
    better, worse, either = by_hand(margins, BOUND)
    assert math.exp(found.log_better) == pytest.approx(better, rel=1e-9)
    assert math.exp(found.log_worse) == pytest.approx(worse, rel=1e-9)
    assert found.e_value == pytest.approx(either, rel=1e-9)


@given(some_margins)
def test_the_path_has_the_evidence_after_each_margin(margins):
    path = log_path(margins, BOUND)
    assert path == pytest.approx(
        [evidence(margins[:n], BOUND).log_either for n in range(1, len(margins) + 1)], abs=1e-9
    )


@given(margins)
def test_who_is_who_only_swaps_the_sides(margins):
    found, other = evidence(margins, BOUND), evidence([-x for x in margins], BOUND)
    assert (other.log_better, other.log_worse) == (found.log_worse, found.log_better)


# Exact: over every outcome of a small game, weighed by its chance, E must come to 1. Any dependence
# on the past is allowed, so the second game's stakes depend on what was won so far.
FAIR_GAMES = {
    "a coin": lambda past: [(0.5, 1.0), (0.5, -1.0)],
    "a long shot": lambda past: [(0.1, 0.9), (0.9, -0.1)],
    "bolder when behind": lambda past: (
        [(0.5, 1.0), (0.5, -1.0)] if sum(past) < 0 else [(0.2, 0.4), (0.8, -0.1)]
    ),
}


@pytest.mark.parametrize("game", FAIR_GAMES.values(), ids=FAIR_GAMES)
def test_between_equals_the_evidence_stays_one_on_average(game):
    def expected(past, chance, left):
        if not left:
            return chance * evidence(past, 1.0).e_value
        return sum(expected([*past, x], chance * p, left - 1) for p, x in game(past))

    assert expected([], 1.0, 7) == pytest.approx(1.0, abs=1e-12)


@given(some_margins)
@example([BOUND] * 40)
@example([0.0] * 40)
def test_the_interval_is_what_the_bets_do_not_speak_against(margins):
    low, high = interval(margins, BOUND)
    mean = math.fsum(margins) / len(margins)
    assert -BOUND <= low <= mean + 1e-9
    assert mean - 1e-9 <= high <= BOUND

    def against(m):
        return evidence([x - m for x in margins], BOUND + abs(m)).e_value

    step = 1e-6
    for edge, outside in ((low, low - step), (high, high + step)):
        if abs(edge) < BOUND:
            assert against(edge) == pytest.approx(20.0, rel=1e-3)
            if abs(outside) < BOUND:
                assert against(outside) > 19.99


@given(some_margins)
def test_it_leaves_out_zero_when_the_evidence_decides(margins):
    low, high = interval(margins, BOUND)
    found = evidence(margins, BOUND).e_value
    if abs(found - 20.0) > 1e-6:
        assert (found >= 20.0) == (not low <= 0.0 <= high)


def test_with_nothing_played_everything_is_possible():
    assert interval([], BOUND) == (-BOUND, BOUND)
    assert evidence([], BOUND).e_value == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("wrong", [12.0001, -13.0, math.inf, math.nan])
def test_a_margin_beyond_the_bound_is_an_error_and_no_evidence(wrong):
    with pytest.raises(BeyondBound, match="rules allow"):
        evidence([1.0, wrong], BOUND)


@pytest.mark.parametrize("bound", [0.0, -1.0, math.nan])
def test_a_bound_is_above_zero(bound):
    with pytest.raises(ValueError, match="above 0"):
        evidence([0.0], bound)


def test_paths_of_many_runs_are_the_paths_of_each():
    rng = np.random.default_rng(3)
    runs = rng.uniform(-1, 1, (4, 30))
    for run, path in zip(runs, bet.log_paths(runs), strict=True):
        assert path == pytest.approx(log_path(run, 1.0), abs=1e-12)
