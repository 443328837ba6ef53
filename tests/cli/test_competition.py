"""`arena competition`, `arena table` and `arena compare`, as a person types them."""

import contextlib
import importlib
import io
import json
import re
import time
from pathlib import Path

import grpc
import pytest
from click.testing import CliRunner
from rich.console import Console

from arena.cli import main
from arena.cli.lobby import NoLobby
from arena.competition.suspicion import TWO_SEATS, suspected
from tests.cli.serving import served
from tests.competition.test_suspicion import played

ROOT = Path(__file__).parents[2]
BOT = ROOT / "tests" / "server" / "any_move.py"
PLAN = """
name = "autumn"
kind = "tournament"
format = "swiss"
game = "sixty_six"
seats = 2
deal_sets = 1
seed = "s"
fair = false
options = { hands = 2 }

[bots]
ann = "python {bot} ann"
bob = "python {bot} bob"
"""


@pytest.fixture
def typed(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN.replace("{bot}", str(BOT)), "utf-8")

    def run(*words, code=0):
        words = [str(word) for word in words]
        done = CliRunner().invoke(main, [*words, "--data", str(tmp_path / "data")])
        assert done.exit_code == code, done.output
        return done

    run.plan = tmp_path / "plan.toml"
    run.folder = tmp_path
    return run


def test_what_a_plan_comes_to_is_said_and_nothing_is_made(typed):
    done = typed("competition", "new", typed.plan, "--check", "--match-seconds", 36, "--cores", 2)
    assert "autumn: 2 bots; 6 matches, 0.06 hours, 0.12 core-hours, on 2 cores" in done.output
    assert "There is no competition yet." in typed("competition", "show").output


def test_the_same_for_a_program(typed):
    done = typed("competition", "new", typed.plan, "--check", "--entrants", 8, "--json")
    told = json.loads(done.stdout)
    assert (told["made"], told["bots"], told["matches"]) == (False, 8, [40.0, 40.0])


def test_owners_are_looked_at_pair_by_pair(monkeypatch):
    competition = importlib.import_module("arena.cli.competition")
    found = suspected(played(3.0, deal_sets=16))
    printed = io.StringIO()
    monkeypatch.setattr(competition, "PlainConsole", lambda: Console(file=printed, width=120))
    with contextlib.redirect_stdout(printed):
        competition._print_suspected(found["games"][0])
    first, _, row, *_ = printed.getvalue().splitlines()
    assert first == "democracy of 3: 15 pairs of owners, of which 1 stand out"
    assert re.split("  +", row.strip())[:3] == ["BOB", "EVE", "64"]
    assert row.rstrip().endswith("look into it")


def test_where_nobody_can_be_looked_at_it_says_why(typed):
    typed("competition", "new", typed.plan)
    words = ("competition", "collusion", "autumn")
    assert f"sixty_six of 2: {TWO_SEATS}" in typed(*words).output
    told = json.loads(typed(*words, "--json").stdout)
    assert (told["competition"], told["games"][0]["pairs"]) == ("autumn", [])


# fmt: off
MISTAKES = [
    # words                                                          what is said
    (("competition", "start", "autum"),                              "perhaps 'autumn' is meant"),
    (("competition", "collusion", "spring"),                         "there is no competition 'spring'"),
    (("competition", "pause", "autumn"),                             "a competition that is draft cannot pause"),
    (("competition", "enter", "autumn", "nobody"),                   "there is no bot 'nobody' here"),
    (("competition", "withdraw", "autumn", "nobody"),                "'nobody' is not in the competition"),
    (("table", "autumn", "--number", "3"),                           "there is no table 3"),
    (("competition", "finish", "autumn", "--expected", "running"),   "is draft by now, not running"),
]
# fmt: on


@pytest.mark.parametrize(("words", "said"), MISTAKES, ids=[row[1] for row in MISTAKES])
def test_a_mistake_is_told_in_a_sentence(typed, words, said):
    typed("competition", "new", typed.plan)
    assert said in typed(*words, code=1).output


def test_a_plan_that_is_wrong_says_all_of_it(typed):
    typed.plan.write_text(typed.plan.read_text().replace("deal_sets", "dealsets"))
    said = typed("competition", "new", typed.plan, code=1).output
    assert "there is no key 'dealsets'" in said
    assert "deal_sets is missing" in said


