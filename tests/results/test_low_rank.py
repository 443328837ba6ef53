"""The fit is made of small matrices; it agrees with the plain one, in which all are as wide as there are bots."""

import itertools

import numpy as np
import pytest

from arena.results.margin_fit import MatchScores, NotComparable, Score, fit
from tests.results import dense_margins
from tests.rows import slow_unless

NEAR = {"rel": 1e-9, "abs": 1e-9}


def rotation(group):
    return [group[by:] + group[:by] for by in range(len(group))]


def deal_sets(rng, seatings, *, scale=1.0, tail=None):
    """Deal-sets of these seatings, a list of tables each, with scores by lot."""
    return [
        tuple(
            MatchScores(
                tuple(table),
                tuple(
                    scale
                    * (rng.standard_t(tail, len(table)) if tail else rng.normal(size=len(table)))
                ),
            )
            for table in tables
        )
        for tables in seatings
    ]


def names(count):
    return [f"bot{number:02}" for number in range(count)]


def pairs(rng, *, bots, count, seats=2):
    """Full rotations of groups drawn by lot, after one of each neighbours so that all are linked."""
    every = names(bots)
    groups = [[every[(at + step) % bots] for step in range(seats)] for at in range(bots)]
    groups += [list(rng.permutation(every)[:seats]) for _ in range(count)]
    return [rotation(group) for group in groups]


def cross(rng, *, bots, count, seats):
    """Two tables of other bots on the same boards; what a remote ladder plays."""
    every = names(bots)
    drawn = [list(rng.permutation(every)[: 2 * seats]) for _ in range(count)]
    return [[group[:seats], group[seats:]] for group in drawn]


def incomplete(rng, seatings):
    """Of each rotation some tables, two at least."""
    return [tables[: int(rng.integers(2, len(tables) + 1))] for tables in seatings]


def pooled(rng, seatings, share):
    """At some seats "(fallback)" sits in a bot's place, perhaps at several of a table."""
    return [
        [["(fallback)" if rng.random() < share else bot for bot in table] for table in tables]
        for tables in seatings
    ]


def newcomers(rng):
    """Bots of one deal-set, of whom no error can be told."""
    return [*pairs(rng, bots=5, count=20), rotation(["bot00", "new"]), rotation(["bot03", "newer"])]


def bridged(rng):
    """Two groups of bots that one deal-set alone holds together, and two that five hold."""
    left = pairs(rng, bots=5, count=40)
    right = [[["x" + bot for bot in table] for table in tables] for tables in left]
    far = [[["y" + bot for bot in table] for table in tables] for tables in left]
    bridges = [rotation(["bot00", "xbot00"]), *[rotation(["bot01", "ybot01"])] * 5]
    return left + right + far + bridges


DESIGNS = [
    ("two seats, few",          lambda rng: deal_sets(rng, pairs(rng, bots=3, count=4))),
    ("two seats",               lambda rng: deal_sets(rng, pairs(rng, bots=8, count=60))),
    ("two bots",                lambda rng: deal_sets(rng, [rotation(["a", "b"])] * 9)),
    ("two seats, winsorised",   lambda rng: deal_sets(rng, pairs(rng, bots=8, count=200), tail=1.5)),
    ("three seats",             lambda rng: deal_sets(rng, pairs(rng, bots=6, count=25, seats=3))),
    ("four seats, winsorised",  lambda rng: deal_sets(rng, pairs(rng, bots=7, count=150, seats=4), tail=1.5)),
    ("six seats",               lambda rng: deal_sets(rng, pairs(rng, bots=8, count=12, seats=6))),
    ("cross tables",            lambda rng: deal_sets(rng, cross(rng, bots=9, count=80, seats=2))),
    ("cross tables of three",   lambda rng: deal_sets(rng, cross(rng, bots=9, count=60, seats=3))),
    ("incomplete rotations",    lambda rng: deal_sets(rng, incomplete(rng, pairs(rng, bots=7, count=60, seats=4)))),
    ("rotations and crosses",   lambda rng: deal_sets(rng, pairs(rng, bots=8, count=40) + cross(rng, bots=8, count=40, seats=2))),
    ("a pooled fallback",       lambda rng: deal_sets(rng, pooled(rng, pairs(rng, bots=6, count=80), 0.1))),
    ("a pooled fallback of 3",  lambda rng: deal_sets(rng, pooled(rng, pairs(rng, bots=6, count=140, seats=3), 0.1), tail=1.5)),
    ("newcomers",               lambda rng: deal_sets(rng, newcomers(rng))),
    ("groups barely linked",    lambda rng: deal_sets(rng, bridged(rng))),
    ("large numbers",           lambda rng: deal_sets(rng, pairs(rng, bots=6, count=50), scale=1e6)),
]  # fmt: skip
QUICK = {
    "two seats",
    "four seats, winsorised",
    "a pooled fallback",
    "newcomers",
    "groups barely linked",
}
ROWS = [pytest.param(name, make, id=name) for name, make in DESIGNS]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("name", "make"),
    slow_unless(lambda name, make: name in QUICK, ROWS, pytest.mark.deep("statistics")),
)
def test_it_is_the_plain_fit(name, make, seed):
    played = make(np.random.default_rng([seed, len(name)]))
    plain, found = dense_margins.fit(played), fit(played)
    assert found.bots == plain.bots
    size = max(abs(score) for each in played for table in each for score in table.scores)
    skills = found.scores([Score(bot) for bot in found.bots])
    separate = found.differences([Score(bot) for bot in found.bots])
    for at, bot in enumerate(found.bots):
        same(skills[at], plain.skill(bot), size)
        for other, difference in zip(found.bots[at + 1 :], separate[at], strict=True):
            same(difference, plain.difference(bot, other), size)
            same(found.difference(bot, other), difference, size)


