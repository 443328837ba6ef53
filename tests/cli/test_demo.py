"""The demo plays every game, with the bot that is made for it."""

import importlib
import io
import re
import shlex

import pytest
from rich.console import Console

from arena.cli.demo import EVERY_GAME, PROGRAMME, _plan, by_game, overall
from arena.games.catalogue import GAMES, game_by_id
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


@pytest.mark.slow
def test_the_demo_tells_its_story_in_order_and_its_commands_work(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(demo, "PROGRAMME", (event("jam"), event("klaberjass")))
    done = arena("demo", "--data", tmp_path / "demo")
    assert done.exit_code == 0, done.output
    told = ["All 2 games together", "Game by game", "Jam", "Klaberjass", "Played in", "Look at:"]
    places = [done.stdout.index(words) for words in told]
    assert places == sorted(places)
    commands = re.findall(r"^  \.venv/bin/arena (.*)$", done.stdout, re.MULTILINE)
    assert len(commands) == 6
    for command in commands[:-1]:
        again = arena(*shlex.split(command))
        assert again.exit_code == 0, again.output
