"""`arena competition` and `arena compare`, as a person types them."""

import contextlib
import importlib
import io
import json
import re
import time
from pathlib import Path
from types import SimpleNamespace

import grpc
import pytest
from click.testing import CliRunner
from rich.console import Console

from arena.cli import main
from arena.cli.arena_client import NoAnswer
from arena.cli.terminal import console
from arena.contests.collusion_report import suspected
from arena.contests.competition_service import CompetitionService
from arena.records.signing import arena_key
from arena.referee.wire.enums import enum_number
from arena.results.states import Action
from arena.store import open_store
from cardarena.v1 import competitions_pb2 as messages
from tests.cli.serving import served
from tests.contests.test_collusion_report import played

ROOT = Path(__file__).parents[2]
BOT = ROOT / "tests" / "live" / "any_move.py"
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
    assert "autumn: 2 bots; 2 matches, 1.2 minutes, 2.4 core-minutes, on 2 cores" in done.output
    assert "There is no competition yet." in typed("competition", "list").output


def test_a_wrong_plan_is_named_among_several(typed):
    wrong = typed.folder / "wrong.toml"
    wrong.write_text('kind = "tournament"\n')
    done = typed("competition", "new", typed.plan, wrong, code=1)
    assert f"{wrong}: the plan of the competition is not valid:" in done.output
    assert "There is no competition yet." in typed("competition", "list").output


def test_the_same_for_a_program(typed):
    done = typed("competition", "new", typed.plan, "--check", "--entrants", 8, "--json")
    told = json.loads(done.stdout)
    assert (told["bots"], told["matches"]) == (8, {"least": 40.0, "most": 40.0})


SEVERAL = """
[[games]]
game = "sixty_six"
[[games]]
game = "klaberjass"
[bots]
ann = { command = "./ann", games = ["sixty_six"] }
bob = { command = "./bob", games = ["sixty_six", "klaberjass"] }
cid = "./cid"
"""


def test_which_bots_enter_which_games_is_said_before(typed):
    plan = PLAN.partition("[bots]")[0].replace('game = "sixty_six"\n', "")
    typed.plan.write_text(plan + SEVERAL.replace("./", f"{BOT} "))
    first, *said = typed("competition", "new", typed.plan, "--check").output.splitlines()
    assert first.startswith("autumn: 3 bots; ")
    assert said[:2] == ["sixty_six of 2: ann, bob", "klaberjass of 2: bob"]
    assert said[2].startswith("each game that they declare when they connect: cid (")
    assert said[3].startswith("All games ranks the bots that enter every game (so far bob), if")
    told = json.loads(typed("competition", "new", typed.plan, "--check", "--json").stdout)
    assert told["games"][1] == {"game": "klaberjass of 2", "bots": ["bob", "cid"]}
    assert told["undeclared"] == ["cid"]


# fmt: off
WRONG_BOTS = [
    # bots of the plan                                       refusal                                              why
    ("""ann = "python no-such-file.py"\nbob = "python {bot}" """, "the file 'no-such-file.py' of the bot",       "a file is missing"),
    ("""Ann = "python {bot} a"\nann = "python {bot} b" """,       "names that look alike",                       "names differ in case"),
    ("\n".join(f"""{name} = {{ command = "python {{bot}}", owner = "x" }}""" for name in "abc"), "'x' has 3 bots, a, b, c", "an owner has too many"),
]
# fmt: on


@pytest.mark.parametrize(
    ("bots", "refusal", "why"), WRONG_BOTS, ids=[row[-1] for row in WRONG_BOTS]
)
def test_a_check_finds_all_that_would_keep_a_competition_from_being_made(typed, bots, refusal, why):
    head = PLAN.partition("[bots]")[0]
    good, bad = typed.folder / "good.toml", typed.folder / "bad.toml"
    good.write_text(typed.plan.read_text().replace("autumn", "winter"))
    bad.write_text(f"{head}[bots]\n{bots.replace('{bot}', str(BOT))}\n")
    assert refusal in typed("competition", "new", bad, "--check", code=1).output
    assert refusal in typed("competition", "new", good, bad, code=1).output
    assert "There is no competition yet." in typed("competition", "list").output


