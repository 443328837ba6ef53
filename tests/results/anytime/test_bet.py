"""The bet on bounded margins: exact identities, and what it promises."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.results.anytime import bet
from arena.results.anytime.bet import STAKES, BeyondBound, evidence, interval, log_path

BOUND = 12.0
margins = st.lists(st.floats(-BOUND, BOUND), max_size=60)
some_margins = st.lists(st.floats(-BOUND, BOUND), min_size=1, max_size=60)


def learnt(y):
    """The value of the bet that learns its stake, margin by margin."""
    value = 1.0
    for i in range(1, len(y) + 1):
        past = y[: i - 1]
        m = sum(past) / (i - 1 + 8)
        v = (sum(x**2 for x in past) + 0.02) / i
        value *= 1 + min(max(m / (v + m**2), 0.0), 0.95) * y[i - 1]
    return value


def by_hand(margins, bound):
    """E as the formula has it, product by product."""

    def grown(y):
        fixed = sum(math.prod(1 + k * x for x in y) for k in STAKES) / len(STAKES)
        return (fixed + learnt(y)) / 2

    better, worse = (grown([sign * x / bound for x in margins]) for sign in (1, -1))
    return better, worse, (better + worse) / 2


def test_the_stakes_are_the_middles_of_24_equal_shares_of_the_arcsine_law():
    shares = [2 / math.pi * math.asin(math.sqrt(stake)) for stake in STAKES]
    assert shares == pytest.approx([(2 * k + 1) / 48 for k in range(24)])


def test_the_bet_that_learns_stakes_nothing_on_the_first_margin():
    (better,), (worse,) = (each[:, 0] for each in bet._learnt_stakes(np.ones((1, 5))))
    assert (better, worse) == (0.0, 0.0)


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
def test_negated_margins_swap_the_evidence(margins):
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


def against(margins, mean):
    return evidence([x - mean for x in margins], BOUND + abs(mean)).e_value


@given(some_margins, st.floats(-BOUND, BOUND))
@example([BOUND] * 40, 0.0)
@example([0.0] * 40, 1.0)
@example([2.0] * 20 + [-2.0] * 20, 0.5)
def test_outside_of_the_interval_the_bets_speak_against_each_mean(margins, mean):
    low, high = interval(margins, BOUND)
    assert -BOUND <= low <= math.fsum(margins) / len(margins) + 1e-9
    assert math.fsum(margins) / len(margins) - 1e-9 <= high <= BOUND
    step = 2 * BOUND / 255  # what is not rejected between two means that are tried may be missed
    if not low - step <= mean <= high + step:
        assert against(margins, mean) >= 20.0


@given(some_margins)
@example([BOUND] * 40)
@example([0.0] * 40)
def test_at_its_edges_the_evidence_is_what_decides(margins):
    for edge in interval(margins, BOUND):
        if abs(edge) < BOUND:
            assert against(margins, edge) == pytest.approx(20.0, rel=1e-3)


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
