"""Intervals that hold all at once: exact cases, and tournaments by dice."""

import numpy as np
import pytest
from scipy import stats

from arena.results.margin_fit import Score, fit
from arena.results.simultaneous import half_widths, percentile
from tests.results.test_margin_fit import deal_set, normal, simulated


@pytest.mark.parametrize("number", [1, 2, 5, 40])
def test_of_independent_errors_it_is_known(number):
    exact = stats.norm.ppf((1 + 0.95 ** (1 / number)) / 2)
    assert percentile(np.eye(number), seed="s") == pytest.approx(exact, abs=0.03)


def test_errors_that_are_one_need_no_more_than_one():
    assert percentile(np.array([[1.0, -1.0], [-1.0, 1.0]]), seed="s") == pytest.approx(
        1.96, abs=0.03
    )


def test_the_unit_of_the_errors_does_not_matter():
    covariance = np.array([[4.0, 1.0], [1.0, 9.0]])
    assert percentile(1e-6 * covariance, seed="s") == percentile(covariance, seed="s")


def test_what_never_varied_needs_nothing():
    assert percentile(np.zeros((3, 3)), seed="s") == 0.0


def test_it_follows_from_the_seed():
    covariance = np.eye(4) + 0.3
    assert percentile(covariance, seed="s") == percentile(covariance, seed="s")
    assert len({percentile(covariance, seed=str(seed)) for seed in range(5)}) > 1


RUNS = 40


@pytest.mark.deep("statistics")
def test_simultaneous_intervals_hold_together_and_single_ones_do_not():
    rng = np.random.default_rng(9)
    at_once = alone = 0
    for run in range(RUNS):
        skills = {f"bot{number}": rng.normal() for number in range(7)}
        fitted = fit(simulated(rng, skills, 2, 6, noise=normal))
        scores = [Score(bot) for bot in fitted.bots]
        truth = np.array([skills[bot] for bot in fitted.bots]) - np.mean(list(skills.values()))
        off = abs(np.array([each.value for each in fitted.scores(scores)]) - truth)
        own = [each.half_width for each in fitted.scores(scores)]
        at_once += (off <= half_widths(fitted, scores, seed=str(run))).all()
        alone += (off <= own).all()
    assert at_once / RUNS >= 0.88
    assert alone / RUNS < 0.85


def test_too_few_deal_sets_tell_nothing():
    fitted = fit([deal_set({"a": 1, "b": 0}, {"b": 0, "a": 2})])
    assert half_widths(fitted, [Score("a"), Score("b")], seed="s") == (None, None)
