"""The demo plays every game, with the bot that is made for it."""

import importlib
import io
import os
import re
import shlex

import pytest
from click import ClickException
from rich.console import Console

from arena.cli.demo import EVERY_GAME, PROGRAMME, _plan, by_game, overall
from arena.cli.demo_ladder import Found, _place, called, show_ladder
from arena.games.catalogue import GAMES, game_by_id
from arena.jail import Level
from arena.ladder.standings import Row, Standings
from arena.ladder.tournament import Report
from arena.server.tournaments.tournament import Played
from tests.cli.test_mistakes import ROOT, arena

demo = importlib.import_module("arena.cli.demo")


def test_the_demo_plays_every_game_once():
    assert [event.game for event in PROGRAMME] == [game.id for game in GAMES]


def test_the_bots_and_seats_of_the_demo_exist():
    for event in PROGRAMME:
        assert event.seats in game_by_id(event.game).seats
        for bot in (event.bot, *EVERY_GAME):
            assert (ROOT / "sample_bots" / bot).is_file(), bot


def row(bot, skill, tier=1, faults=0):
    kinds = {"timeout": faults} if faults else {}
    return Row(bot, skill, 1.0, skill, 0.0, 4, tier, 8, kinds)


def ranking(*rows):
    return Standings(rows, (), 4, 4, "", None, None)


KLABERJASS = ranking(row("klaberjass", 9.0), row("random", 0.5, 2), row("first", -9.5, 2))
JAM = ranking(row("first", 3.0, faults=2), row("jam", 2.0), row("random", -5.0, 2))
LOO = ranking(row("loo", 5.0), row("random-2", 1.0), row("first", 0.0), row("random", -6.0, 2))


def drawn(table):
    out = io.StringIO()
    Console(file=out, width=80).print(table)
    return [[cell.strip() for cell in re.split(r"│|  +", line) if cell.strip()]
            for line in out.getvalue().splitlines()]  # fmt: skip


def test_the_demo_first_tells_how_the_bots_did_over_all_games():
    lines = drawn(overall([KLABERJASS, JAM, LOO]))
    assert lines[0] == ["All 3 games together"]
    assert lines[4:7] == [
        ["made for it", "1.33", "2"],
        ["first", "2.33", "1", "2"],
        ["random", "2.33", "0"],
    ]


def test_then_it_has_a_line_for_each_game():
    games = [("klaberjass", KLABERJASS), ("jam", JAM), ("loo", LOO)]
    played = [Played(_plan(event(game), "s"), found, Report({}, ())) for game, found in games]
    lines = drawn(by_game(played))
    assert lines[2:5] == [
        ["Klaberjass", "2", "made for it", "+9.0 ± 1.0", "random, first"],
        ["Jam", "2", "first *", "+3.0 ± 1.0", "made for it, random"],
        ["Loo", "5", "made for it *", "+5.0 ± 1.0", "random, first"],
    ]


def event(game):
    return next(each for each in PROGRAMME if each.game == game)


STORY = (
    "And a ladder",
    "Jail level S",
    "ladder is made.",
    "You are ann at",
    "my-bot/bot.py",
    "qualified for 1 of 1 games",
    "my-bot takes part in ladder",
    "my-bot@1 is number 3 of 3: the last.",
    "So Ann mends it",
    "qualified for 1 of 1 games",
    "is better than",
    "sample",
    "my-bot@2 is number ",
)
"""What is told of the ladder, in order."""


def in_order(text, told):
    at = 0
    for words in told:
        found = text.find(words, at)
        assert found >= 0, f"{words!r} is not told after:\n{text[:at]}\nbut only:\n{text[at:]}"
        at = found + len(words)


@pytest.mark.slow
def test_where_nothing_is_jailed_the_bot_dials_in(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("ARENA_STORE", "postgresql://nowhere/else")  # the user's own is left alone
    before = dict(os.environ)
    out = io.StringIO()
    rivals = {name: ROOT / path for name, path in demo.RIVALS.items()}
    found = Found(Level.S0, "off", "there is no bubblewrap")
    show_ladder(Console(file=out, width=200), tmp_path / "ladder", rivals, found)
    text = out.getvalue()
    in_order(text, STORY)
    assert "(there is no bubblewrap)" in text
    assert 'says that it is version "1"' in text
    assert os.environ == before
    assert capfd.readouterr().out == ""


def test_a_step_that_fails_is_told_with_what_it_said():
    with pytest.raises(ClickException, match=r"there is no game 'nosuch'"):
        called("games", "show", "nosuch")


def test_a_place_is_told_among_those_who_have_a_score():
    rows = [
        {"bot": name, "score": score, "deal_sets": 12}
        for name, score in (("a", -1.0), ("b", None), ("c", 2.0))
    ]
    place = _place({"games": [{"rows": rows}]}, "a")
    assert (place.number, place.of, place.deal_sets) == (2, 2, 12)
    assert _place({"games": [{"rows": rows}]}, "b").number == 0


@pytest.mark.slow
def test_the_demo_tells_its_story_in_order_and_its_commands_work(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(demo, "PROGRAMME", (event("jam"), event("klaberjass")))
    done = arena("demo", "--data", tmp_path / "demo")
    assert done.exit_code == 0, done.output
    tour = ["All 2 games together", "Game by game", "Jam", "Klaberjass"]
    told = [*tour, *STORY, "Played in", "Look at:"]
    in_order(done.stdout, told)
    commands = re.findall(r"^  \.venv/bin/arena (.*)$", done.stdout, re.MULTILINE)
    *commands, play, web = commands
    assert play.startswith("play ")
    assert web == f"web --data {tmp_path / 'demo'}"
    assert (tmp_path / "demo" / "site" / "index.html").is_file()
    assert len(commands) == 6
    for command in commands:
        again = arena(*shlex.split(command))
        assert again.exit_code == 0, again.output
