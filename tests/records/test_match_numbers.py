"""A set of numbers of matches is a set, and small."""

import sys

from hypothesis import given
from hypothesis import strategies as st

from arena.records.journal.compaction import MatchNumbers

NUMBERS = st.sets(st.integers(0, 20_000) | st.integers(0, 2**63), max_size=60)


@given(NUMBERS, NUMBERS)
def test_it_has_what_was_added_and_nothing_else_in_order(first, more):
    found = MatchNumbers(first)
    found.update(more)
    assert list(found) == sorted(first | more)
    for number in first | more:
        assert number in found
        for other in (number - 1, number + 1, number + 8, number + 4_096):
            assert other < 0 or (other in found) == (other in first | more)


def test_numbers_that_were_counted_up_take_about_a_bit():
    found = MatchNumbers(range(100_000))
    assert sum(map(sys.getsizeof, found._pages.values())) < 100_000 / 8 * 1.2
