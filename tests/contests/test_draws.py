"""Tournaments of every format from the first draw to the last place, and their tables."""

import json
from dataclasses import replace

import pytest

from arena.contests.draws import places, round_results
from arena.contests.plan import Format
from arena.contests.standings import live_standings, official_bytes, official_standings
from arena.results.record import Out, record_json, record_of_json
from arena.results.rounds import DrawError
from tests.contests.played import Played, toml

NAMES = ["ann", "bob", "cid", "dan", "eve", "fay", "gus"]

# fmt: off
FORMATS = [
    pytest.param(toml("round_robin"), 7, id="round robin"),
    pytest.param(toml("round_robin", seats=3, game="democracy"), 6, id="round robin of three"),
    pytest.param(toml("gauntlet", deal_sets=6, own='challenger = "cid"'), 7, id="gauntlet"),
    pytest.param(toml("swiss"), 7, id="Swiss with byes"),
    pytest.param(toml("swiss", seats=3, game="democracy"), 7, id="Swiss of three with byes"),
    pytest.param(toml("knockout", deal_sets=0, own="most_deal_sets = 20"), 7, id="knockout"),
    pytest.param(toml("knockout", deal_sets=0, own="double = true\nmost_deal_sets = 10"), 5,
                 id="double knockout"),
    pytest.param(toml("knockout", seats=3, game="democracy"), 7, id="knockout of three"),
    pytest.param(toml("groups", own="groups = 2\nbest = 2"), 7, id="groups and finals"),
]
# fmt: on


def played(text, bots):
    return Played(text, NAMES[:bots])


@pytest.mark.parametrize(("text", "bots"), FORMATS)
def test_it_ends_and_the_best_is_first(text, bots):
    run = played(text, bots).run()
    (game,) = live_standings(run.record)["games"]
    assert game["rows"][0]["bot"] == "ann"
    assert len(game["rows"]) == bots
    assert game["problem"] == ""


@pytest.mark.parametrize(("text", "bots"), FORMATS)
def test_every_round_is_drawn_the_same_again(text, bots):
    run = played(text, bots).run()
    rounds = list(run.drawn_again())
    assert rounds
    for held, again in rounds:
        assert held == again


@pytest.mark.parametrize("out", list(Out))
@pytest.mark.parametrize(("text", "bots"), FORMATS)
def test_a_bot_that_goes_out_changes_no_earlier_draw(text, bots, out):
    run = played(text, bots)
    run.step()
    run.go_out("bob", out)
    run.run()
    assert all(held == again for held, again in run.drawn_again())
    later = [d for d in run.record.games[0].deal_sets if d.round > 1]
    assert not any("bob" in each.bots for each in later)
    rows = [row["bot"] for row in live_standings(run.record)["games"][0]["rows"]]
    assert ("bob" in rows) == (out is Out.WITHDRAWN)


@pytest.mark.parametrize(("text", "bots"), FORMATS)
def test_the_table_is_made_again_from_what_was_exported(text, bots):
    run = played(text, bots).run()
    table = official_bytes(official_standings(run.record, 1))
    header, *lines = json.loads(json.dumps(record_json(run.record)))
    again = record_of_json(header, lines)
    assert again.inputs_sha256 == run.record.inputs_sha256
    assert official_bytes(official_standings(again, 1)) == table


def test_disqualification_drops_the_deal_sets_of_the_bot():
    run = played(toml("round_robin"), 4).run()
    before = live_standings(run.record)["games"][0]
    run.go_out("bob", Out.DISQUALIFIED)
    after = live_standings(run.record)["games"][0]
    assert before["deal_sets"]["complete"] == 12
    assert after["deal_sets"]["complete"] == 6
    assert live_standings(run.record)["out"] == [
        {"bot": "bob", "why": "disqualified", "reason": "asked"}
    ]


def test_intervals_of_a_frozen_table_are_wider_as_they_hold_together():
    run = played(toml("round_robin", deal_sets=6), 5).run()
    rows = official_standings(run.record, 1)["games"][0]["rows"]
    assert all(row["half_width_95_together"] > row["half_width_95"] for row in rows)
    assert all(
        row["half_width_95_together"] is None
        for row in live_standings(run.record)["games"][0]["rows"]
    )


