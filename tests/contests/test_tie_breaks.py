"""Prizes where points are equal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.contests.tie_breaks import Tied, mutual_margin, prize_order

EQUAL = {"skill": 1.0, "mutual": 0.0, "forfeited": 0, "entered": 5}


@pytest.mark.parametrize(
    ("a", "b", "order"),
    [
        pytest.param(
            {"skill": 2.0, "forfeited": 9}, {}, (("a",), ("b",)), id="skill goes before all else"
        ),
        pytest.param(
            {"mutual": -1.0}, {"forfeited": 9}, (("b",), ("a",)), id="then what they did together"
        ),
        pytest.param(
            {"forfeited": 1}, {"entered": 9}, (("b",), ("a",)), id="then fewer seats left"
        ),
        pytest.param({"entered": 6}, {}, (("b",), ("a",)), id="then who came first"),
        pytest.param({}, {}, (("a", "b"),), id="then they share it"),
    ],
)
def test_what_decides(a, b, order):
    assert prize_order([Tied("a", **(EQUAL | a)), Tied("b", **(EQUAL | b))]) == order


@given(
    st.lists(
        st.builds(
            Tied,
            st.text(min_size=1),
            st.integers(0, 1),
            st.integers(0, 1),
            st.integers(0, 1),
            st.integers(0, 1),
        ),
        unique_by=lambda each: each.bot,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_in_which_they_are_given_does_not_matter(tied, lots):
    assert prize_order(lots.sample(tied, len(tied))) == prize_order(tied)


@pytest.mark.parametrize(
    ("bot", "others", "points"),
    [
        ("a", ["b", "c"], 2.0),
        ("b", ["a", "c"], 0.0),
        ("c", ["a", "b"], -1.5),
        ("a", ["d"], 0.0),
    ],
    ids=["over both", "in the middle", "under both", "never met"],
)
def test_points_over_the_others(bot, others, points):
    margins = {
        ("a", "b"): [1.0, 2.0],
        ("a", "c"): [3.0],
        ("b", "c"): [0.0, 0.0, 3.0],
        ("b", "z"): [9.0],
    }
    assert mutual_margin(bot, others, margins) == pytest.approx(points)