def same(found, plain, size):
    assert found.value / size == pytest.approx(plain.value / size, **NEAR)
    if plain.standard_error is None:
        assert (found.standard_error, found.freedom) == (None, None)
        return
    assert found.standard_error / size == pytest.approx(plain.standard_error / size, **NEAR)
    assert found.freedom == pytest.approx(plain.freedom, rel=1e-9)
    assert found.chance_positive == pytest.approx(plain.chance_positive, abs=1e-9)


def test_what_is_left_out_of_the_mean_only_moves_it():
    rng = np.random.default_rng(4)
    played = deal_sets(rng, pooled(rng, pairs(rng, bots=4, count=60), 0.1))
    whole, separate = fit(played), fit(played, excluded=["(fallback)"])
    assert separate.bots == tuple(bot for bot in whole.bots if bot != "(fallback)")
    assert sum(separate.skill(bot).value for bot in separate.bots) == pytest.approx(0, abs=1e-9)
    for one, other in itertools.combinations(whole.bots, 2):
        assert separate.difference(one, other) == whole.difference(one, other)


def test_a_score_is_a_share_of_a_skill_and_points():
    rng = np.random.default_rng(5)
    fitted = fit(deal_sets(rng, pairs(rng, bots=4, count=30)))
    one, other = (fitted.skill(bot) for bot in fitted.bots[:2])
    half, given = fitted.scores([Score(fitted.bots[0], 0.5, -3.0), Score("nobody", 0.0, -7.0)])
    assert half.value == pytest.approx(one.value / 2 - 3)
    assert half.standard_error == pytest.approx(one.standard_error / 2)
    assert half.freedom == pytest.approx(one.freedom)
    assert (given.value, given.standard_error, given.freedom) == (-7, 0, None)
    ((separate,), _) = fitted.differences([Score(fitted.bots[1]), Score("nobody", 0.0, -7.0)])
    assert separate.value == pytest.approx(other.value + 7)
    assert separate.half_width == pytest.approx(other.half_width)


def chain(rng):
    """Bots of whom some always have the same margins over the next, and others never."""
    seatings = [rotation([f"bot{at}", f"bot{at + 1}"]) for at in range(7)]
    return [
        each
        for seating in seatings
        for scale in [rng.choice([0.0, 1000.0])]
        for each in deal_sets(rng, [seating] * 4, scale=scale)
    ]


def test_a_variance_that_rounds_below_zero_is_zero():
    # Of these chains many come to something like -1e-12 before it is cut off.
    for seed in range(40):
        fitted = fit(chain(np.random.default_rng(seed)))
        for row in fitted.differences([Score(bot) for bot in fitted.bots]):
            for each in row:
                assert each.standard_error >= 0
                assert isinstance(each.chance_positive, float)


def test_what_is_always_tied_is_known_to_be_so():
    tied = MatchScores(("a", "b"), (0.1, 0.1)), MatchScores(("b", "a"), (0.1, 0.1))
    ((separate,), _) = fit([tied] * 7).differences([Score("a"), Score("b")])
    assert (separate.value, separate.standard_error, separate.chance_positive) == (0, 0, 0.5)


def test_all_seats_played_by_one_are_a_fit_of_one():
    fitted = fit([(MatchScores(("(fallback)",) * 2, (3, 1)),) * 2], excluded=["(fallback)"])
    assert fitted.bots == ()
    assert fitted.scores([Score("a", 0.0, -2.0)])[0].value == -2
    with pytest.raises(NotComparable):
        fit([])