def test_a_draft_is_deleted(typed):
    made = typed("competition", "new", typed.plan).output
    assert f"competition start autumn --data {typed.folder / 'data'}\n" in made
    assert typed("competition", "delete", "autumn").output == "autumn is deleted.\n"
    assert "There is no competition yet." in typed("competition", "list").output


def test_a_bot_is_reinstated(typed):
    typed("competition", "new", typed.plan)
    typed("competition", "disqualify", "autumn", "ann", "--reason", "two accounts")
    done = typed("competition", "reinstate", "autumn", "ann", "--reason", "another Ann")
    assert done.output == "ann takes part in autumn again, and its deal-sets count: another Ann\n"


def test_no_command_writes_into_a_folder_of_a_newer_arena(typed):
    typed("competition", "new", typed.plan)
    data = typed.folder / "data"
    (data / "format.json").write_text('{"format": 99, "arena": "9.0"}')
    before = (data / "arena.db").read_bytes()
    for words in (("pause", "autumn"), ("show", "autumn"), ("delete", "autumn")):
        assert "of arena 9.0" in typed("competition", *words, code=1).output
    assert (data / "arena.db").read_bytes() == before


# fmt: off
ENTERED = [
    (("sixty_six of 2", "soko of 4"),  "far takes part in autumn: sixty_six of 2, soko of 4.",                          "declared"),
    ((),                               "far takes part in autumn, in each game that it declares when it connects.",   "not yet"),
]
# fmt: on


@pytest.mark.parametrize(("games", "sentence", "why"), ENTERED, ids=[row[-1] for row in ENTERED])
def test_a_bot_that_enters_is_told_its_games(typed, monkeypatch, games, sentence, why):
    typed("competition", "new", typed.plan)
    monkeypatch.setattr(CompetitionService, "entry_of", lambda *_: None)
    monkeypatch.setattr(CompetitionService, "enter", lambda *_, **__: games)
    assert typed("competition", "enter", "autumn", "far").output.strip() == sentence
    told = json.loads(typed("competition", "enter", "autumn", "far", "--json").stdout)
    assert told == {"competition": "autumn", "bot": "far", "games": list(games)}


@pytest.mark.slow
def test_owners_are_looked_at_pair_by_pair(monkeypatch):
    collusion = importlib.import_module("arena.cli.competition_collusion")
    found = suspected(played(1.5, deal_sets=16))
    printed = io.StringIO()
    monkeypatch.setattr(console, "PlainConsole", lambda: Console(file=printed, width=120))
    with contextlib.redirect_stdout(printed):
        collusion._print_suspected(found["games"][0])
    first, _, row, *_ = printed.getvalue().splitlines()
    assert first == "democracy of 3: 15 pairs of owners, of which 1 stand out (approximate)"
    assert re.split("  +", row.strip())[:3] == ["BOB", "EVE", "64"]
    assert row.rstrip().endswith("look into it")
    assert re.search(r"^bob is in place 1, and without the shared tables in place \d\.$", printed.getvalue(), re.MULTILINE)  # fmt: skip


def test_workers_that_failed_are_looked_at_with_each_bot(monkeypatch):
    collusion = importlib.import_module("arena.cli.competition_collusion")
    lost = {"points": 1.5, "e_value": 4000.0, "stands": True}
    row = {"worker": "m1@node-1", "bot": "ann", "failed": 9, "reported": 31, "lost": lost, "gained": None, "stands": True}  # fmt: skip
    printed = io.StringIO()
    monkeypatch.setattr(console, "PlainConsole", lambda: Console(file=printed, width=100))
    collusion._print_workers([row])
    heads, shown = printed.getvalue().splitlines()
    assert heads.split()[:3] == ["worker", "bot", "failed"]
    assert re.split("  +", shown.strip()) == ["m1@node-1", "ann", "9 of 40", "+1.50, E = 4e+03", "look into it"]  # fmt: skip


