"""The one measure of pairs: what a forfeited table counts, and that all that standings say of a pair agrees."""

import json

import pytest

from arena.cli.standings_csv import pairs_csv
from arena.cli.terminal.standings import print_standings
from arena.contests.pair_margins import Measure, margins_between, pair_margins
from arena.contests.standings import live_standings
from arena.results.deal_sets import MatchOutcome, places_with_forfeits, planned_tables, round_robin
from arena.results.head_to_head import records
from arena.results.record import CompetitionRecord, GameRecord
from tests.contests.played import Played, candidates, outcome, toml

POINTS, RACE = Measure(20.0), Measure(1.0, races=True)


def deal_sets(*played):
    """Deal-sets and their outcomes; a table has the score of each bot, and the bots that forfeited behind a bar."""
    plans, outcomes = [], {}
    for number, tables in enumerate(played, 1):
        scores = [
            {bot: float(score) for bot, score in (word.split("=") for word in table.split())}
            for table in (table.partition("|")[0] for table in tables)
        ]
        out = [table.partition("|")[2].split() for table in tables]
        plan = planned_tables(number, [tuple(table) for table in scores], "s", "autumn")
        plans.append(plan)
        for match, table, left in zip(plan.matches, scores, out, strict=True):
            places = tuple(
                1 + sum(other > own for other in table.values()) for own in table.values()
            )
            outcomes[match.id] = MatchOutcome(
                match.id, tuple(table.values()), places, "completed", ({},) * len(table),
                forfeited=tuple(bot in left for bot in table),
                fallback_share=tuple(0.2 * (f"{bot}?" in left) for bot in table),
            )  # fmt: skip
    return plans, outcomes


# fmt: off
MARGINS = [
    # the tables of each deal-set                     by      of a over b       why
    ([["a=5 b=1", "b=2 a=4"], ["b=0 a=3"]],           POINTS, [3.0, 3.0],       "the mean of the tables of a deal-set"),
    ([["a=5 b=1 c=9", "b=2 c=0 a=4"]],                POINTS, [3.0],            "of the two alone"),
    ([["a=5 b=1"], ["a=9 c=1"]],                      POINTS, [4.0],            "where both sat"),
    ([["a=5 b=1"], ["a=4 b=3|b"]],                    POINTS, [4.0, 4.0],       "the widest lead, if the other forfeited"),
    ([["a=5 b=1"], ["a=0 b=3|b"]],                    POINTS, [4.0, 4.0],       "also where its fallback won"),
    ([["a=5 b=1"], ["a=3 b=0|a"]],                    POINTS, [4.0, -4.0],      "the own forfeit costs as much"),
    ([["a=3 b=0|a?"]],                                POINTS, [-3.0],           "also by the fallback's share of the moves"),
    ([["a=0 b=9|a"]],                                 POINTS, [-9.0],           "the result, if that is worse"),
    ([["a=3 b=3|a"]],                                 POINTS, [-1.0],           "a forfeit is no draw"),
    ([["a=3 b=2|a b"]],                               POINTS, [1.0],            "the result, if both forfeited"),
    ([["a=5 b=1|a"], ["a=9 b=0|a"]],                  POINTS, [-4.0, -9.0],     "what comes later changes nothing"),
    ([["a=500 b=100", "b=3 a=3"]],                    RACE,   [0.5],            "a race is won, drawn or lost"),
    ([["a=500 b=100|a"]],                             RACE,   [-1.0],           "a forfeited race is lost"),
    ([["a=5 b=5|a"]],                                 RACE,   [-1.0],           "... also one that was drawn"),
    ([["a=5 b=3 c=4", "a=5 c=9 b=3"]],                RACE,   [1.0],            "each pair of a race at three seats by itself"),
]
# fmt: on


@pytest.mark.parametrize(
    ("played", "by", "expected", "why"), MARGINS, ids=[row[-1] for row in MARGINS]
)
def test_a_margin_is(played, by, expected, why):
    plans, outcomes = deal_sets(*played)
    assert pair_margins(plans, outcomes, by)["a", "b"] == expected
    both = [plan for plan in plans if {"a", "b"} <= set(plan.bots)]
    assert margins_between("a", "b", both, outcomes, by) == expected
    assert margins_between("b", "a", both, outcomes, by) == [-margin for margin in expected]


def test_a_bot_at_two_seats_has_no_margin_against_itself():
    plan = planned_tables(1, [("a", "a", "b")], "s", "autumn")
    (match,) = plan.matches
    scores = MatchOutcome(match.id, (3.0, 0.0, 1.0), (1, 3, 2), "completed", ({},) * 3)
    assert pair_margins([plan], {match.id: scores}, POINTS) == {}


