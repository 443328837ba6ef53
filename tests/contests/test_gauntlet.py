"""One against all: every group holds the challenger."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.contests.formats.one_round import gauntlet
from arena.results.deal_sets import ScheduleError

BOTS = [f"bot{at}" for at in range(7)]


@given(st.integers(2, 5), st.integers(1, 40), st.text(max_size=3))
def test_the_others_sit_with_the_challenger_equally_often(seats, deal_sets, seed):
    groups = [*gauntlet(BOTS, "bot3", seats=seats, deal_sets=deal_sets, seed=seed)]
    assert len(groups) == deal_sets
    assert all("bot3" in group and len(set(group)) == seats for group in groups)
    played = Counter(bot for group in groups for bot in group if bot != "bot3")
    counts = [played[bot] for bot in BOTS if bot != "bot3"]
    assert max(counts) - min(counts) <= 1


def test_and_meet_each_other_about_equally_often():
    groups = gauntlet(BOTS, "bot3", seats=4, deal_sets=100, seed="s")
    met = Counter(
        frozenset(pair) for group in groups for pair in combinations(group, 2) if "bot3" not in pair
    )
    assert max(met.values()) - min(met.values()) <= 4


def test_a_longer_one_starts_with_the_same_groups():
    short = gauntlet(BOTS, "bot0", seats=3, deal_sets=5, seed="s")
    longer = gauntlet(BOTS, "bot0", seats=3, deal_sets=9, seed="s")
    assert [*longer][:5] == [*short]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        pytest.param({"challenger": "who"}, "'who' is not among the bots", id="a stranger"),
        pytest.param({"seats": 8}, "need at least 8 bots", id="too few"),
        pytest.param({"deal_sets": 0}, "at least 1 deal-set", id="nothing to play"),
    ],
)
def test_what_cannot_be_planned_is_a_clear_error(given, sentence):
    asked = {"challenger": "bot0", "seats": 2, "deal_sets": 1, "seed": "s"} | given
    with pytest.raises(ScheduleError, match=sentence):
        gauntlet(BOTS, **asked)