def test_where_nobody_can_be_looked_at_it_says_why(typed):
    typed("competition", "new", typed.plan)
    words = ("competition", "collusion", "autumn")
    assert "sixty_six of 2: no two owners can be tested: none met, or" in typed(*words).output
    told = json.loads(typed(*words, "--json").stdout)
    assert (told["competition"], told["games"][0]["pairs"]) == ("autumn", [])


# fmt: off
MISTAKES = [
    # words                                                          what is said
    (("competition", "start", "autum"),                              "perhaps 'autumn' is meant"),
    (("competition", "collusion", "spring"),                         "there is no such competition: 'spring'"),
    (("competition", "pause", "autumn"),                             "it is draft and cannot pause"),
    (("competition", "enter", "autumn", "nobody"),                   "there is no bot 'nobody' here"),
    (("competition", "withdraw", "autumn", "nobody"),                "'nobody' is not in the competition"),
    (("competition", "show", "autumn", "--number", "3"),             "no such official standings: number 3"),
    (("competition", "finish", "autumn", "--expected", "running"),   "is draft, not running"),
]
# fmt: on


@pytest.mark.parametrize(("words", "said"), MISTAKES, ids=[row[1] for row in MISTAKES])
def test_a_mistake_is_told_in_a_sentence(typed, words, said):
    typed("competition", "new", typed.plan)
    assert said in typed(*words, code=1).output


def test_an_announcement_is_shown_until_it_is_removed(typed):
    typed("competition", "new", typed.plan)
    assert typed("competition", "announce", "autumn", "Round 3 is late.").output == (
        "autumn has an announcement.\n"
    )
    shown = typed("competition", "show", "autumn").output.splitlines()
    assert re.fullmatch(r"Announced \S+: Round 3 is late\.", shown[1])
    typed("competition", "announce", "autumn", "")
    assert "Announced" not in typed("competition", "show", "autumn").output
    assert "characters" in typed("competition", "announce", "autumn", "x" * 2_001, code=1).output


def test_why_the_arena_paused_a_competition_is_shown(typed):
    typed("competition", "new", typed.plan)
    data = typed.folder / "data"
    with open_store(data / "arena.db") as store:
        service = CompetitionService(store.competitions(), arena_key(data))
        service.control("autumn", Action.START, who="org")
        service.control("autumn", Action.PAUSE, who="(arena)", reason="ann changed")
    first, *_ = typed("competition", "show", "autumn").output.splitlines()
    assert first == "autumn: swiss, paused; the arena paused it: ann changed"
    found = json.loads(typed("competition", "show", "autumn", "--json").stdout)
    assert found["waits"] == "the arena paused it: ann changed"


def test_why_nothing_of_a_competition_begins_is_shown(typed):
    typed("competition", "new", typed.plan)
    data = typed.folder / "data"
    with open_store(data / "arena.db") as store:
        CompetitionService(store.competitions(), arena_key(data)).control(
            "autumn", Action.START, who="org"
        )
    _, why, *_ = typed("competition", "show", "autumn").output.splitlines()
    assert (
        why == "Nothing begins at present: no arena runs in this folder; `arena serve` starts one."
    )
    assert (
        "no arena runs"
        in json.loads(typed("competition", "show", "autumn", "--json").stdout)["waits"]
    )


def test_a_timetable_is_shown(typed):
    typed.plan.write_text('daily = { begin = "22:00", end = "06:00" }\n' + typed.plan.read_text())
    made, _ = typed("competition", "new", typed.plan).output.splitlines()
    assert made.endswith(" s a match; daily from 22:00 to 06:00 UTC")
    shown = typed("competition", "show", "autumn").output.splitlines()
    assert shown[:2] == [
        "autumn: swiss, draft",
        "Played daily from 22:00 to 06:00 UTC.",
    ]


