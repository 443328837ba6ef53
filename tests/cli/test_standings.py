"""`arena standings`, and what `arena tournament` prints: for people, for programs, for a table of cells."""

import csv
import json
from dataclasses import replace

import pytest

from arena.cli.terminal.console import PlainConsole
from arena.cli.tournament import Told
from arena.ladder.head_to_head import records
from arena.ladder.results import MatchOutcome
from arena.ladder.standings import standings
from arena.server.data_folder import store_path
from arena.store import EndedMatch, open_store
from tests.cli.test_mistakes import BOT, arena
from tests.store.test_tournament_store import MATCHES, NOW, PLAN, SETTINGS, another

AT = 1_795_176_000_000


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data folder with a tournament of three deal-sets, two of which ann has won, and another."""
    data = tmp_path_factory.mktemp("standings")
    with open_store(store_path(data)) as store:
        store.open_tournament(SETTINGS, PLAN, now=NOW)
        store.open_tournament(*another("winter"), now=NOW)
        for at, match in enumerate(MATCHES[:4]):
            scores = tuple(10 + at if bot == "ann" else 4 for bot in match.bots)
            places = tuple(1 if bot == "ann" else 2 for bot in match.bots)
            faults = tuple({"timeout": 2} if bot == "bob" else {} for bot in match.bots)
            outcome = MatchOutcome(match.id, scores, places, "completed", faults)
            ended = EndedMatch(outcome, "democracy", match.bots, match.deal_set_id, AT + at)
            store.matches().record([ended])
    return data


def shown(data, *arguments):
    result = arena("standings", *arguments, "--data", data)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_table_of_a_tournament_as_it_stands(data):
    text = shown(data, "autumn")
    assert "Democracy, 2 seats" in text
    assert [cell.strip() for cell in text.splitlines()[4].split("│")[1:-1]] == [
        "1", "ann", "+3.75", "6.35", "2", "4", "4-0-0", "",
    ]  # fmt: skip
    assert "1 deal-sets are not complete" in " ".join(text.split())
    assert "Seed 7." in text


def test_the_same_for_a_program(data):
    told = json.loads(shown(data, "autumn", "--json"))
    assert (told["tournament"], told["game"], told["seats"]) == ("autumn", "democracy", 2)
    assert (told["seed"], told["fair_deals"]) == ("7", False)
    assert told["deal_sets"] == {"complete": 2, "planned": 3}
    ann, bob = told["standings"]
    assert (ann["bot"], ann["wins"], ann["draws"], ann["losses"]) == ("ann", 4, 0, 0)
    assert (bob["faults"], bob["losses"]) == ({"timeout": 8}, 4)
    assert told["head_to_head"] == [
        {"bot": "ann", "other": "bob", "wins": 4, "draws": 0, "losses": 0, "margin": 7.5},
        {"bot": "bob", "other": "ann", "wins": 0, "draws": 0, "losses": 4, "margin": -7.5},
    ]


def test_the_same_as_cells(data):
    ann, bob = csv.DictReader(shown(data, "autumn", "--csv").splitlines())
    assert (ann["bot"], ann["tier"], ann["wins"]) == ("ann", "1", "4")
    assert float(ann["skill"]) == pytest.approx(3.75)
    assert (bob["bot"], bob["faults"], bob["losses"]) == ("bob", "8", "4")


def test_the_pairs_as_cells(data):
    first, second = csv.DictReader(shown(data, "autumn", "--head-to-head", "--csv").splitlines())
    assert list(first.values()) == ["ann", "bob", "4", "0", "0", "7.5"]
    assert (second["bot"], second["losses"]) == ("bob", "4")


def test_the_pairs_as_a_table(data):
    text = shown(data, "autumn", "--head-to-head")
    assert "Head to head" in text
    assert "4-0-0" in text


def test_one_that_nothing_was_played_of(data):
    assert "no deal-set is complete yet" in shown(data, "winter")
    assert len(shown(data, "winter", "--csv").splitlines()) == 3
    assert shown(data, "winter", "--head-to-head", "--csv") == "\n"


def test_all_tournaments(data):
    _, autumn, winter = shown(data).splitlines()
    assert autumn.split() == ["autumn", "democracy", "2", "4", "of", "6", "ann,", "bob"]
    assert winter.split()[:2] == ["winter", "democracy"]
    told = json.loads(shown(data, "--json"))["tournaments"]
    assert told[0] == {
        "tournament": "autumn",
        "game": "democracy",
        "seats": 2,
        "bots": ["ann", "bob"],
        "played": 4,
        "matches": 6,
    }


# fmt: off
MISTAKES = [
    (("autum",),                      "there is no tournament 'autum'; perhaps 'autumn' is meant", "a name that is nearly right"),
    (("x",),                          "there is no tournament 'x'; there are autumn, winter",      "a name that is not there"),
    (("--csv",),                      "name the tournament whose standings are wanted",            "cells of nothing"),
    (("autumn", "--csv", "--json"),   "choose one of --json and --csv",                            "both"),
]
# fmt: on


@pytest.mark.parametrize(("arguments", "words", "why"), MISTAKES, ids=[row[-1] for row in MISTAKES])
def test_a_mistake_is_told_in_a_sentence(arguments, words, why, data):
    result = arena("standings", *arguments, "--data", data)
    assert (result.exit_code != 0, result.stdout) == (True, "")
    assert words in " ".join(result.stderr.split())


def test_where_nothing_was_played_that_is_said(tmp_path):
    result = arena("standings", "--data", tmp_path)
    assert result.exit_code == 1
    assert f"no tournament was played in the folder {tmp_path} yet" in result.stderr
    assert list(tmp_path.iterdir()) == []
    with open_store(store_path(tmp_path)):
        pass
    assert shown(tmp_path) == "There is no tournament yet.\n"


def test_a_tournament_prints_what_its_standings_are_later(tmp_path):
    bots = (f"a={BOT}", f"b={BOT}", f"c={BOT}")
    order = ("tournament", "abstrac", *bots, "-o", "hands=2", "--deal-sets", 1, "--data", tmp_path)
    played = arena(*order)
    assert played.exit_code == 0, played.output
    assert "w-d-l" in played.stdout
    assert "Head to head" in played.stdout
    assert played.stdout.startswith(shown(tmp_path, "abstrac"))
    for kind in ("--json", "--csv"):
        assert arena(*order, kind).stdout == shown(tmp_path, "abstrac", kind)
    refused = arena(*order, "--csv", "--json")
    assert "choose one of --json and --csv" in refused.output


def test_the_seed_of_fair_deals_is_not_told(capsys):
    """The ids of its matches follow from it: which of them play the same boards is secret."""
    seed, nobody = "a secret seed", ((), {})
    told = Told("t", "abstrac", "Abstrac", 2, seed, True, standings(*nobody), records(*nobody))
    told.print(PlainConsole())
    assert told.as_json()["seed"] is None
    assert seed not in capsys.readouterr().out + json.dumps(told.as_json())
    seeded = replace(told, fair=False)
    seeded.print(PlainConsole())
    assert seeded.as_json()["seed"] == seed
    assert seed in capsys.readouterr().out
