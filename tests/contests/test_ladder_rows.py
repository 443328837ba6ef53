"""The rows of a ladder: one ranked row for each bot, of what its newest version played, if it met the others."""

from dataclasses import replace
from itertools import combinations

import pytest

from arena.contests.ladder_rows import LEAST_MET, meetings, with_rows
from arena.contests.plan import LadderRow
from arena.contests.standings import live_standings, official_standings
from arena.results.deal_sets import planned
from arena.results.record import CompetitionRecord, GameRecord, Out
from tests.contests.played import LADDER, candidates, outcome

NAMES = ("ann", "bob", "cid", "dan")
ALL_VERSIONS = LADDER + '[ladder]\nrow = "all_versions"\n'


def drawn(pairs):
    return tuple(planned(number, pair, "s", "summer") for number, pair in enumerate(pairs, 1))


def record(pairs, plan=LADDER, *, skills=None, out=(), luck=2.0):
    deal_sets = drawn(pairs)
    players = {bot for pair in pairs for bot in pair}
    skills = dict.fromkeys(players, 0.0) | (skills or {})
    outcomes = {
        match.id: outcome(match, skills, luck) for each in deal_sets for match in each.matches
    }
    entered = candidates(sorted({player.partition("@")[0] for player in players}))
    entered = tuple(
        replace(each, out=Out.WITHDRAWN) if each.name in out else each for each in entered
    )
    return CompetitionRecord(plan, entered, (GameRecord((), deal_sets, outcomes),))


def rows(*given, **named):
    (game,) = live_standings(record(*given, **named))["games"]
    return {row["bot"]: row for row in game["rows"]}


def all_meet(times, version):
    """Every two of four bots, so many times; `version(number)` is what ann plays as in deal-set `number`."""
    pairs = list(combinations(NAMES, 2)) * times
    return [
        tuple(f"ann@{version(number)}" if bot == "ann" else bot for bot in pair)
        for number, pair in enumerate(pairs)
    ]


# fmt: off
VERSIONS = [
    # versions that ann played as    the row that may be ranked and others        why
    ("1 1 1",                        "ann@1 ann@1 ann@1",                        "one version"),
    ("1 1 2",                        "ann@1 ann@1 ann@2",                        "a newer version starts anew"),
    ("1 2 3",                        "ann@1 ann@2 ann@3",                        "each version starts anew"),
    ("1 2 1",                        "ann@1 (earlier) ann@2 ann@1",              "a version that returns starts anew"),
    ("1 2 1 1",                      "ann@1 (earlier) ann@2 ann@1 ann@1",        "it keeps what it played since"),
]
# fmt: on


@pytest.mark.parametrize(("played", "expected", "why"), VERSIONS, ids=[row[2] for row in VERSIONS])
def test_the_row_is_of_what_the_newest_version_played(played, expected, why):
    pairs = [(f"ann@{version}", "bob") for version in played.split()]
    named, current = with_rows(drawn(pairs), LadderRow.NEWEST)
    seated = [next(bot for bot in each.bots if bot != "bob") for each in named]
    assert " ".join(seated) == expected
    assert current == {seated[-1], "bob"}
    assert all(set(each.bots) == set(each.matches[1].bots) for each in named)


