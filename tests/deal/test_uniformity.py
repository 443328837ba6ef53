"""Shuffles are uniform, and each test of that would notice a bad shuffler.

Seeds are fixed, so that these tests say the same each time; fresh ones are for
`python -m tests.deal --fresh`.
"""

import math

import pytest

from arena.deal.streams import shuffled
from tests.deal.uniformity import (
    byte_mod_n,
    chi2_tail,
    cut,
    of_all_orders,
    of_cards_at_places,
    of_consecutive_boards,
    of_first_two_cards,
    of_numbers_below,
    same_board,
    sattolo,
    swap_any,
)

SEED = "fixed"
PASSES, FAILS = 1e-3, 1e-6
"""Chances above which a test passes, and below which a control is caught."""

# fmt: off
TESTS = [
    # test                   samples  control, caught with so many samples
    (of_all_orders(4),       12_000,  swap_any,   6_000),
    (of_all_orders(4),       12_000,  sattolo,    1_000),
    (of_all_orders(5),       12_000,  swap_any,   6_000),
    (of_cards_at_places,      5_000,  swap_any,   2_000),
    (of_cards_at_places,      5_000,  sattolo,    2_000),
    (of_cards_at_places,      5_000,  byte_mod_n, 8_000),
    (of_first_two_cards,      6_000,  cut,        100),
    (of_consecutive_boards,   5_000,  same_board, 100),
]
# fmt: on


def named(test):
    return test.__name__.replace("_", " ")


UNIFORM = {named(test): (test, samples) for test, samples, _, _ in TESTS}
UNIFORM |= {
    named(test): (test, 20_000) for test in map(of_numbers_below, (2, 3, 52, 256, 257, 300))
}


@pytest.mark.parametrize("name", UNIFORM)
def test_shuffles_are_uniform(name):
    test, samples = UNIFORM[name]
    assert test(shuffled, SEED, samples) > PASSES


@pytest.mark.parametrize(
    ("test", "control", "samples"),
    [pytest.param(t, c, n, id=f"{named(t)}: {named(c)}") for t, _, c, n in TESTS],
)
def test_a_bad_shuffler_is_caught(test, control, samples):
    assert test(control, SEED, samples) < FAILS


# Tables of chi-square: value, degrees of freedom, the chance of as much or more.
# fmt: off
TAILS = [
    (3.841,   1,     0.05,   "5 % of one degree"),
    (6.635,   1,     0.01,   "1 % of one degree"),
    (35.172,  23,    0.05,   "5 % of 23 degrees"),
    (22.337,  23,    0.50,   "the median of 23 degrees"),
    (124.342, 100,   0.05,   "5 % of 100 degrees"),
    (0.0,     5,     1.0,    "nothing at all"),
]
# fmt: on


@pytest.mark.parametrize(("chi2", "degrees", "tail", "why"), TAILS, ids=[r[-1] for r in TAILS])
def test_the_tail_of_chi_square_is_that_of_the_tables(chi2, degrees, tail, why):
    assert chi2_tail(chi2, degrees) == pytest.approx(tail, rel=2e-3)


@pytest.mark.parametrize("x", [0.1, 1.0, 2.0, 5.0, 50.0])
def test_the_tail_of_two_degrees_is_an_exponential(x):
    assert chi2_tail(2 * x, 2) == pytest.approx(math.exp(-x), rel=1e-9)


def test_the_tail_of_many_degrees_is_nearly_normal():
    degrees = 2601
    for z in (-2.0, 0.0, 1.0, 3.0):
        chi2 = degrees * (1 - 2 / (9 * degrees) + z * math.sqrt(2 / (9 * degrees))) ** 3
        normal = math.erfc(z / math.sqrt(2)) / 2
        assert chi2_tail(chi2, degrees) == pytest.approx(normal, rel=5e-3)