def info(name, state, format_, **fields):
    number = enum_number(messages.CompetitionState, state)
    return messages.CompetitionInfo(name=name, state=number, format=format_, **fields)


def number_of(action):
    return enum_number(messages.CompetitionAction, action)


# fmt: off
DONE = [
    # action     state        said
    ("pause",    "paused",    "autumn is paused: deal-sets in play finish, and no new ones begin."),
    ("freeze",   "paused",    "autumn has official standings 2; it is still paused."),
    ("freeze",   "running",   "autumn has official standings 2; it is still running."),
    ("finish",   "finished",  "autumn is finished, with official standings 2."),
]
# fmt: on


@pytest.mark.parametrize(("action", "state", "said"), DONE, ids=[row[-1] for row in DONE])
def test_an_action_says_what_it_has_changed(action, state, said, capsys):
    competition = importlib.import_module("arena.cli.competition")
    found = info("autumn", state, messages.COMPETITION_FORMAT_SWISS, official=2)
    client = SimpleNamespace(show=lambda _: found)
    competition._print_state(client, "autumn", number_of(action), as_json=False)
    assert capsys.readouterr().out.strip() == said


# fmt: off
OF_LADDERS = [
    # action     state        said
    ("freeze",   "running",   "autumn-finals-2 is begun and makes official standings of autumn, which is still running."),
    ("finish",   "finished",  "autumn is finished. autumn-finals-2 is begun and makes its official standings."),
    ("pause",    "paused",    "autumn is paused: deal-sets in play finish, and no new ones begin."),
]
# fmt: on


@pytest.mark.parametrize(
    ("action", "state", "said"), OF_LADDERS, ids=[f"ladder, {row[0]}" for row in OF_LADDERS]
)
def test_an_action_on_a_ladder_names_its_finals(action, state, said, capsys):
    competition = importlib.import_module("arena.cli.competition")
    names = ("autumn", "autumn-finals-1", "autumn-finals-2", "winter-finals-1")
    client = SimpleNamespace(
        show=lambda _: info("autumn", state, messages.COMPETITION_FORMAT_LADDER),
        all=lambda: [info(name, "running", 0) for name in names],
    )
    competition._print_state(client, "autumn", number_of(action), as_json=False)
    assert capsys.readouterr().out.strip() == said


def test_a_plan_that_is_wrong_says_all_of_it(typed):
    typed.plan.write_text(typed.plan.read_text().replace("deal_sets", "dealsets"))
    said = typed("competition", "new", typed.plan, code=1).output
    assert "there is no key 'dealsets'; did you mean deal_sets" in said
    assert "deal_sets: should be 1 or more" in said


def test_many_faults_of_a_plan_are_a_line_each(typed):
    unknown = [f"a_key_that_no_plan_has_{number}" for number in range(12)]
    typed.plan.write_text("".join(f"{key} = 1\n" for key in unknown) + typed.plan.read_text())
    lines = typed("competition", "new", typed.plan, code=1).output.splitlines()
    assert all(sum(f"'{key}'" in line for line in lines) == 1 for key in unknown)


def test_a_table_of_seeds_that_is_not_there_is_named_and_not_the_competition(typed):
    typed.plan.write_text('seeds_from = "spring"\n' + typed.plan.read_text())
    typed("competition", "new", typed.plan)
    said = typed("competition", "start", "autumn", code=1).output
    assert "there is no such competition: 'spring'" in said
    assert "perhaps" not in said


def test_a_bot_on_the_command_line_is_one_of_the_plans(typed):
    typed("competition", "new", typed.plan, "--bot", f"cid=python {BOT} cid")
    bots = json.loads(typed("competition", "show", "autumn", "--json").stdout)["bots"]
    assert [each["bot"] for each in bots] == ["ann", "bob", "cid"]


BUSY = NoAnswer("the arena is 24 ms late", grpc.StatusCode.RESOURCE_EXHAUSTED, "BUSY")


