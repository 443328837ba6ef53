"""Matches and bots as people name them: which is meant, and a sentence where none is, or several."""

import os
import shutil

import click
import pytest

from arena.cli.lookup import meant, replay_of, seat_of
from arena.results.deal_sets import MatchOutcome
from arena.store import StoredMatch, open_store
from arena.store.data_folder import store_path
from tests.cli.test_expected_errors import arena
from tests.records.matches import Bot, record

IDS = ["3f9a", "3f9b", "3f", "c0de"]
"""Replays in the order in which they were written."""


@pytest.fixture
def data(tmp_path):
    """A data folder with replays, and without a store."""
    folder = tmp_path / "replays"
    folder.mkdir()
    for at, name in enumerate(IDS):
        (folder / f"{name}.replay").touch()
        os.utime(folder / f"{name}.replay", (at, at))
    (folder / ".c0ff-1.partial").touch()
    return tmp_path


# fmt: off
MATCHES = [
    ("c0de",  "c0de", "its id"),
    ("c",     "c0de", "a beginning that no other has"),
    ("3f9a",  "3f9a", "one of several that begin alike"),
    ("3f",    "3f",   "an id with which others begin"),
    ("last",  "c0de", "the last that was written"),
]
NO_MATCH = [
    ("3f9",   "'3f9' begins the ids of several matches: 3f9b, 3f9a",              "several"),
    ("c0df",  "there is no replay of a match 'c0df' in {}/replays; perhaps 'c0de' is meant", "none, but one is near"),
    ("zz",    "there is no replay of a match 'zz' in {}/replays; there are c0de, 3f, 3f9b, 3f9a", "none"),
    ("",      "cannot be the id of a match",                                                     "nothing"),
    ("[c]*",  "cannot be the id of a match",                                                     "a pattern"),
]
# fmt: on


@pytest.mark.parametrize(("match", "found", "why"), MATCHES, ids=[row[-1] for row in MATCHES])
def test_a_match_is_named_by(match, found, why, data):
    assert replay_of(match, data) == data / "replays" / f"{found}.replay"


@pytest.mark.parametrize(("match", "words", "why"), NO_MATCH, ids=[row[-1] for row in NO_MATCH])
def test_no_match_is_named_by(match, words, why, data):
    with pytest.raises(click.ClickException) as error:
        replay_of(match, data)
    assert words.format(data) in str(error.value)


def test_a_file_is_taken_as_it_is(data, tmp_path):
    path = data / "replays" / "3f.replay"
    assert replay_of(str(path), tmp_path / "nosuch") == path


def test_last_is_the_match_that_ended_last_whatever_was_written_last(data):
    with open_store(store_path(data)) as store:
        for at, name in enumerate(["c0de", "3f9b", "gone"]):
            outcome = MatchOutcome(name, (1, 0), (1, 2), "completed", ({}, {}))
            store.matches().record([StoredMatch(outcome, "jam", ("a", "b"), "", at + 1)])
        store.matches().mark_published(["c0de", "3f9b", "gone"])
    assert replay_of("last", data).stem == "3f9b"


def test_a_replay_is_verified_by_the_name_of_its_match(data):
    verified = arena("replay", "verify", "last", "--data", data)
    assert f"✗ {data}/replays/c0de.replay: " in verified.output


def test_last_of_none_is_said(data):
    shutil.rmtree(data / "replays")
    with pytest.raises(click.ClickException, match=r"there is no replay in .* yet"):
        replay_of("last", data)


# fmt: off
BOTS = [
    ("my",        ("my", "other"),       ["my"],            "its name"),
    ("MY",        ("my", "other"),       ["my"],            "in other letters"),
    ("my_bot",    ("my", "other"),       ["my"],            "its file, without what a name leaves out"),
    ("my_bot.py", ("my", "other"),       ["my"],            "its file"),
    ("./my_bot.py", ("my", "other"),     ["my"],            "the path of its file"),
    ("MyBot",     ("my", "other"),       ["my"],            "its class"),
    ("my_bot",    ("MyBot", "other"),    ["MyBot"],         "its file, where its class is its name"),
    ("my",        ("my", "MyBot"),       ["my"],            "its name, though another is near"),
    ("My_Bot",    ("my", "MyBot"),       ["my", "MyBot"],   "what may be either"),
    ("my",        ("my", "my-2"),        ["my"],            "the first of two of one file"),
    ("bot",       ("bot", "robot"),      ["bot"],           "a name that is only `bot`"),
    ("my",        ("my@2", "other@1"),   ["my@2"],          "the name of its only version"),
    ("my",        ("my@1", "my@2"),      ["my@1", "my@2"],  "what may be either version"),
    ("my@1",      ("my@2", "other@1"),   [],                "a version that did not play"),
    ("my@1",      ("my", "other"),       ["my"],            "a version of a remote bot, which plays by its name"),
    ("nobody",    ("my", "other"),       [],                "nobody's name"),
    ("",          ("my", "other"),       [],                "nothing"),
]
# fmt: on


@pytest.mark.parametrize(("bot", "names", "found", "why"), BOTS, ids=[row[-1] for row in BOTS])
def test_a_bot_is_meant_by(bot, names, found, why):
    assert meant(bot, names) == found


def test_two_that_may_be_meant_are_told_with_their_seats():
    with pytest.raises(click.ClickException) as error:
        seat_of("my_bot", ("My", "ann", "MyBot"), "m1")
    said = "'my_bot' may be My (seat 0) or MyBot (seat 2) at match m1: give the seat"
    assert str(error.value) == said


# The commands.


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    data = tmp_path_factory.mktemp("named")
    record(data, "abstrac", [Bot(0), Bot(1)], {"hands": 2}, match_id="0a1b2c")
    return data


@pytest.mark.parametrize("match", ["0a1b2c", "0a", "last"])
@pytest.mark.parametrize("command", ["show", "export"])
def test_a_replay_is_shown_and_exported_by(command, match, played):
    result = arena("replay", command, match, "--data", played)
    assert result.exit_code == 0, result.output
    assert "0a1b2c" in result.stdout


@pytest.mark.parametrize("match", ["0a1b2c", "0a", "last"])
def test_why_is_asked_by(match, played):
    result = arena("match", "why", match, "bot_1.py", "--data", played)
    assert result.exit_code == 0, result.output
    assert "bot 1 at seat 1" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    "command", [("replay", "show"), ("replay", "export"), ("match", "why")], ids=str
)
def test_a_folder_that_is_not_there_is_said(command, tmp_path):
    bot = ["1"] if command == ("match", "why") else []
    result = arena(*command, "last", *bot, "--data", tmp_path / "nosuch")
    assert (result.exit_code, result.stdout) == (1, "")
    words = f"there is no folder {tmp_path}/nosuch: name an arena's data with --data"
    assert words in " ".join(result.stderr.split())
