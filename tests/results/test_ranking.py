"""The table of a tournament: who is in it, in which order, and what stands beside the skill."""

import pytest

from arena.results.deal_sets import (
    DealSet,
    DealSetShape,
    MatchOutcome,
    MatchPlan,
    aborted,
    round_robin,
)
from arena.results.ranking import _called, ranked, standings

QUIET = {}


def outcome(match, scores, faults=None):
    return MatchOutcome(
        match_id=match.id,
        scores=tuple(scores[bot] for bot in match.bots),
        places=tuple(
            1 + sum(scores[other] > scores[bot] for other in match.bots) for bot in match.bots
        ),
        ending="completed",
        faults=tuple((faults or {}).get(bot, QUIET) for bot in match.bots),
    )


def tiers(table):
    """The ranked bots, tier by tier."""
    last = max((row.tier or 0 for row in table.rows), default=0)
    return tuple(
        tuple(row.bot for row in table.rows if row.tier == tier) for tier in range(1, last + 1)
    )


def played(plan, strength, faults=None, luck=(1, -1, 0)):
    """Every match of `plan`; the second of two bots in name order has some luck."""
    outcomes = {}
    for number, deal_set in enumerate(plan):
        lucky = max(deal_set.bots)
        for match in deal_set.matches:
            scores = {bot: strength[bot] for bot in match.bots}
            scores[lucky] += luck[number % len(luck)]
            outcomes[match.id] = outcome(match, scores, faults)
    return outcomes


def test_rows_are_in_order_of_skill_with_tiers_of_those_not_separated():
    strength = {"ace": 11, "king": 10.8, "two": -8, "three": -8.1}
    plan = round_robin(tuple(strength), seats=2, deal_sets=6, seed="s")
    table = standings(plan, played(plan, strength))
    assert [row.bot for row in table.rows][:2] in (["ace", "king"], ["king", "ace"])
    assert [set(tier) for tier in tiers(table)] == [{"ace", "king"}, {"two", "three"}]
    assert [row.tier for row in table.rows] == [1, 1, 2, 2]
    skills = [row.skill for row in table.rows]
    assert skills == sorted(skills, reverse=True)
    assert all(row.half_width > 0 for row in table.rows)
    assert (table.complete, table.planned, table.problem) == (36, 36, "")


def test_chances_are_in_the_order_of_the_rows():
    strength = {"a": 0, "b": 5, "c": 20}
    plan = round_robin(tuple(strength), seats=2, deal_sets=4, seed="s")
    table = standings(plan, played(plan, strength))
    assert [row.bot for row in table.rows] == ["c", "b", "a"]
    for i in range(3):
        assert table.better[i][i] is None
        for j in range(i + 1, 3):
            assert table.better[i][j] > 0.975
            assert table.better[i][j] + table.better[j][i] == pytest.approx(1)


def test_a_call_is_made_for_the_better_of_a_pair_alone():
    plan = round_robin(["a", "b", "c"], seats=2, deal_sets=6, seed="s")
    table = standings(plan, played(plan, {"a": 0, "b": 0.1, "c": 20}))
    assert table.rows[0].bot == "c"
    assert table.called == ((False, True, True), (False,) * 3, (False,) * 3)
    assert table.needed is None


# fmt: off
CALLS = [
    # chances of 0-1, 0-2, 1-2     called pairs          why
    ((.985, .6, .6),               [],                   "a chance that one pair alone would need is too little for three"),
    ((.9967, .6, .6),              [(0, 1)],             "the clearest of three has to be three times as clear"),
    ((.9934, .9934, .6),           [(0, 1), (0, 2)],     "two that are clear need less each"),
    ((.9901, .9901, .9901),              [(0, 1), (0, 2), (1, 2)], "and all of them no more than one alone"),
    ((.6, .999, .0001),            [(0, 2), (2, 1)],     "a bot that stands behind another may be called better than it"),
    ((None, None, None),           [],                   "nothing is known"),
]
# fmt: on


@pytest.mark.parametrize(("chances", "called", "why"), CALLS, ids=[row[2] for row in CALLS])
def test_calls_are_made_among_all_pairs_together(chances, called, why):
    better = [[None] * 3 for _ in range(3)]
    for (one, other), chance in zip([(0, 1), (0, 2), (1, 2)], chances, strict=True):
        if chance is not None:
            better[one][other], better[other][one] = chance, 1.0 - chance
    found = _called(better)
    assert [(i, j) for i in range(3) for j in range(3) if found[i][j]] == called


@pytest.mark.deep("statistics")
def test_before_the_first_call_it_is_said_how_many_deal_sets_are_needed():
    plan = round_robin(["a", "b"], seats=2, deal_sets=300, seed="s")
    outcomes = played(plan, {"a": 0.5, "b": 0}, luck=(4, -3, -1, 2, -2))
    few, many = standings(plan[:30], outcomes), standings(plan, outcomes)
    assert not any(map(any, few.called)), few.better
    assert many.called[0][1]
    called_after = next(n for n in range(30, 301) if standings(plan[:n], outcomes).called[0][1])
    assert few.needed == pytest.approx(called_after - 30, rel=0.5)


def test_bots_of_equal_skill_are_one_tier_in_order_of_name():
    plan = round_robin(["b", "a", "c"], seats=3, deal_sets=3, seed="s")
    table = standings(plan, played(plan, dict.fromkeys("abc", 7), luck=(0,)))
    assert [row.bot for row in table.rows] == ["a", "b", "c"]
    assert [row.skill for row in table.rows] == [0, 0, 0]
    assert tiers(table) == (("a", "b", "c"),)