def stands(state, complete, away=()):
    return info(
        "autumn",
        state,
        messages.COMPETITION_FORMAT_SWISS,
        games=[messages.CompetitionGame(complete=complete, in_play=1, waiting=5 - complete)],
        bots=[messages.CompetitionBot(bot=bot, away="it is late") for bot in away],
    )


class Polled:
    """A client of an arena that answers each poll with the next of these."""

    def __init__(self, *looks):
        self.looks = iter(looks)

    def show(self, _):
        found = next(self.looks)
        if isinstance(found, BaseException):
            raise found
        return found


@pytest.fixture
def followed(monkeypatch, capsys):
    monkeypatch.setattr(time, "sleep", lambda _: None)

    def follow(*looks, as_json=False):
        importlib.import_module("arena.cli.competition_show")._follow(
            Polled(*looks), "autumn", as_json=as_json
        )
        return capsys.readouterr()

    return follow


def test_each_poll_is_printed(followed):
    told = followed(stands("running", 1, away=["ann"]), stands("finished", 5)).out
    assert told.splitlines() == [
        "running, 1 deal-sets played, 1 in play, 5 left of what is drawn, limited: ann",
        "finished, 5 deal-sets played, 1 in play, 1 left of what is drawn",
    ]
    assert (
        json.loads(followed(stands("finished", 5), as_json=True).out)["state"]
        == "COMPETITION_STATE_FINISHED"
    )


@pytest.mark.slow
def test_polls_are_repeated_while_the_arena_is_busy_which_is_said(followed):
    told = followed(BUSY, BUSY, stands("running", 1), BUSY, stands("finished", 5))
    assert len(told.out.splitlines()) == 2
    assert told.err.splitlines() == ["the arena is 24 ms late; trying again"] * 2


def test_ctrl_c_ends_it_quietly(followed):
    assert followed(stands("running", 1), KeyboardInterrupt()).out.startswith("running")
    assert followed(KeyboardInterrupt()).out == ""


@pytest.mark.slow
def test_a_competition_of_a_remote_arena_is_followed_to_its_end(typed):
    typed("competition", "new", typed.plan)
    with served(typed.folder / "data", "--no-metrics", "--take-all") as (address, _):
        typed("competition", "start", "autumn")
        words = ["competition", "show", "autumn", "--follow", "--server", address]
        done = CliRunner().invoke(main, words)
    first, *_, last = done.stdout.splitlines()
    assert "deal-sets played" in first
    assert last.startswith("finished, 1 deal-sets played")


@pytest.mark.slow
def test_from_a_plan_to_a_table_that_is_verified(typed):
    typed("competition", "new", typed.plan)
    done = typed("competition", "start", "autumn", "--json")
    table = json.loads(done.stdout)
    assert (table["live"], table["number"]) == (False, 1)
    export = typed.folder / "autumn.jsonl"
    export.write_text(typed("competition", "export", "autumn", "--as", "deals").stdout, "utf-8")
    done = CliRunner().invoke(main, ["competition", "verify", str(export), "--json"])
    told = json.loads(done.stdout)
    assert (told["verified"], told["number"], told["deal_sets"]) == (True, 1, 1)
    csv = typed("competition", "export", "autumn", "--as", "csv").stdout
    assert csv.splitlines()[0].startswith("game,seats,bot,version,place,points")
    assert "official standings 1" in typed("competition", "show", "autumn", "--pairs").output


@pytest.mark.slow
def test_two_bots_are_compared_until_it_is_decided_or_given_up(typed):
    words = ["compare", f"a=python {BOT} a", f"b=python {BOT} b", "--game", "sixty_six"]
    done = typed(*words, "-o", "hands=2", "--seed", "s", "--deal-sets", 3, "--json", code=4)
    told = json.loads(done.stdout)
    assert told["decision"] == "COMPARISON_DECISION_UNSPECIFIED"
    assert (told["deal_sets"], told["limit"]) == (3, 3)
    assert told["low"] <= told["mean"] <= told["high"]
