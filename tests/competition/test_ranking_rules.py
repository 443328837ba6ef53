"""What decides the places of each format, and that equal bots share theirs."""

import json

import pytest

from arena.competition.draws import places
from arena.competition.pair_margins import Measure
from arena.competition.standings import (
    RANKED_BY,
    as_measured,
    live_standings,
    official_standings,
)
from arena.schedule.deal_sets import MatchOutcome, round_robin
from tests.competition.played import Played, toml

NAMES = ["ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal"]
EQUAL = dict.fromkeys(NAMES, 0.0)


def rows(run):
    return live_standings(run.record)["games"][0]["rows"]


# fmt: off
RULES = [
    # plan                                                             rule        why
    (toml("round_robin"),                                              "skill",    "all met all"),
    (toml("gauntlet", deal_sets=14, own='challenger = "ann"'),                       "skill",    "one met all"),
    (toml("swiss"),                                                    "points",   "rounds are paired by points"),
    (toml("groups", own="groups = 2\nbest = 2"),                       "points",   "each group has its own opponents"),
    (toml("knockout", deal_sets=0, own="most_deal_sets = 10"),         "bracket",  "who went out went out"),
]
# fmt: on


@pytest.mark.parametrize(("text", "rule", "why"), RULES, ids=[row[-1] for row in RULES])
def test_the_format_decides_by_what_bots_are_ranked(text, rule, why):
    run = Played(text, NAMES).run()
    game = live_standings(run.record)["games"][0]
    assert game["ranked_by"] == rule == RANKED_BY[run.plan.format]
    found = [row["place"] for row in game["rows"]]
    assert found == sorted(found)
    assert found[0] == 1
    official = official_standings(run.record, 1)["games"][0]
    assert [row["place"] for row in official["rows"]] == found


def test_bots_of_one_tier_share_a_place_and_skill_orders_their_prizes():
    run = Played(toml("round_robin", deal_sets=4), NAMES[:4]).run()
    game = live_standings(run.record)["games"][0]
    firsts = {}
    for at, row in enumerate(game["rows"], 1):
        firsts.setdefault(row["tier"], at)
        assert row["place"] == firsts[row["tier"]]
    alike = Played(toml("round_robin"), NAMES[:3], skills=EQUAL).run()
    game = live_standings(alike.record)["games"][0]
    assert {row["place"] for row in game["rows"]} == {1}
    assert game["prizes"] == [[[row["bot"]] for row in game["rows"]]]


def test_equal_points_of_a_group_share_a_place_and_skill_decides_who_advances():
    text = toml("groups", deal_sets=1, own="groups = 2\nbest = 1")
    for seed in range(40):
        run = Played(text.replace('seed = "s"', f'seed = "{seed}"'), NAMES[:6], skills=EQUAL)
        run.step()
        game = run.record.games[0]
        found = {each.bot: each for each in places(run.plan, 0, run.record.candidates, game.past())}
        tied = [
            group
            for group in game.rounds[0].groups
            if len({found[bot].points for bot in group}) == 1
        ]
        if tied:
            break
    assert {found[bot].place for bot in tied[0]} == {1}, "three bots, one point each"
    run.step()
    (finals,) = run.record.games[0].rounds[1].groups
    (advanced,) = set(finals) & set(tied[0])
    skill = {row["bot"]: row["skill"] for row in rows(run)}
    assert advanced in tied[0], json.dumps(skill)
    out = [
        each
        for each in places(run.plan, 0, run.record.candidates, run.record.games[0].past())
        if each.bot in tied[0] and each.bot != advanced
    ]
    assert [(each.place, each.note.split(" of ")[0]) for each in out] == [(3, "place 1")] * 2


def test_a_bot_that_withdrew_is_behind_its_group():
    run = Played(toml("groups", own="groups = 2\nbest = 2"), NAMES)
    run.step()
    first = run.record.games[0].rounds[0].groups[0]
    best = min(first, key=NAMES.index)
    run.go_out(best)
    found = places(run.plan, 0, run.record.candidates, run.record.games[0].past())
    own = {each.bot: each.place for each in found if each.bot in first}
    assert own[best] == max(own.values())
    assert list(own.values()).count(own[best]) == 1


# fmt: off
RACES = [
    # scores          as pairs are compared     why
    ((5, 3),          (0.5, -0.5),              "two seats: won and lost"),
    ((4, 4),          (0.0, 0.0),               "two seats: drawn"),
    ((5, 0, 2),       (0.5, -0.5, 0.0),         "three seats: first and last differ by 1"),
    ((9, 9, 1, 1),    (1 / 3, 1 / 3, -1 / 3, -1 / 3), "four seats: shared places"),
]
# fmt: on


@pytest.mark.parametrize(("scores", "expected", "why"), RACES, ids=[row[-1] for row in RACES])
def test_no_two_bots_of_a_race_differ_by_more_than_the_bound(scores, expected, why):
    bots = tuple("abcd"[: len(scores)])
    plan = round_robin(bots, seats=len(scores), deal_sets=1, seed="s")[0]
    outcomes = {
        match.id: MatchOutcome(
            match.id, scores, tuple(1 for _ in scores), "completed", ({},) * len(scores)
        )
        for match in plan.matches
    }
    measured = as_measured(plan, outcomes, Measure(1.0, races=True), frozenset())
    found = measured.tables[0].scores
    assert found == pytest.approx(expected)
    assert max(found) - min(found) <= 1.0