def test_an_incomplete_deal_set_does_not_count():
    plan = round_robin(["a", "b"], seats=2, deal_sets=4, seed="s")
    outcomes = played(plan, {"a": 3, "b": 0})
    before = standings(plan[:3], outcomes)
    unfair = outcome(plan[3].matches[0], {"a": 0, "b": 1000})
    for missing in ({}, {plan[3].matches[1].id: aborted(plan[3].matches[1].id)}):
        some = {m.id: outcomes[m.id] for each in plan[:3] for m in each.matches}
        table = standings(plan, some | {unfair.match_id: unfair} | missing)
        assert table.rows[0].skill == before.rows[0].skill
        assert table.rows[0].half_width == before.rows[0].half_width
        assert [row.deal_sets for row in table.rows] == [3, 3]
        assert (table.complete, table.planned) == (3, 4)


def test_faults_stand_beside_the_skill_and_never_in_it():
    plan = round_robin(["a", "b", "c"], seats=2, deal_sets=2, seed="s")
    strength = {"a": 2, "b": 1, "c": 0}
    clean = standings(plan, played(plan, strength))
    faulty = standings(
        plan, played(plan, strength, {"b": {"timeout": 2, "gone": 1}, "c": {"illegal": 1}})
    )
    assert [row.skill for row in faulty.rows] == [row.skill for row in clean.rows]
    faults = {row.bot: (row.matches, row.faults) for row in faulty.rows}
    assert faults == {
        "a": (8, {}),
        "b": (8, {"gone": 8, "timeout": 16}),
        "c": (8, {"illegal": 8}),
    }


def test_faults_count_in_deal_sets_that_do_not_and_never_in_aborted_matches():
    (each,) = round_robin(["a", "b"], seats=2, deal_sets=1, seed="s")
    first, second = each.matches
    outcomes = {
        first.id: outcome(first, {"a": 1, "b": 0}, {"a": {"gone": 1}}),
        second.id: aborted(second.id),
    }
    rows = {row.bot: row for row in standings([each], outcomes).rows}
    assert (rows["a"].matches, rows["a"].faults) == (1, {"gone": 1})
    assert (rows["b"].matches, rows["b"].faults) == (1, {})


def test_before_the_first_result_all_bots_are_listed_unranked():
    plan = round_robin(["b", "a"], seats=2, deal_sets=1, seed="s")
    table = standings(plan, {})
    assert [row.bot for row in table.rows] == ["a", "b"]
    assert [(row.skill, row.tier) for row in table.rows] == [(None, None)] * 2
    assert table.problem == "no deal-set is complete yet"
    assert tiers(table) == ()
    assert table.better == ((None, None), (None, None))


# fmt: off
BELOW = [
    # below          ranked         why
    ((),             [],            "nothing tells the newcomer and the arena's bot apart, and both are to be ranked"),
    (("new",),       ["a", "b"],    "a newcomer keeps nobody from being ranked"),
    (("new", "a"),   ["b"],         "the one with the fewest deal-sets is left out"),
]
# fmt: on


@pytest.mark.parametrize(("below", "order", "_why"), BELOW, ids=[row[-1] for row in BELOW])
def test_bots_below_the_line_do_not_hide_the_others(below, order, _why):
    plan = round_robin(("a", "b"), seats=2, deal_sets=6, seed="s")
    matches = (MatchPlan("x-0", "x", 0, ("new", "a")), MatchPlan("x-1", "x", 0, ("b", "house")))
    crossed = DealSet("x", 7, ("new", "a", "b", "house"), "s", matches, shape=DealSetShape.CROSS)
    strength = {"a": 5, "b": 0, "new": 1, "house": 2}
    outcomes = played(plan, strength) | {match.id: outcome(match, strength) for match in matches}
    table = ranked([*plan, crossed], outcomes, excluded=["house"], below=below).standings
    assert [row.bot for row in table.rows if row.tier] == order
    is_open = "the deal-sets played do not tell all the bots' skills apart"
    assert table.problem == ("" if order else is_open)
    assert {row.bot for row in table.rows} == {"a", "b", "new"}


def test_one_deal_set_ranks_without_errors_in_one_tier():
    plan = round_robin(["a", "b"], seats=2, deal_sets=1, seed="s")
    table = standings(plan, played(plan, {"a": 50, "b": 0}))
    assert [(row.bot, row.half_width) for row in table.rows] == [("a", None), ("b", None)]
    assert tiers(table) == (("a", "b"),)
    assert table.better == ((None, None), (None, None))


def test_a_bot_without_a_complete_deal_set_is_last_and_unranked():
    plan = round_robin(["a", "b", "c"], seats=2, deal_sets=6, seed="s")
    without = [each for each in plan if "a" not in each.bots]
    table = standings(plan, played(without, {"b": 3, "c": 0}))
    assert [(row.bot, row.tier) for row in table.rows] == [("b", 1), ("c", 2), ("a", None)]
    assert [len(chances) for chances in table.better] == [3, 3, 3]
    assert table.better[2] == (None, None, None)


def test_groups_that_did_not_meet_are_unranked_with_a_reason():
    plan = round_robin(["a", "b", "c", "d"], seats=2, deal_sets=2, seed="s")
    apart = [each for each in plan if set(each.bots) in ({"a", "b"}, {"c", "d"})]
    table = standings(plan, played(apart, {"a": 3, "b": 0, "c": 1, "d": 2}))
    assert table.problem.startswith("a and b did not meet c and d")
    assert all(row.skill is None for row in table.rows)
    assert all(row.deal_sets == 2 for row in table.rows)
