"""Student's t against printed tables and exact forms."""

import math

import pytest

from arena.results import student_t


@pytest.mark.parametrize(
    ("probability", "freedom", "printed"),
    [
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.975, 3, 3.182),
        (0.975, 10, 2.228),
        (0.975, 30, 2.042),
        (0.975, 120, 1.980),
        (0.95, 4, 2.132),
        (0.995, 7, 3.499),
    ],
)
def test_quantiles_are_those_of_the_printed_tables(probability, freedom, printed):
    assert student_t.quantile(probability, freedom) == pytest.approx(printed, abs=5e-4)


@pytest.mark.parametrize("t", [-40.0, -1.0, -0.1, 0.0, 1e-6, 0.5, 3.0, 1e4])
def test_one_degree_of_freedom_is_the_cauchy_distribution(t):
    assert student_t.cdf(t, 1) == pytest.approx(0.5 + math.atan(t) / math.pi, abs=1e-12)


@pytest.mark.parametrize("t", [-5.0, -0.3, 0.0, 1.0, 2.0])
def test_two_degrees_of_freedom_have_a_closed_form(t):
    assert student_t.cdf(t, 2) == pytest.approx(0.5 + t / (2 * math.sqrt(2 + t * t)), abs=1e-12)


@pytest.mark.parametrize("t", [-2.0, 0.0, 0.7, 1.96])
def test_many_degrees_of_freedom_are_the_normal_distribution(t):
    normal = 0.5 * (1 + math.erf(t / math.sqrt(2)))
    assert student_t.cdf(t, 1e7) == pytest.approx(normal, abs=1e-7)


@pytest.mark.parametrize("freedom", [0.4, 1.5, 2.7, 11.3, 400.0])
@pytest.mark.parametrize("probability", [0.5, 0.6, 0.975, 0.9999])
def test_the_quantile_inverts_the_distribution_between_whole_degrees_too(probability, freedom):
    assert student_t.cdf(student_t.quantile(probability, freedom), freedom) == pytest.approx(
        probability, abs=1e-12
    )


def test_the_distribution_is_symmetric_and_complete():
    assert student_t.cdf(-1.3, 5) + student_t.cdf(1.3, 5) == pytest.approx(1)
    assert student_t.cdf(math.inf, 5) == 1
    assert student_t.cdf(-math.inf, 5) == 0


@pytest.mark.parametrize("probability", [0.49, 1.0, -1.0])
def test_only_upper_quantiles_are_asked_for(probability):
    with pytest.raises(ValueError, match=r"0\.5 to below 1"):
        student_t.quantile(probability, 3)
