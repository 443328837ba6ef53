"""The list of removals: each stands in the code as it is, and in the rows of threats."""

import pytest

from tests.defences.defence import defences
from tests.defences.threats import ROOT, named_by_rows

DEFENCES = defences()
NAMED = named_by_rows()


@pytest.mark.parametrize("defence", DEFENCES, ids=str)
def test_a_defence_stands_where_it_is_removed(defence):
    for source in defence.removed_from(ROOT).values():
        assert source


@pytest.mark.parametrize("defence", DEFENCES, ids=str)
def test_the_test_that_sees_it_is_named_by_its_row(defence):
    assert defence.seen_by.partition("[")[0] in NAMED[defence.row]


@pytest.mark.parametrize("row", [row for row, tests in NAMED.items() if tests])
def test_every_row_that_names_a_test_has_a_defence_that_is_removed(row):
    assert row in {defence.row for defence in DEFENCES}