def test_a_seat_that_was_forfeited_comes_after_all_others():
    plans, outcomes = deal_sets(["a=9 b=5 c=7|a?"], ["a=9 b=5 c=7"])
    first, second = (places_with_forfeits(outcomes[plan.matches[0].id]) for plan in plans)
    assert (first, second) == ((3, 2, 1), (1, 3, 2))
    assert str(records(plans[:1], outcomes).of_bot["a"]) == "0-0-1"
    assert str(records(plans[:1], outcomes).of_pair["a", "b"]) == "0-0-1"


NAMES = ["ann", "bob", "cid", "dan"]
RACE_OPTIONS = "options = { hands = 0 }"

# fmt: off
FORMATS = [
    ("round robin",               toml("round_robin", deal_sets=24)),
    ("round robin of three",      toml("round_robin", deal_sets=24, seats=3, game="democracy")),
    ("round robin of races",      toml("round_robin", deal_sets=24, game="klaberjass").replace("options = { hands = 4 }", RACE_OPTIONS)),
    ("gauntlet",                  toml("gauntlet", deal_sets=14, own='challenger = "ann"')),
    ("swiss",                     toml("swiss")),
    ("groups",                    toml("groups", own="groups = 2\nbest = 2")),
    ("knockout",                  toml("knockout", deal_sets=0, own="most_deal_sets = 10")),
    ("ladder",                    None),
]
# fmt: on


def standings_of(text, forfeited):
    """The first is the best by far, as its fallback plays for it wherever it forfeits."""
    skills = {name: -3.0 * at for at, name in enumerate(NAMES)}
    if text is not None:
        run = Played(text, NAMES, skills, forfeited=forfeited).run()
        return live_standings(run.record)["games"][0]
    ladder = 'name = "a"\nkind = "ladder"\ngame = "sixty_six"\nseats = 2\nseed = "s"\n'
    plans = round_robin([f"{name}@1" for name in NAMES], seats=2, deal_sets=24, seed="s")
    players = {f"{name}@1": skill for name, skill in skills.items()}
    outcomes = {
        match.id: outcome(match, players, forfeited=[f"{name}@1" for name in forfeited])
        for plan in plans
        for match in plan.matches
    }
    record = CompetitionRecord(
        ladder + "options = { hands = 4 }\n",
        candidates(NAMES),
        (GameRecord((), tuple(plans), outcomes),),
    )
    return live_standings(record)["games"][0]


@pytest.mark.parametrize("text", [row[1] for row in FORMATS], ids=[row[0] for row in FORMATS])
def test_all_that_is_said_of_a_pair_agrees_where_a_bot_forfeits(text):
    pairs = standings_of(text, ("ann",))["pairs"]
    of_ann = [pair for pair in pairs if pair["bot"].startswith("ann")]
    assert of_ann
    for pair in of_ann:
        assert pair["wins"] == pair["draws"] == 0 < pair["losses"]
        assert pair["margin"] < 0
        assert pair["low"] is None or pair["low"] <= pair["margin"] <= pair["high"]
        assert pair["better"] in (None, pair["other"])
        if pair["better"]:
            assert pair["high"] < 0
    if text is None or "deal_sets = 24" in text:
        assert all(pair["better"] == pair["other"] for pair in of_ann)


def test_cycles_and_what_no_scale_explains_follow_from_the_same_margins():
    """Each of three wins against the next one by its play, and forfeits against the one before."""
    text = toml("round_robin", deal_sets=30)
    run = Played(text, NAMES[:3], dict.fromkeys(NAMES, 0.0)).run()
    (game,) = run.record.games
    beats = {("ann", "bob"), ("bob", "cid"), ("cid", "ann")}
    outcomes = {
        match.id: MatchOutcome(
            match.id, (1.0, -1.0), (1, 2), "completed", ({},) * 2,
            forfeited=tuple(pair not in beats for pair in (match.bots, match.bots[::-1])),
        )
        for deal_set in game.deal_sets
        for match in deal_set.matches
    }  # fmt: skip
    record = CompetitionRecord(
        text, run.record.candidates, (GameRecord(game.rounds, game.deal_sets, outcomes),)
    )
    made = live_standings(record)["games"][0]
    assert made["cycles"] == [["ann", "bob", "cid"]]
    assert made["unexplained"] == pytest.approx(1.0)


# fmt: off
UNITS = [
    (FORMATS[0][1], "points a deal-set"),
    (FORMATS[2][1], "wins less losses a match, -1 to 1"),
]
# fmt: on


@pytest.mark.parametrize(("text", "unit"), UNITS, ids=["points", "races"])
def test_margins_name_their_unit(text, unit, capsys):
    run = Played(text, NAMES[:3]).run()
    made = live_standings(run.record)
    assert made["games"][0]["margins_in"] == unit
    head, first, *_ = pairs_csv(json.loads(json.dumps(made))).splitlines()
    assert head.endswith(",margins_in")
    assert unit in first
    print_standings(made, pairs=True, wide=True)
    assert f"Each two, in {unit}" in capsys.readouterr().out
