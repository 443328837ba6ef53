"""Phrases that several outputs share."""

import pytest

from arena.records.phrases import count

# fmt: off
COUNTS = [
    (1, "match",    "1 match",     "one"),
    (2, "match",    "2 matches",   "a word that ends in ch"),
    (0, "deal-set", "0 deal-sets", "none"),
    (1200, "hand",  "1,200 hands", "thousands"),
]
# fmt: on


@pytest.mark.parametrize(
    ("number", "what", "text", "_why"), COUNTS, ids=[row[-1] for row in COUNTS]
)
def test_a_count_has_its_plural(number, what, text, _why):
    assert count(number, what) == text
