"""`arena competition show`, and what `arena tournament` prints: for people, for programs, as comma-separated values."""

import csv
import json

import pytest

from arena.results.deal_sets import MatchOutcome
from arena.store import StoredMatch, open_store
from arena.store.data_folder import store_path
from tests.cli.test_expected_errors import BOT, arena
from tests.store.made import MATCHES, made

AT = 1_795_176_000_000


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data folder with a competition of three deal-sets, two of which ann has won, and another."""
    data = tmp_path_factory.mktemp("standings")
    with open_store(store_path(data)) as store:
        made(store)
        made(store, "winter")
        for at, match in enumerate(MATCHES[:4]):
            scores = tuple(10 + at if bot == "ann" else 4 for bot in match.bots)
            places = tuple(1 if bot == "ann" else 2 for bot in match.bots)
            faults = tuple({"timeout": 2} if bot == "bob" else {} for bot in match.bots)
            outcome = MatchOutcome(match.id, scores, places, "completed", faults)
            ended = StoredMatch(outcome, "democracy", match.bots, match.deal_set_id, AT + at)
            store.matches().record([ended])
    return data


def shown(data, *arguments):
    result = arena("competition", "show", *arguments, "--data", data)
    assert result.exit_code == 0, result.output
    return result.stdout


def listed(data, *arguments):
    result = arena("competition", "list", *arguments, "--data", data)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_bots_are_ranked_across_games_by_the_newest_competitions(data):
    result = arena("competition", "overall", "--data", data)
    assert result.exit_code == 0, result.output
    words = result.stdout.split()
    assert words[words.index("ann") + 1 :][:1] == ["+1.00"]
    assert "1 of 1" in result.stdout
    made = json.loads(arena("competition", "overall", "--json", "--data", data).stdout)
    assert made["games"] == ["democracy"]
    assert [row["bot"] for row in made["rows"]] == []
    assert [row["bot"] for row in made["without_place"]] == ["ann", "bob"]
    alone = arena("competition", "overall", "winter", "--data", data)
    assert alone.stdout == "No two bots are ranked in a game yet.\n"
    assert arena("competition", "overall", "spring", "--data", data).exit_code == 1


def test_the_state_the_live_standings_and_the_entrants(data):
    text = shown(data, "autumn")
    assert text.splitlines()[:2] == [
        "autumn: round_robin, draft",
        "democracy of 2, round 1: 0 deal-sets played, 3 waiting",
    ]
    assert [line.split() for line in text.splitlines()[-3:]] == [
        ["seed", "bot", "owner", "kind"],
        ["1", "ann", "ann", "command"],
        ["2", "bob", "bob", "command"],
    ]
    assert "autumn: live standings" in text
    assert "Democracy, 2 seats" in text
    (ann,) = [line for line in text.splitlines() if " ann " in line and "+" in line]
    assert ann.split() == ["1", "1", "ann", "+3.75", "6.35", "2", "4-0-0"]
    assert "1 deal-set is not complete" in " ".join(text.split())


def test_the_same_for_a_program(data):
    state = json.loads(shown(data, "autumn", "--json"))
    found = state["standings"]
    assert (state["name"], state["state"]) == ("autumn", "COMPETITION_STATE_DRAFT")
    assert [each["bot"] for each in state["bots"]] == ["ann", "bob"]
    (game,) = found["games"]
    assert (found["competition"], found["format"], found["live"]) == (
        "autumn", "round_robin", True,
    )  # fmt: skip
    assert (game["game"], game["seats"], game["fair_deals"]) == ("democracy", 2, False)
    assert game["deal_sets"] == {"complete": 2, "planned": 3, "within_teams": 0}
    ann, bob = game["rows"]
    assert (ann["bot"], ann["place"], ann["wins"], ann["draws"], ann["losses"]) == (
        "ann", 1, 4, 0, 0,
    )  # fmt: skip
    assert (bob["faults"], bob["place"], bob["losses"]) == ({"timeout": 8}, 1, 4), "of one tier"
    (pair,) = game["pairs"]
    assert (pair["bot"], pair["other"], pair["margin"]) == ("ann", "bob", 7.5)
    assert (pair["wins"], pair["draws"], pair["losses"]) == (4, 0, 0)
    assert 0.5 < pair["chance"] < 1


def test_the_same_as_comma_separated_values(data):
    ann, bob = csv.DictReader(shown(data, "autumn", "--csv").splitlines())
    assert (ann["bot"], ann["tier"], ann["wins"]) == ("ann", "1", "4")
    assert float(ann["skill"]) == pytest.approx(3.75)
    assert (bob["bot"], bob["faults"], bob["losses"]) == ("bob", "8", "4")


def test_the_pairs_as_comma_separated_values(data):
    (pair,) = csv.DictReader(shown(data, "autumn", "--head-to-head", "--csv").splitlines())
    assert (pair["bot"], pair["other"], pair["wins"], pair["margin"]) == ("ann", "bob", "4", "7.5")


def test_the_pairs_as_a_table(data):
    text = shown(data, "autumn", "--head-to-head")
    assert "Head to head" in text
    assert "4-0-0" in text


def test_one_of_which_nothing_was_played(data):
    assert "no deal-set is complete yet" in shown(data, "winter")
    assert len(shown(data, "winter", "--csv").splitlines()) == 3


def test_all_competitions(data):
    _, autumn, winter = listed(data).splitlines()
    assert autumn.split() == ["autumn", "round_robin", "draft", "2", "0"]
    assert winter.split()[0] == "winter"
    found = json.loads(listed(data, "--json"))["competitions"]
    assert [competition["name"] for competition in found] == ["autumn", "winter"]


# fmt: off
MISTAKES = [
    (("autum",),                      "there is no such competition: 'autum'",                              "a name that is nearly right"),
    (("autum",),                      "perhaps 'autumn' is meant",                                 "and what is meant"),
    (("x",),                          "there are autumn, winter",                                  "a name that is not there"),
    (("--csv",),                      "Missing argument 'NAME'",                                   "cells of nothing"),
    (("autumn", "--csv", "--json"),   "choose one of --json and --csv",                            "both"),
]
# fmt: on


@pytest.mark.parametrize(("arguments", "words", "why"), MISTAKES, ids=[row[-1] for row in MISTAKES])
def test_a_mistake_is_told_in_a_sentence(arguments, words, why, data):
    result = arena("competition", "show", *arguments, "--data", data)
    assert (result.exit_code != 0, result.stdout) == (True, "")
    assert words in " ".join(result.stderr.split())


def test_where_nothing_was_played_that_is_said(tmp_path):
    result = arena("competition", "list", "--data", tmp_path)
    assert result.exit_code == 1
    assert f"nothing was played in the folder {tmp_path} yet" in result.stderr
    assert list(tmp_path.iterdir()) == []
    with open_store(store_path(tmp_path)):
        pass
    assert listed(tmp_path) == "There is no competition yet.\n"


@pytest.mark.slow
def test_a_tournament_prints_what_its_standings_are_later(tmp_path):
    bots = (f"a={BOT}", f"b={BOT}", f"c={BOT}")
    order = ("tournament", "abstrac", *bots, "-o", "hands=2", "--deal-sets", 1, "--data", tmp_path)
    played = arena(*order)
    assert played.exit_code == 0, played.output
    assert "w-d-l" in played.stdout
    assert "Head to head" in played.stdout
    assert played.stdout.partition("Replays:")[0] in shown(tmp_path, "abstrac")
    assert arena(*order, "--csv").stdout == shown(tmp_path, "abstrac", "--csv")
    found = json.loads(shown(tmp_path, "abstrac", "--json"))
    assert json.loads(arena(*order, "--json").stdout) == found["standings"]
    refused = arena(*order, "--csv", "--json")
    assert "choose one of --json and --csv" in refused.output
