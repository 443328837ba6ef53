"""`arena replay`: what people type, what they get, and one sentence for each mistake."""

import json

import pytest
from click.testing import CliRunner

from arena.cli.replay import replay as command
from tests.records.matches import ILLEGAL, Bot, record, retold


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a true replay, one that lies, one that is damaged, and one of newer rules."""
    folder = tmp_path_factory.mktemp("commands")
    true = record(folder, "democracy", [Bot(0, (ILLEGAL,)), Bot(1)], {"hands": 2}, match_id="true")
    replays = true.parent
    lie = retold(true, lambda records: records[-2].closed.scores.append(9))
    (replays / "lie.replay").write_bytes(lie)
    (replays / "torn.replay").write_bytes(true.read_bytes()[:-5])
    newer = retold(true, lambda records: setattr(records[0].opened.terms, "rules_version", 99))
    (replays / "newer.replay").write_bytes(newer)
    (replays / "notes.txt").write_text("not a replay")
    return replays


def run(*arguments):
    return CliRunner().invoke(command, [str(each) for each in arguments])


def test_verify_lists_what_it_verified(folder):
    result = run("verify", folder / "true.replay")
    assert result.exit_code == 0
    assert result.stdout.startswith("✓ ")
    for fact in ("democracy", "completed", "64 decisions", "2 hands", "1 fault", "not a fair deal"):
        assert fact in result.stdout


def test_verify_of_a_folder_has_a_line_for_each_and_fails_if_any_does(folder):
    result = run("verify", folder)
    marks = [line[0] for line in result.stdout.splitlines()]
    assert (result.exit_code, marks) == (1, ["✗", "✗", "✗", "✓", "1"])
    assert "1 of 4 replays verified" in result.stdout


def test_verify_as_json(folder):
    result = run("verify", "--json", folder)
    told = json.loads(result.stdout)
    assert (result.exit_code, told["ok"]) == (1, False)
    assert [each["ok"] for each in told["replays"]] == [False, False, False, True]
    assert "scores" in told["replays"][0]["problem"]
    assert told["replays"][3]["decisions"] == 64


def test_show_prints_all_without_a_keyboard(folder):
    result = run("show", folder / "true.replay")
    assert result.exit_code == 0
    assert "step 0" in result.stdout
    assert "Played to the end" in result.stdout


# fmt: off
CHOICES = [
    (["--hand", "1"],          ["step 16", "step 32", "Played"], ["step 15 "],        "one hand"),
    (["--step", "3"],          ["step 3 "],                      ["step 2 ", "Played"], "one step"),
    (["--seat", "1"],          ["seat 1, bot 1"],                ["also sees"],       "a seat's eyes"),
    (["--spectator"],          ["the spectator"],                ["also sees"],       "the spectator's eyes"),
    (["--all"],                ["all seats", "also sees"],       [],                  "all eyes"),
    (["--brief"],              ["step 5 "],                      ["also sees"],       "without views"),
]
# fmt: on


@pytest.mark.parametrize(
    ("arguments", "there", "absent", "why"), CHOICES, ids=[row[3] for row in CHOICES]
)
def test_show_chooses(arguments, there, absent, why, folder):
    result = run("show", folder / "true.replay", *arguments)
    assert result.exit_code == 0
    assert [text for text in there if text not in result.stdout] == []
    assert [text for text in absent if text in result.stdout] == []


def test_show_of_a_lie_ends_with_a_failure(folder):
    result = run("show", folder / "lie.replay")
    assert (result.exit_code, "step 32" in result.stdout) == (1, True)
    assert "not true: the scores" in result.stdout


def test_export_to_a_file_and_to_the_terminal_are_the_same(folder, tmp_path):
    output = tmp_path / "match.jsonl"
    to_file = run("export", folder / "true.replay", "-o", output)
    to_terminal = run("export", folder / "true.replay")
    assert (to_file.exit_code, to_terminal.exit_code) == (0, 0)
    assert output.read_text("utf-8") == to_terminal.stdout
    assert json.loads(to_terminal.stdout.splitlines()[0])["match_id"] == "true"


# fmt: off
MISTAKES = [
    (["show", "none.replay"],                   "No such file",          "show of no file"),
    (["show", "."],                             "Is a directory",        "show of a folder"),
    (["show", "notes.txt"],                     "not a replay",          "show of another file"),
    (["show", "torn.replay"],                   "cut off",               "show of a torn file"),
    (["show", "newer.replay"],                  "version 99",            "show of newer rules"),
    (["show", "true.replay", "--seat", "5"],    "no seat 5",             "a seat that is not there"),
    (["show", "true.replay", "--hand", "9"],    "no hand 9",             "a hand that is not there"),
    (["show", "true.replay", "--step", "99"],   "no step 99",            "a step that is not there"),
    (["show", "true.replay", "--seat", "-1"],   "-1",                    "a negative seat"),
    (["show", "true.replay", "--all", "--spectator"], "choose one of",   "two pairs of eyes"),
    (["show", "true.replay", "--hand", "1", "--step", "1"], "choose one of", "a hand and a step"),
    (["export", "lie.replay"],                  "scores",                "export of a lie"),
    (["export", "torn.replay"],                 "cut off",               "export of a torn file"),
    (["export", "true.replay", "-o", "no/where"], "cannot write",        "export to nowhere"),
    (["verify"],                                "Missing argument",      "verify of nothing"),
]
# fmt: on


@pytest.mark.parametrize(("arguments", "said", "why"), MISTAKES, ids=[row[2] for row in MISTAKES])
def test_a_mistake_gets_one_sentence(arguments, said, why, folder, monkeypatch):
    monkeypatch.chdir(folder)
    result = run(*arguments)
    assert result.exit_code != 0
    assert said in result.stderr
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_verify_of_an_empty_folder_is_a_mistake(tmp_path):
    result = run("verify", tmp_path)
    assert (result.exit_code, "no replay in the folder" in result.stderr) == (1, True)


@pytest.mark.parametrize("name", ["show", "verify", "export"])
def test_help_shows_examples(name):
    assert "Examples:" in run(name, "--help").stdout