def test_a_bot_on_the_command_line_is_one_of_the_plans(typed):
    typed("competition", "new", typed.plan, "--bot", f"cid=python {BOT} cid")
    bots = json.loads(typed("competition", "show", "autumn", "--json").stdout)["bots"]
    assert [each["bot"] for each in bots] == ["ann", "bob", "cid"]


BUSY = NoLobby("the arena is 24 ms late", grpc.StatusCode.RESOURCE_EXHAUSTED, "BUSY")


def stands(state, complete, *, away=()):
    sets = {"complete": complete, "in_play": 1, "waiting": 5 - complete, "given_up": 0, "void": 0}
    bots = [{"bot": bot, "away": "left"} for bot in away]
    return {"state": state, "games": [{"deal_sets": sets}], "bots": bots}


class Watched:
    """A desk elsewhere, and what each look at it comes to."""

    def __init__(self, *looks):
        self.looks = iter(looks)

    def show(self, _):
        found = next(self.looks)
        if isinstance(found, BaseException):
            raise found
        return found


@pytest.fixture
def watched(monkeypatch, capsys):
    monkeypatch.setattr(time, "sleep", lambda _: None)

    def watch(*looks, as_json=False):
        importlib.import_module("arena.cli.competition")._watch(
            Watched(*looks), "autumn", as_json=as_json
        )
        return capsys.readouterr()

    return watch


def test_who_watches_is_told_at_each_look(watched):
    told = watched(stands("running", 1, away=["ann"]), stands("finished", 5)).out
    assert told.splitlines() == [
        "running, 1 deal-sets played, 1 in play, 5 left of what is drawn, absent: ann",
        "finished, 5 deal-sets played, 1 in play, 1 left of what is drawn",
    ]
    assert json.loads(watched(stands("finished", 5), as_json=True).out)["state"] == "finished"


def test_who_watches_waits_for_an_arena_that_is_busy_and_hears_so(watched):
    told = watched(BUSY, BUSY, stands("running", 1), BUSY, stands("finished", 5))
    assert len(told.out.splitlines()) == 2
    assert told.err.splitlines() == ["the arena is 24 ms late; looking again"] * 2


def test_who_watches_stops_when_it_likes(watched):
    assert watched(stands("running", 1), KeyboardInterrupt()).out.startswith("running")
    assert watched(KeyboardInterrupt()).out == ""


@pytest.mark.slow
def test_a_competition_of_an_arena_elsewhere_is_watched_to_its_end(typed):
    typed("competition", "new", typed.plan)
    with served(typed.folder / "data", "--no-metrics", "--take-all") as (address, _):
        typed("competition", "start", "autumn")
        words = ["competition", "show", "autumn", "--watch", "--server", address]
        done = CliRunner().invoke(main, words)
    first, *_, last = done.stdout.splitlines()
    assert "deal-sets played" in first
    assert last.startswith("finished, 3 deal-sets played")


@pytest.mark.slow
def test_from_a_plan_to_a_table_that_is_verified(typed):
    typed("competition", "new", typed.plan)
    done = typed("competition", "start", "autumn", "--json")
    table = json.loads(done.stdout)
    assert (table["live"], table["number"]) == (False, 1)
    export = typed.folder / "autumn.jsonl"
    export.write_text(typed("competition", "export", "autumn", "--as", "deals").stdout, "utf-8")
    done = CliRunner().invoke(main, ["table", "verify", str(export), "--json"])
    told = json.loads(done.stdout)
    assert (told["verified"], told["number"], told["deal_sets"]) == (True, 1, 3)
    csv = typed("competition", "export", "autumn", "--as", "csv").stdout
    assert csv.splitlines()[0].startswith("game,seats,bot,version,place,points")
    assert "official table 1" in typed("table", "autumn", "--pairs").output


@pytest.mark.slow
def test_two_bots_are_compared_until_it_is_decided_or_given_up(typed):
    words = ["compare", f"a=python {BOT} a", f"b=python {BOT} b", "--game", "sixty_six"]
    done = typed(*words, "-o", "hands=2", "--seed", "s", "--deal-sets", 3, "--json", code=2)
    told = json.loads(done.stdout)
    assert (told["decision"], told["deal_sets"], told["limit"]) == ("not decided", 3, 3)
    assert told["low"] <= told["mean"] <= told["high"]
