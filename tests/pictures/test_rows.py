"""What seats with three rows settle with each other: a sentence for those who do it alike."""

from itertools import combinations

import pytest

from arena.games.chinese.unit_values import unit_values
from arena.pictures.rows import settled
from arena.web.rich_text import spoken

NAMES = ("ann", "bob", "cec", "dan")
FOUL, SURRENDER = (" for a foul",), (" for a surrender",)

# fmt: off
SETTLED = [
    # what the first of each pair gets of the second, why, the sentences, the reason
    ([2], [FOUL], ["bob pays ann 2 for a foul."], "one pays"),
    ([-2], [FOUL], ["ann pays bob 2 for a foul."], "the other pays"),
    ([0], [FOUL], ["ann and bob pay each other nothing for a foul."], "nobody pays"),
    ([6, 6, 0], [FOUL] * 3,
     ["bob and cec pay ann 6 each for a foul.", "bob and cec pay each other nothing for a foul."],
     "two pay one alike"),
    ([6, 3, 0], [FOUL] * 3,
     ["bob pays ann 6 for a foul.", "cec pays ann 3 for a foul.", "bob and cec pay each other nothing for a foul."],
     "two pay one, not alike"),
    ([6, 6, 0], [FOUL, SURRENDER, FOUL],
     ["bob pays ann 6 for a foul.", "cec pays ann 6 for a surrender.", "bob and cec pay each other nothing for a foul."],
     "two pay one as much, and not for the same"),
    ([0, 0, 0], [SURRENDER] * 3, ["ann, bob and cec pay each other nothing for a surrender."], "nobody pays anybody"),
    ([0, 0, 1], [SURRENDER] * 2 + [FOUL],
     ["cec pays bob 1 for a foul.", "ann and bob pay each other nothing for a surrender.",
      "ann and cec pay each other nothing for a surrender."],
     "some pay each other nothing, and not all"),
]
# fmt: on


@pytest.mark.parametrize(
    ("units", "why", "sentences", "reason"), SETTLED, ids=[row[3] for row in SETTLED]
)
def test_who_settles_alike_shares_a_sentence(units, why, sentences, reason):
    seats = range(next(count for count in range(2, 5) if count * (count - 1) // 2 == len(units)))
    pairs = list(combinations(seats, 2))

    def of(found, turned):
        return lambda one, two: (
            found[pairs.index((one, two))] if one < two else turned(found[pairs.index((two, one))])
        )

    values = unit_values("", len(seats))
    said = settled(seats, of(units, lambda won: -won), of(why, lambda same: same), values)
    assert [unquoted(line) for line in said] == sentences


def test_the_reason_is_that_of_whom_is_paid():
    said = settled(
        range(2), lambda *_: -3, lambda gets, pays: (f" ({gets} of {pays})",), unit_values("", 2)
    )
    assert [unquoted(line) for line in said] == ["ann pays bob 3 (1 of 0)."]


def test_a_pair_that_agreed_on_another_unit_says_so():
    said = settled(range(3), lambda *_: 2, lambda *_: FOUL, unit_values("1,5,1", 3))
    assert [unquoted(line) for line in said] == [
        "bob pays ann 2 for a foul.",
        "cec pays ann 10 for a foul, times 5.",
        "cec pays bob 2 for a foul.",
    ]


def unquoted(line):
    return spoken(line, NAMES).replace("“", "").replace("”", "")
