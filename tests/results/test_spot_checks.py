"""What spot checks say: a worker that favours a bot stands out, and chance does not."""

import random

import pytest

from arena.results.spot_checks import LEAST_DEAL_SETS, MAX_P, CheckedMatch, worker_checks

BOTS = ("ann", "bob")


def checked(number, gain, *, worker="m1", bots=BOTS):
    """A deal-set of two matches, in which the first bot gained so much in the play that counts."""
    return [
        CheckedMatch(f"{worker} {number} {rotation}", f"{worker} {number}", worker, "m2", bots,
                     (gain / 2, -gain / 2), (0.0, 0.0))
        for rotation in range(2)
    ]  # fmt: skip


def of(gains, **more):
    return [match for at, gain in enumerate(gains) for match in checked(at, gain, **more)]


def favours(matches):
    return {each.bot: each for found in worker_checks(matches) for each in found.favours}


# fmt: off
GAINS = [
    # gains of ann in each deal-set                 ann stands out   why
    ([5.0, 6.0, 4.0, 5.0, 6.0, 5.0, 4.0, 5.0],      True,            "always about as much"),
    ([-5.0, -6.0, -4.0, -5.0, -6.0, -5.0, -4.0],    True,            "a loss is as telling"),
    ([5.0] * 6,                                     True,            "the same each time"),
    ([5.0, -6.0, 4.0, -5.0, 6.0, -5.0, 4.0, -4.0],  False,           "now more, now less"),
    ([0.0] * 50,                                    False,           "always the same scores"),
    ([5.0] * (LEAST_DEAL_SETS - 1),                 False,           "too few deal-sets"),
    ([],                                            False,           "none"),
]
# fmt: on


@pytest.mark.parametrize(
    ("gains", "stands"), [row[:2] for row in GAINS], ids=[row[2] for row in GAINS]
)
def test_a_bot_stands_out_if_chance_does_not_explain_its_gain(gains, stands):
    found = favours(of(gains))
    assert any(each.stands_out for each in found.values()) == stands
    if gains:
        assert found["ann"].per_deal_set == pytest.approx(sum(gains) / len(gains))
        assert found["bob"].per_deal_set == pytest.approx(-found["ann"].per_deal_set)
        assert found["ann"].deal_sets == len(gains)


def test_the_p_value_is_that_of_students_t():
    """t is 3.720 with 4 degrees of freedom; tables have 3.747 for 0.02, two-sided, and 2.776 for 0.05."""
    assert 0.02 < favours(of([1.0, 2.0, 3.0, 4.0, 6.0]))["ann"].p_value < 0.021


def test_scores_are_the_same_only_if_those_of_each_match_are():
    first, second = checked(0, 0.0), checked(1, 4.0)
    (found,) = worker_checks([*first, second[0], *checked(1, 0.0)[1:]])
    assert (found.deal_sets, found.same_scores) == (2, 1)


def test_each_worker_is_told_by_itself():
    matches = of([5.0, 6.0, 4.0, 5.0, 6.0, 5.0]) + of([1.0, -1.0, 2.0, -2.0, 0.5], worker="m3")
    first, second = worker_checks(matches)
    assert (first.worker, second.worker) == ("m1", "m3")
    assert [any(each.stands_out for each in found.favours) for found in (first, second)] == [
        True,
        False,
    ]


@pytest.mark.deep("statistics")
def test_workers_that_favour_no_bot_stand_out_as_seldom_as_was_chosen():
    draw, alarms, trials = random.Random(1), 0, 2000
    for _ in range(trials):
        matches = []
        for worker in ("m1", "m3", "m4"):
            matches += of([draw.gauss(0, 5) for _ in range(12)], worker=worker)
        alarms += any(each.stands_out for found in worker_checks(matches) for each in found.favours)
    # ann and bob are two sides of one test here, so the bound for six pairs is a half of it.
    assert alarms <= trials * MAX_P * 3, alarms


def test_a_worker_that_tells_a_bot_cards_is_found():
    """A gain of a standard deviation, in a competition of 5,000 deal-sets and so fifty checks."""
    draw = random.Random(2)
    found = favours(of([draw.gauss(5, 5) for _ in range(50)]))
    assert found["ann"].stands_out


def test_the_workers_of_a_key_are_also_looked_at_together():
    """A worker chooses its host, and could have too few deal-sets at each."""
    gains = [5.0, 6.0, 4.0, 5.0, 6.0, 5.0, 4.0, 5.0]
    matches = [
        match for at, gain in enumerate(gains) for match in checked(at, gain, worker=f"m1@{at}")
    ]
    found = {each.worker: each for each in worker_checks(matches)}
    assert found["m1"].favours[0].stands_out
    assert found["m1"].deal_sets == len(gains)
    assert not any(each.favours[0].stands_out for name, each in found.items() if name != "m1")
    assert [each.worker for each in worker_checks(checked(1, 0.0, worker="m1@a"))] == ["m1@a"]
