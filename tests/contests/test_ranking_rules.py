"""What decides the places of each format, and that equal bots share theirs."""

import json
from dataclasses import replace

import pytest

from arena.contests.draws import places
from arena.contests.plan import PlanError, read_plan
from arena.contests.standings import RANKED_BY, live_standings, official_standings
from tests.contests.played import Played, toml

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


# Bots of one owner, or of one team.

FAVOURITE, HELPER = "cid", "bob"
"""The third best, and the second best, which loses everything to it."""

# fmt: off
TEAMS = [
    # plan                                                        owners                            weighs  why
    (toml("round_robin", deal_sets=8),                            {},                               True,   "results between bots of two owners weigh"),
    (toml("round_robin", deal_sets=8),                            {"cid": "carl", "bob": "carl"},   False,  "those of one owner do not"),
    (toml("round_robin", deal_sets=8, head='teams = [["bob", "cid"]]'), {},                         False,  "nor those of a declared team"),
    (toml("round_robin", deal_sets=8, head='teams = [["ann", "cid"], ["bob", "dan"]]'), {},         True,   "two teams weigh"),
    (toml("round_robin", deal_sets=4, seats=3, game="democracy", head='teams = [["bob", "cid"]]'), {}, False, "tables of three where two of a team sit do not"),
]
# fmt: on


@pytest.mark.parametrize(("text", "owners", "weighs", "why"), TEAMS, ids=[row[-1] for row in TEAMS])
def test_help_within_a_team_moves_nobody(text, owners, weighs, why):
    def game_with(gain):
        run = Played(text, NAMES[:6], owners=owners).run()
        (game,) = run.record.games
        outcomes = dict(game.outcomes)
        for match in (match for deal_set in game.deal_sets for match in deal_set.matches):
            if {FAVOURITE, HELPER} <= set(match.bots):
                gains = [gain * ((bot == FAVOURITE) - (bot == HELPER)) for bot in match.bots]
                before = outcomes[match.id]
                scores = tuple(map(sum, zip(before.scores, gains, strict=True)))
                outcomes[match.id] = replace(before, scores=scores)
        record = replace(run.record, games=(replace(game, outcomes=outcomes),))
        return live_standings(record)["games"][0]

    honest, helped = game_with(0.0), game_with(3.0)
    scores = [{row["bot"]: row["score"] for row in game["rows"]} for game in (honest, helped)]
    assert (scores[0] != scores[1]) is weighs
    assert (helped["deal_sets"]["within_teams"] > 0) is ("teams" in text or bool(owners))
    assert helped["deal_sets"]["complete"] == helped["deal_sets"]["planned"]
    pair = next(
        pair for pair in helped["pairs"] if {pair["bot"], pair["other"]} == {FAVOURITE, HELPER}
    )
    assert pair["deal_sets"] > 0, "the results are shown"


def test_where_all_bots_are_of_one_owner_their_results_weigh():
    run = Played(toml("round_robin"), NAMES[:3], owners=dict.fromkeys(NAMES, "carl")).run()
    assert all(row["place"] for row in rows(run))


def test_an_owner_is_in_one_team():
    with pytest.raises(PlanError, match=r"teams.*ann is there twice"):
        read_plan(toml("round_robin", head='teams = [["ann", "bob"], ["cid", "ann"]]'))