def test_a_bot_that_left_its_seats_wins_no_round():
    """However well the fallback played."""
    run = Played(toml("swiss", deal_sets=1), NAMES[:4], forfeited=("ann",)).run()
    found = {
        each.bot: each
        for each in places(run.plan, 0, run.record.candidates, run.record.games[0].past())
    }
    assert found["ann"].points == 0


def test_a_bot_that_left_its_seats_wins_no_game_of_a_knockout():
    run = Played(
        toml("knockout", deal_sets=0, own="most_deal_sets = 10"), NAMES[:2], forfeited=("ann",)
    ).run()
    first, _ = places(run.plan, 0, run.record.candidates, run.record.games[0].past())
    assert (first.bot, first.note) == ("bob", "champion")


def test_several_games_have_a_table_each_and_one_overall():
    text = toml(
        "round_robin",
        more='[[games]]\ngame = "sixty_six"\n[[games]]\ngame = "klaberjass"\ndeal_sets = 3\n',
    )
    run = Played(text, NAMES[:4]).run()
    table = live_standings(run.record)
    assert [game["game"] for game in table["games"]] == ["sixty_six", "klaberjass"]
    assert [game["deal_sets"]["complete"] for game in table["games"]] == [12, 18]
    assert [row["bot"] for row in table["overall"]] == NAMES[:4]
    best = table["overall"][0]
    assert best["score"] == pytest.approx(sum(best["by_game"]) / 2, abs=1e-6)
    # Boards of one game tell nothing of those of another.
    seeds = [{d.seed for d in game.deal_sets} for game in run.record.games]
    assert not seeds[0] & seeds[1]


def test_too_few_bots_are_told():
    with pytest.raises(DrawError, match="needs at least 2 bots"):
        Played(toml("swiss"), ["ann"]).step()


# Who met whom, as pages show it.

# fmt: off
SHOWN = [
    # plan                                                                     bots  why
    (toml("swiss"),                                                              8, "Swiss"),
    (toml("swiss"),                                                              7, "Swiss with byes"),
    (toml("swiss", seats=4, game="democracy"),                                   9, "Swiss at larger tables"),
    (toml("knockout", deal_sets=0, own="most_deal_sets = 10"),                   6, "a knockout with byes"),
    (toml("knockout", deal_sets=0, own="double = true\nmost_deal_sets = 10"),    5, "a double knockout"),
    (toml("knockout", seats=4, game="democracy"),                                9, "a knockout of larger tables"),
    (toml("groups", own="groups = 2\nbest = 2"),                                 8, "groups and finals"),
    (toml("round_robin"),                                                        4, "a round robin, which has no rounds to show"),
]
# fmt: on


@pytest.mark.parametrize(
    ("text", "bots"), [row[:2] for row in SHOWN], ids=[row[2] for row in SHOWN]
)
def test_results_of_rounds_lead_to_the_places(text, bots):
    names = [f"bot{at}" for at in range(bots)]
    run = Played(text, names).run()
    past = run.record.games[0].past()
    results = round_results(run.plan, 0, run.record.candidates, past)
    came = places(run.plan, 0, run.record.candidates, past)
    for each in came:
        own = [result for result in results if each.bot in result.bots]
        score = [dict(zip(r.bots, r.scores, strict=True)).get(each.bot) for r in own if r.scores]
        if run.plan.format is Format.SWISS:
            assert sum(score) == each.points, each
        elif run.plan.format is Format.GROUPS:
            assert score[-1] == each.points, each
            assert (each.note == "finals") is (each.bot in own[0].going_on)
        elif each.note == "champion":
            assert own[-1] is results[-1] or own[-1].stage == results[-1].stage
            assert each.bot in own[-1].going_on
        else:
            lost_in = each.note.removeprefix("out in ").partition(",")[0]
            assert (own[-1].stage, each.bot in own[-1].going_on) == (lost_in, False)
    assert bool(results) is bool(came)


def test_an_unfinished_round_has_groups_and_no_advancing_bots():
    run = Played(toml("knockout", deal_sets=0, own="most_deal_sets = 10"), ["a", "b", "c", "d"])
    run.step()
    (game,) = run.record.games
    unplayed = replace(game, outcomes={})
    results = round_results(run.plan, 0, run.record.candidates, unplayed.past())
    assert [(each.stage, each.bots, each.scores, each.going_on) for each in results] == [
        ("round 1", ("a", "d"), (), ()),
        ("round 1", ("b", "c"), (), ()),
        ("final", (None, None), (), ()),
    ]
