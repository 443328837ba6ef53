"""What is said of a comparison, and when."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.results.anytime import bet
from arena.results.anytime.forecast import forecast
from arena.results.anytime.multiple_tests import holds_among
from arena.results.anytime.verdict import Decision, verdict

STRONG = [6.0] * 30
EVEN = [1.0, -1.0] * 300


@pytest.mark.parametrize(
    ("margins", "bound", "same_within", "decision"),
    [
        pytest.param([], 12.0, None, Decision.OPEN, id="nothing was played"),
        pytest.param(STRONG, 12.0, None, Decision.BETTER, id="it always wins"),
        pytest.param([-x for x in STRONG], 12.0, None, Decision.WORSE, id="it always loses"),
        pytest.param(EVEN, 12.0, None, Decision.OPEN, id="they win in turn"),
        pytest.param(EVEN, 12.0, 1.5, Decision.SAME, id="the interval lies within the points"),
        pytest.param(EVEN, 12.0, 0.001, Decision.OPEN, id="the interval does not"),
        pytest.param(STRONG, 12.0, 12.0, Decision.BETTER, id="better goes before the same"),
        pytest.param([6.0, 5.9] * 50, None, None, Decision.BETTER, id="no rule bounds it"),
    ],
)
def test_what_is_said(margins, bound, same_within, decision):
    assert verdict(margins, bound, same_within=same_within).decision is decision


# fmt: off
PLAIN = [
    # margins                    the interval           why
    ([1.0, 3.0] * 14,            None,                  "fewer than thirty"),
    ([2.0] * 30,                 None,                  "equal margins have no deviation"),
    ([1.0, 3.0] * 15,            (1.6202, 2.3798),      "t with 29 degrees of freedom is 2.045"),
    (EVEN,                       (-0.0802, 0.0802),     "nearly normal"),
]
# fmt: on


@pytest.mark.parametrize(("margins", "plain", "_why"), PLAIN, ids=[row[-1] for row in PLAIN])
def test_the_plain_interval_is_that_of_students_t(margins, plain, _why):
    told = verdict(margins, 12.0).plain
    assert told == (None if plain is None else pytest.approx(plain, abs=1e-4))


def test_a_decision_is_final():
    told = verdict(STRONG + [-6.0] * 30, 12.0)
    assert told.decision is Decision.BETTER
    assert told.decided_after == verdict(STRONG, 12.0).decided_after < 30
    assert told.e_value < 20.0


def test_it_says_what_it_rests_on():
    told = verdict([1.0, 3.0], 12.0)
    assert (told.mean, told.deal_sets, told.approximate) == (2.0, 2, False)
    assert told.e_value == pytest.approx(bet.evidence([1.0, 3.0], 12.0).e_value)
    assert verdict([1.0, 3.0], None).approximate
    assert verdict([1.0, 3.0], None).needed is None


def test_what_is_decided_needs_no_more():
    assert verdict(STRONG, 12.0).needed is None
    assert verdict(EVEN, 12.0).needed is not None


@given(st.lists(st.integers(-12, 12), min_size=2, max_size=50))
def test_what_is_still_needed_is_a_band_around_the_likely(margins):
    band = forecast([float(x) for x in margins], 12.0)
    fewest, likely, most = (
        math.inf if each is None else each for each in (band.fewest, band.likely, band.most)
    )
    assert 0 <= fewest <= likely <= most


def test_a_lead_within_its_error_may_never_end():
    assert forecast([1.0, -1.0, 1.0, -1.0, 0.5], 12.0).most is None


def test_two_equals_may_never_end():
    assert forecast([1.0, -1.0], 12.0).likely is None


@pytest.mark.deep("statistics")
def test_half_of_the_comparisons_take_longer_than_promised_and_half_less():
    promised, needed = [], []
    for run in range(150):
        margins = np.random.default_rng([7, run]).normal(0.2, 1.0, 4_000).clip(-6, 6)
        crossed = np.flatnonzero(bet.log_path(margins, 6.0) >= math.log(20.0))
        total = int(crossed[0]) + 1
        if total > 100:
            promised.append(forecast(margins[:100], 6.0).likely or math.inf)
            needed.append(total - 100)
    assert np.median(promised) == pytest.approx(np.median(needed), rel=0.35)


@pytest.mark.parametrize(
    ("e_values", "stands"),
    [
        pytest.param([20.0], (True,), id="one question that was decided"),
        pytest.param([19.9], (False,), id="one that was not"),
        pytest.param([20.0, 1.0], (False, False), id="one of two has to be twice as sure"),
        pytest.param([40.0, 1.0], (True, False), id="and then is"),
        pytest.param([20.0, 20.0], (True, True), id="or both are as sure as one"),
        pytest.param([1.0, 60.0, 31.0, 26.0], (False, False, False, False), id="no k suffices"),
        pytest.param(
            [1.0, 60.0, 41.0, 20.0], (False, True, True, False), id="the largest k counts"
        ),
        pytest.param([math.inf, 0.0], (True, False), id="beyond what a float holds"),
        pytest.param([], (), id="nothing was asked"),
    ],
)
def test_which_answers_hold_among_all_that_were_asked(e_values, stands):
    assert holds_among(e_values) == stands


def test_signs_are_a_test_of_their_own():
    """One large loss in eight: it scores more in more deal-sets, and no more in all."""
    told = verdict([1.0] * 7 + [-7.0], 12.0)
    assert told.mean == 0.0
    often = verdict(([1.0] * 7 + [-7.0]) * 8, 12.0)
    assert (often.decision, often.more_often) == (Decision.OPEN, Decision.BETTER)
    assert often.more_often_e_value == pytest.approx(
        bet.evidence(([1.0] * 7 + [-1.0]) * 8, 1.0).e_value
    )
    assert verdict(EVEN, 12.0).more_often is Decision.OPEN


@pytest.mark.parametrize(
    ("margins", "bound", "deviations", "at_least"),
    [
        pytest.param([1.0, 3.0], 12.0, 12.0 / 2**0.5, 23, id="ln 40 times twelve over two"),
        pytest.param([-1.0, -3.0], 12.0, 12.0 / 2**0.5, 23, id="a loss takes as long"),
        pytest.param([1.0, -1.0], 12.0, 12.0 / 2**0.5, None, id="two equals may never be decided"),
        pytest.param([2.0, 2.0], 12.0, None, 23, id="margins that do not vary"),
        pytest.param([2.0], 12.0, None, 23, id="one margin has no deviation"),
        pytest.param([1.0, 3.0], None, None, None, id="no rule bounds it"),
    ],
)
def test_what_a_loose_bound_costs(margins, bound, deviations, at_least):
    told = verdict(margins, bound)
    assert told.bound_in_deviations == (deviations and pytest.approx(deviations))
    assert told.at_least == at_least


@pytest.mark.parametrize("margin", [0.5, 1.0, 3.0, 6.0, 12.0])
def test_nothing_is_decided_before_the_least_that_a_decision_takes(margin):
    path = bet.log_path([margin] * 400, 12.0)
    reached = np.flatnonzero(path >= math.log(20.0))
    at_least = verdict([margin], 12.0).at_least
    assert not len(reached) or reached[0] + 1 >= at_least
