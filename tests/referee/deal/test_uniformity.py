"""Shuffles are uniform, and each test of that would notice a bad shuffler.

Seeds are fixed, so that these tests say the same each time; fresh ones are for
`python -m tests.referee.deal --fresh`.
"""

import math

import pytest

from arena.referee.deal.streams import shuffled
from tests.referee.deal import __main__ as command
from tests.referee.deal.uniformity import (
    FAILS,
    PASSES,
    TESTS,
    UNIFORM,
    chi2_tail,
    named,
    of_all_orders,
    sattolo,
)

pytestmark = pytest.mark.deep("shuffles")  # shuffles many thousand packs

SEED = "fixed"


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


# The command.

FEW = {"orders of 4 cards": (of_all_orders(4), 2_000)}
CONTROL = [(of_all_orders(4), 2_000, sattolo, 1_000)]


# fmt: off
RUNS = [
    # shuffler  controls                                    exit code  says                        why
    (shuffled,  CONTROL,                                    0,         "caught       sattolo",     "a good shuffler and a test that would notice"),
    (sattolo,   CONTROL,                                    1,         "NOT UNIFORM  orders of 4", "a bad shuffler"),
    (shuffled,  [(of_all_orders(4), 2_000, shuffled, 100)], 1,         "NOT CAUGHT   shuffled",    "a test that notices nothing"),
]
# fmt: on


@pytest.mark.parametrize(
    ("shuffler", "controls", "code", "says", "why"), RUNS, ids=[row[-1] for row in RUNS]
)
def test_the_command_tells(shuffler, controls, code, says, why, monkeypatch, capsys):
    monkeypatch.setattr(command, "shuffled", shuffler)
    monkeypatch.setattr(command, "UNIFORM", FEW)
    monkeypatch.setattr(command, "TESTS", controls)
    assert command.main(["--seed", "fixed"]) == code
    assert says in capsys.readouterr().out


def test_the_command_draws_a_seed_and_names_it(monkeypatch, capsys):
    monkeypatch.setattr(command, "UNIFORM", FEW)
    monkeypatch.setattr(command, "TESTS", CONTROL)
    seeds = set()
    for _ in range(2):
        assert command.main(["--fresh"]) == 0
        seeds.add(capsys.readouterr().out.splitlines()[0])
    assert len(seeds) == 2


def test_one_unlucky_seed_is_not_a_verdict(monkeypatch, capsys):
    chances = iter([1e-5, 0.5])
    monkeypatch.setattr(command, "UNIFORM", {"luck": (lambda *_: next(chances), 1)})
    monkeypatch.setattr(command, "TESTS", CONTROL)
    assert command.main([]) == 0
    assert "uniform      luck: p 1e-05, again p 0.5" in capsys.readouterr().out
