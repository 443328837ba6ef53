"""The order of prizes: places, tie-breaks among bots that share one, and what stays tied."""

import csv
import io

import pytest

from arena.cli.standings_csv import prizes, prizes_csv
from arena.contests.standings import official_standings
from arena.results.record import Out
from tests.contests.played import Played, toml


def row(bot, place):
    return {"bot": bot, "place": place, "points": None, "score": 1.0}


# fmt: off
PRIZES = [
    # rows by place                             tie-breaks by shared place           prize and ties of each bot                                  why
    ({"ann": 1, "bob": 2, "cid": 3},            [],                                  [("ann", 1, ""), ("bob", 2, ""), ("cid", 3, "")],           "places"),
    ({"ann": 1, "bob": 1, "cid": 3},            [[["bob"], ["ann"]]],                [("bob", 1, ""), ("ann", 2, ""), ("cid", 3, "")],           "a tie that is broken"),
    ({"ann": 1, "bob": 1, "cid": 3},            [[["ann", "bob"]]],                  [("ann", 1, "bob"), ("bob", 1, "ann"), ("cid", 3, "")],     "a tie that stays"),
    ({"ann": 1, "bob": 1, "cid": 1, "dan": 4},  [[["cid"], ["ann", "bob"]]],         [("cid", 1, ""), ("ann", 2, "bob"), ("bob", 2, "ann"), ("dan", 4, "")], "the second is a tie"),
    ({"ann@2": 1, "bob": 1},                    [],                                  [("ann@2", 1, "bob"), ("bob", 1, "ann@2")],                 "a ladder has no tie-breaks"),
    ({"ann": 1, "bob": None},                   [],                                  [("ann", 1, "")],                                           "a bot that is not ranked"),
]
# fmt: on


@pytest.mark.parametrize(("places", "ties", "found", "why"), PRIZES, ids=[r[-1] for r in PRIZES])
def test_the_order_of_prizes(places, ties, found, why):
    rows = [row(bot, place) for bot, place in places.items()]
    game = {"game": "soko", "seats": 2, "rows": rows, "prizes": ties}
    made = prizes({"games": [game]}, {"ann": "team ann"})
    assert [(each["bot"], each["prize"], " ".join(each["tied_with"])) for each in made] == found
    assert {each["owner"] for each in made if each["bot"].startswith("ann")} == {"team ann"}


def test_a_disqualified_bot_has_no_prize_and_others_move_up():
    run = Played(toml("swiss"), ["ann", "bob", "cid", "dan"]).run()
    run.go_out("ann", Out.DISQUALIFIED)
    made = prizes(official_standings(run.record, 1), {})
    assert next((each["bot"], each["prize"]) for each in made) == ("bob", 1)
    assert "ann" not in {each["bot"] for each in made}


def test_a_spreadsheet_has_the_same_rows():
    run = Played(toml("swiss"), ["ann", "bob", "cid", "dan"]).run()
    made = prizes(official_standings(run.record, 1), {})
    found = list(csv.DictReader(io.StringIO(prizes_csv(made))))
    assert [each["bot"] for each in found] == [each["bot"] for each in made]
    assert found[0].keys() == made[0].keys()
