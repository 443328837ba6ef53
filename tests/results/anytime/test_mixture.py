"""The mixture of t tests, against the integral that it stands for."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from arena.results.anytime import mixture


@pytest.mark.parametrize("precision", [100.0, 400.0])
@pytest.mark.parametrize(("number", "t"), [(2, 0.3), (10, -2.5), (60, 4.0), (150, 3.1)])
def test_it_is_how_much_likelier_a_drawn_effect_makes_the_t_statistic(number, t, precision):
    spread = 1 / math.sqrt(precision)

    def of_effect(effect):
        likely = stats.nct.pdf(t, number - 1, math.sqrt(number) * effect)
        return likely * stats.norm.pdf(effect, scale=spread)

    mixed, _ = integrate.quad(of_effect, -8 * spread, 8 * spread, limit=200)
    expected = mixed / stats.t.pdf(t, number - 1)
    mean = t / math.sqrt(number)
    assert math.exp(mixture.log_e_of(number, mean, 1.0, precision=precision)) == pytest.approx(
        expected, rel=1e-5
    )


def test_paths_of_many_runs_are_the_evidence_after_each_margin():
    runs = np.random.default_rng(4).normal(0.3, 2.0, (3, 25))
    for run, path in zip(runs, mixture.log_paths(runs), strict=True):
        assert path == pytest.approx([mixture.log_e(run[:n]) for n in range(1, 26)], abs=1e-9)


def test_the_interval_is_where_the_evidence_is_at_its_limit():
    margins = np.random.default_rng(5).normal(0.3, 2.0, 500)
    low, high = mixture.interval(margins, alpha=0.05)
    for edge in (low, high):
        assert mixture.log_e(margins - edge) == pytest.approx(math.log(20.0), abs=1e-9)
    assert low < margins.mean() < high


@pytest.mark.parametrize(
    ("margins", "log_e"),
    [
        pytest.param([], 0.0, id="nothing was played"),
        pytest.param([3.0], 0.0, id="one margin has no spread"),
        pytest.param([0.0, 0.0, 0.0], -0.5 * math.log(1 + 3 / 400), id="always tied"),
        pytest.param([2.0] * 3, math.log(1 + 3 / 400), id="always the same lead"),
    ],
)
def test_margins_without_spread_have_an_answer(margins, log_e):
    assert mixture.log_e(margins) == pytest.approx(log_e)


@pytest.mark.parametrize("margins", [[], [1.0], [1.0, 2.0]], ids=len)
def test_too_few_margins_rule_nothing_out(margins):
    assert mixture.interval(margins, alpha=0.05) == (-math.inf, math.inf)
