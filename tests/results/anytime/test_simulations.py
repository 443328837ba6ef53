"""Equals, compared with a look after every deal-set: who errs in more than one of twenty, and who not.

The whole tables are `python -m tests.results.anytime null` and `power`; docs/statistics.md has them.
"""

import pytest

from tests.results.anytime.simulated import (
    LOOKS,
    NULLS,
    contaminated,
    errors,
    median_needed,
    peeked_t,
    the_bet,
)

RUNS = 500
UNTIL = (100, 1_000, 5_000)


@pytest.mark.deep("statistics")
@pytest.mark.parametrize("draw", NULLS.values(), ids=NULLS)
def test_the_bet_errs_in_one_of_twenty_comparisons_of_equals_at_most(draw):
    found = errors(draw, the_bet, runs=RUNS, until=UNTIL, seed=1)
    assert found.shares[-1] <= 0.05


@pytest.mark.parametrize("draw", NULLS.values(), ids=NULLS)
def test_a_t_test_that_is_looked_at_again_and_again_does_not(draw):
    found = errors(draw, peeked_t, runs=RUNS, until=UNTIL, seed=1)
    assert found.shares[-1] > 0.4


@pytest.mark.parametrize("name", ["normal", "t, 2.1 d.f.", "1 % ten times wider"])
def test_the_mixture_does_where_margins_are_near_normal(name):
    found = errors(NULLS[name], LOOKS["t mixture, c² = 400"], runs=RUNS, until=UNTIL, seed=1)
    assert found.shares[-1] <= 0.05


def test_the_mixture_is_wrong_about_long_shots_and_so_is_marked_approximate():
    found = errors(
        NULLS["1 % win 99-fold"], LOOKS["t mixture, c² = 400"], runs=RUNS, until=UNTIL, seed=1
    )
    assert found.shares[-1] > 0.2


@pytest.mark.deep("statistics")
@pytest.mark.parametrize(
    ("effect", "bound", "longest", "needed"),
    [(0.4, 6.0, 600, (60, 95)), (0.2, 6.0, 1_500, (145, 230)), (0.2, 12.0, 2_000, (240, 380))],
)
def test_a_true_difference_is_found_as_soon_as_documented(effect, bound, longest, needed):
    found = median_needed(
        contaminated, the_bet, effect, runs=RUNS, longest=longest, seed=2, bound=bound
    )
    assert needed[0] <= found <= needed[1]
