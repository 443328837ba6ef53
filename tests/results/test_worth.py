"""What makes a match worth watching: one rule for each kind."""

import pytest

from arena.results.deal_sets import MatchOutcome, aborted
from arena.results.worth import LEAST_COMPARED, ComparedMatch, EarlierMatches, Worth, margin

BOTS = ("ann@2", "bob")


def played(scores, cost=0, forfeited=()):
    return MatchOutcome("m", scores, (1, 2), "completed", ({}, {}), cost=cost, forfeited=forfeited)


def before(number=LEAST_COMPARED, scores=(10.0, 4.0), bots=("cid", "dan"), cost=5):
    return [ComparedMatch.of(bots, scores, cost)] * number


DRAWN = before(4, (3.0, 3.0), ("ann", "bob"))
LOST = before(5, (3.0, 9.0), ("ann", "bob@1"))
# fmt: off
RULES = [
    (played((9.0, 3.0)),                                  before(),     None,            "like others"),
    (played((9.0, 4.0), forfeited=(False, True)),         before(),     Worth.FORFEIT,   "a bot forfeited"),
    (played((9.0, 4.0)),                                  LOST,         Worth.UPSET,     "the winner had lost all five, as other versions"),
    (played((4.0, 9.0)),                                  LOST,         None,            "the loser had lost all five"),
    (played((9.0, 4.0)),                                  LOST + DRAWN, None,           "four of nine were drawn, which is not lost"),
    (played((9.0, 9.0)),                                  LOST,         None,            "drawn after five losses"),
    (played((9.0, 4.0)),                                  LOST[:4],     None,            "four meetings are too few"),
    (played((11.0, 4.0)),                                 before(),     Worth.RECORD,    "the highest score"),
    (played((10.0, 4.0)),                                 before(),     None,            "as high as others"),
    (played((11.0, 4.0)),                                 before(19),   None,            "the highest of too few"),
    (played((9.0, 4.0), cost=6),                          before(),     Worth.COSTLIEST, "a hand that cost most"),
    (played((9.0, 8.0)),                                  before(),     Worth.CLOSEST,   "the smallest margin"),
    (played((9.0, 9.0)),                                  before(),     None,            "drawn is not close"),
    (aborted("m", ""),                                    before(),     None,            "without a result"),
]
# fmt: on


@pytest.mark.parametrize(("outcome", "earlier", "kind", "why"), RULES, ids=[r[3] for r in RULES])
def test_a_match_is_worth_watching(outcome, earlier, kind, why):
    assert EarlierMatches(earlier).worth(outcome, BOTS) is kind


def test_a_margin_is_of_the_first_two():
    assert margin((3.0, 9.0, 7.5)) == 1.5
    assert margin((3.0,)) == 0.0