def test_all_versions_may_be_one_player():
    found = rows(all_meet(10, lambda number: 1 + number // 30), ALL_VERSIONS)
    assert set(found) == set(NAMES)
    assert found["ann"]["deal_sets"] == 30


def test_only_the_newest_version_has_a_place():
    found = rows(all_meet(20, lambda number: 1 + number // 60))
    assert [bot for bot, row in found.items() if row["place"]] == [*found][:4]
    assert (found["ann@1"]["note"], found["ann@1"]["place"]) == ("retired", None)
    assert found["ann@2"]["place"] is not None
    assert [*found][-1] == "ann@1", "retired versions stand last"


def test_a_new_version_does_not_inherit_a_place():
    found = rows(all_meet(20, lambda number: 1 + number // 110))
    assert found["ann@2"]["place"] is None
    assert found["ann@2"]["note"] == f"{found['ann@2']['deal_sets']} of 10 deal-sets"


def test_a_bot_that_withdrew_has_no_place():
    found = rows(all_meet(20, lambda number: 1), out={"bob"})
    assert (found["bob"]["note"], found["bob"]["place"]) == ("withdrawn", None)


def test_a_bot_that_avoids_an_opponent_is_not_ranked():
    pairs = [
        pair
        for pair in all_meet(20, lambda number: 1)
        if "ann@1" not in pair or "dan" in pair  # it meets one of three
    ]
    found = rows(pairs)
    assert found["ann@1"]["place"] is None
    assert found["ann@1"]["note"] == "met 43% of its opponents' play"
    assert found["cid"]["place"] is not None
    assert (found["ann@1"]["opponents_met"], found["ann@1"]["opponents"]) == (1, 3)


def test_house_bots_are_ranked_that_have_only_one_other_bot_to_meet():
    house = ["house-random", "house-sample", "house-search-20ms", "house-search-200ms"]
    found = rows([("ann", bot) for bot in house] * 10)
    assert {found[bot]["note"] for bot in ["ann", *house]} == {""}


def test_a_bot_has_no_place_before_another_has_one():
    found = rows([("ann", "bob"), ("ann", "cid")] * 9)
    assert {row["place"] for row in found.values()} == {None}
    assert found["ann"]["note"] == "no other bot is ranked"
    assert found["bob"]["note"] == "9 of 10 deal-sets"


def test_a_bot_that_stays_away_loses_its_place():
    pairs = all_meet(10, lambda number: 1)
    others = [pair for pair in pairs if "ann@1" not in pair]
    # Its last deal-set was the third before the last, and twenty are ten for each of four bots.
    assert rows([*pairs, *others[:16]])["ann@1"]["place"] is not None
    found = rows([*pairs, *others[:17]])
    assert (found["ann@1"]["note"], found["ann@1"]["place"]) == ("absent", None)
    assert found["bob"]["place"] is not None


# fmt: off
MET = [
    # deal-sets                                     owners                share of ann   why
    ("ab ac ad bc bd cd",                           {},                   1.0,           "all met all"),
    ("ab bc bd cd",                                 {},                   1.0,           "one deal-set meets one of three"),
    ("ab ab ab bc bd cd cd cd",                     {},                   5 / 13,        "one of three, again and again"),
    ("bc bd bc bd ab ac ad cd",                     {},                   13 / 15,       "what was before does not count"),
    ("ab ab ac bc bc bc",                           {},                   0.9,           "more often with one of two"),
    ("ab ac bc cd",                                 {"d": "a"},           0.9,           "bots of one owner never meet"),
]
# fmt: on


@pytest.mark.parametrize(("pairs", "owners", "share", "why"), MET, ids=[row[3] for row in MET])
def test_how_far_a_bot_has_met_the_others(pairs, owners, share, why):
    plans = drawn([tuple(pair) for pair in pairs.split()])
    owner_of = {bot: bot for bot in "abcd"} | owners
    assert meetings(plans, "abcd", owner_of)["a"].share == pytest.approx(share, abs=0.02)


def test_a_bot_that_played_seldom_does_not_keep_the_others_from_a_place():
    pairs = [("ann", "bob")] * 40 + [("ann", "cid"), ("bob", "cid")] * 6
    found = rows(pairs)
    assert found["ann"]["place"]
    assert found["bob"]["place"]
    plans = drawn(pairs)
    owner_of = {name: name for name in NAMES}
    assert meetings(plans, NAMES, owner_of)["ann"].share >= LEAST_MET


def test_live_standings_alone_say_how_long_a_bot_was_there():
    made = record(all_meet(5, lambda number: 1))
    made = replace(
        made, candidates=tuple(replace(each, present_ms=5_400_000) for each in made.candidates)
    )
    (live,), (official,) = live_standings(made)["games"], official_standings(made, 1)["games"]
    assert {row["present_h"] for row in live["rows"]} == {1.5}
    assert {row["present_h"] for row in official["rows"]} == {None}


def test_before_the_first_call_the_standings_say_how_many_more_deal_sets_it_takes():
    (close,) = live_standings(record(all_meet(5, lambda number: 1)))["games"]
    assert close["needed"] > 0
    far = {"ann@1": 4.0}
    (clear,) = live_standings(record(all_meet(20, lambda number: 1), skills=far))["games"]
    assert clear["needed"] is None
