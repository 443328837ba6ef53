"""The sequential test of the two best bots: which two, and that its points are computed once."""

import pytest

from arena.api import pair_tests
from arena.api.pair_tests import LEAST_TESTED, MOST_POINTS, leading_test, points
from arena.results.anytime.verdict import verdict

NUMBERS = [
    (1, [1], "the first deal-set"),
    (MOST_POINTS, list(range(1, MOST_POINTS + 1)), "each deal-set"),
    (
        MOST_POINTS + 1,
        [*range(2, MOST_POINTS + 1, 2), MOST_POINTS + 1],
        "each second, and the last",
    ),
]


@pytest.mark.parametrize(("deal_sets", "shown", "why"), NUMBERS, ids=[row[2] for row in NUMBERS])
def test_so_many_points_are_shown(deal_sets, shown, why):
    assert points(deal_sets) == shown


@pytest.mark.parametrize("deal_sets", [60, 61, 119, 1_000])
def test_points_stay_when_a_deal_set_is_added(deal_sets):
    """But for the last one, and those that a larger step leaves out."""
    assert set(points(deal_sets + 1)) <= {*points(deal_sets), deal_sets + 1}


def test_the_first_two_bots_that_met_often_enough_are_tested():
    """A band after fewer deal-sets spans all that the rules allow, and says nothing."""
    few, enough = [1.0] * (LEAST_TESTED - 1), [2.0, -1.0] * (LEAST_TESTED // 2)
    margins = {("ann", "bob"): few, ("ann", "cid"): enough}
    found = leading_test(["cid", "bob", "ann"], margins, 12.0)
    assert (found["one"], found["other"]) == ("cid", "ann")
    last = verdict([-margin for margin in enough], 12.0)
    assert found["path"][-1] == (LEAST_TESTED, last.mean, last.low, last.high)
    assert found["decision"] == last.decision.value
    assert leading_test(["ann", "bob"], margins, 12.0) is None


@pytest.mark.parametrize("bound", [12.0, None])
def test_a_closed_deal_set_costs_one_point(bound):
    margins = [float(number % 5 - 1) for number in range(40)]
    for most in (39, 40):
        computed = pair_tests._point.cache_info().misses
        leading_test(["ann", "bob"], {("ann", "bob"): margins[:most]}, bound)
    assert pair_tests._point.cache_info().misses == computed + 1
    leading_test(["ann", "bob"], {("ann", "bob"): margins}, bound)  # as a page is made again
    assert pair_tests._point.cache_info().misses == computed + 1
