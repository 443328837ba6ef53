"""Tuning: planted optima are found, and a killed run goes on."""

import json
import math
import random
import sys
from itertools import count

import pytest
from click.testing import CliRunner

from arena.app.tuning import tune
from arena.cli import main
from arena.contests.comparison import BLOCK_DEAL_SETS
from arena.games.catalogue import game_by_id
from arena.local.engines import Engine, ThisProcess
from arena.referee.terms import MatchTerms
from arena.results.tuning import BLOCK, BadParameter, Parameter, TuningLimits, tuning
from arena.sandbox.command import BotCommand

BOT = """
import argparse, cardarena
from arena.house.bot import HouseBot

class Planted(HouseBot):
    games = ["{game}"]
    level = "sample"

    def move(self, ask):
        mistakes = sum(abs(value - best) for value, best in zip(self.values, {optimum}))
        if ask.random.random() < mistakes:
            return ask.random.choice(ask.moves)
        return super().move(ask)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in {names}:
        parser.add_argument("--" + name, type=float)
    Planted.values = [*vars(parser.parse_args()).values()]
    cardarena.run(Planted, argv=[])
"""


def planted(folder, game, names, optimum):
    """A bot that makes more mistakes the farther its values are from the optimum."""
    folder.mkdir()
    path = folder / "bot.py"
    path.write_text(BOT.format(game=game, names=names, optimum=optimum))
    return BotCommand("planted", (sys.executable, str(path)))


def found_by(margins, dimensions, limits, seed="s"):
    """What tuning finds with a function of points in place of deal-sets."""
    search = tuning(dimensions, limits, 30.0, random.Random(seed))
    trials = next(search)
    while True:
        try:
            trials = search.send([margins(trial) for trial in trials])
        except StopIteration as end:
            return end.value


def noisy(optimum, slope=10.0, noise=4.0):
    """Margins of a score that falls from its optimum to both sides; a deal-set has the same luck in all trials."""

    def margins(trial):
        def score(point):
            return -slope * math.dist(point, optimum)

        lead = score(trial.first) - score(trial.second)
        return [
            max(-30.0, min(30.0, lead + random.Random(number).gauss(0.0, noise)))
            for number in trial.numbers
        ]

    return margins


LIMITS = TuningLimits(candidates=8, race=64, steps=60, check=160)


@pytest.mark.slow
@pytest.mark.parametrize("optimum", [(0.7,), (0.2, 0.8), (1.0,), (0.5, 0.5, 0.9)], ids=str)
def test_an_optimum_is_found_in_noise(optimum):
    found = found_by(noisy(optimum), len(optimum), LIMITS)
    assert math.dist(found.best, optimum) < 0.08
    assert found.deal_sets <= 8 * 64 + 60 * BLOCK + 160


@pytest.mark.slow
def test_bad_candidates_leave_the_race_early():
    found = found_by(noisy((0.9,), noise=1.0), 1, TuningLimits(8, 128, 0, 0))
    assert found.in_race < 8
    assert found.deal_sets < 7 * 128


def test_spsa_stops_when_the_values_settle():
    limits = TuningLimits(1, 16, 400, 0)
    assert found_by(noisy((0.5,), noise=0.1), 1, limits).steps < 400


@pytest.mark.slow
def test_equal_candidates_are_all_left():
    found = found_by(lambda trial: [0.0] * len(trial.numbers), 1, TuningLimits(4, 64, 5, 32))
    assert (found.in_race, found.best) == (4, (0.5,))
    assert found.verdict.decision == "not decided"


def test_blocks_are_those_of_comparisons():
    assert BLOCK == BLOCK_DEAL_SETS


# fmt: off
PARAMETERS = [
    # text,            place, word or None for a refusal,   why
    ("a=0.1..2.0",     0.5,   "--a=1.05",                   "the middle"),
    ("a=-1.0..1.0",    0.0,   "--a=-1.0",                   "a negative end"),
    ("depth=1..8",     0.5,   "--depth=4",                  "two whole ends make it whole"),
    ("a-b=1..8.0",     1.0,   "--a-b=8.0",                  "one whole end does not"),
    ("a=2..1",         0.0,   None,                         "the ends are in the wrong order"),
    ("a=1..inf",       0.0,   None,                         "an end is infinite"),
    ("a=1",            0.0,   None,                         "there is one end"),
    ("=1..2",          0.0,   None,                         "there is no name"),
    ("--a=1..2",       0.0,   None,                         "the name is an option"),
    ("a b=1..2",       0.0,   None,                         "the name is two words"),
]
# fmt: on


@pytest.mark.parametrize(
    ("text", "place", "word", "_why"), PARAMETERS, ids=[row[-1] for row in PARAMETERS]
)
def test_a_parameter_is_a_word_of_the_command(text, place, word, _why):
    if word is None:
        with pytest.raises(BadParameter, match=r"write NAME=LOW\.\.HIGH"):
            Parameter.of(text)
    else:
        assert Parameter.of(text).word(place) == word


def tune_here(bot, game, parameters, limits, data, **options):
    """Tunes in this process."""
    chosen = game_by_id(game)
    terms = MatchTerms(chosen, chosen.options({"hands": 2}, 2), 2, seeded=True)
    ranges = [Parameter.of(text) for text in parameters]
    engine = Engine(ThisProcess())
    return tune(bot, [], ranges, terms, engine, data, limits=limits, seed="s", **options)[0]


# fmt: off
PLANTED = [
    # game,      ranges,                        optimum,      deal-sets at the most
    ("jam",      ("a=0.0..1.0",),               (0.7,),       800),
    ("sixty_six", ("a=0.0..1.0", "b=0.0..1.0"), (0.25, 0.75), 1600),
]
# fmt: on


@pytest.mark.slow
@pytest.mark.deep("tuning")
@pytest.mark.parametrize(
    ("game", "ranges", "optimum", "most"), PLANTED, ids=[row[0] for row in PLANTED]
)
def test_the_planted_optimum_of_a_bot_is_found(game, ranges, optimum, most, tmp_path):
    bot = planted(tmp_path / "bot", game, [text[0] for text in ranges], optimum)
    limits = TuningLimits(6, 32, most // 32, 160)
    found = tune_here(bot, game, ranges, limits, tmp_path)
    assert found.deal_sets <= most
    for best, planted_value in zip(found.best, optimum, strict=True):
        assert abs(best - planted_value) < 0.12
    assert found.verdict.decision == "better"


SMALL = TuningLimits(candidates=2, race=16, steps=1, check=16)


class Killed(Exception):
    """The process of a run ends."""


@pytest.mark.slow
def test_a_killed_run_goes_on_and_ends_alike(tmp_path):
    bot = planted(tmp_path / "bot", "sixty_six", ["a"], (0.7,))
    given = (bot, "sixty_six", ["a=0.0..1.0"], SMALL)
    whole = tune_here(*given, tmp_path / "whole")
    played = []
    for kill in count(1):
        looks = count()

        def on_played(deal_sets, trials, looks=looks, kill=kill):
            played.append(deal_sets)
            if next(looks) == kill:
                raise Killed

        try:
            after = tune_here(*given, tmp_path / "killed", on_played=on_played)
            break
        except Killed:
            pass
    assert after == whole
    assert kill > 2
    assert played[-1] > 0


def command(bot, data, engine="processes"):
    """The words of a short tuning."""
    limits = ("--candidates", "2", "--race", "16", "--steps", "1", "--check", "16")
    options = ("--game", "sixty_six", "--param", "a=0.0..1.0", "--on", engine, *limits)
    return ["tune", bot.argv[1], *options, "--data", str(data)]


@pytest.mark.slow
@pytest.mark.deep("engines")
@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_an_engine_tunes_to_the_same_bytes_as_processes(engine, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "120")
    module = {"dask": "distributed"}.get(engine, engine)
    pytest.importorskip(module, reason=f"needs cardarena-engine[{engine}]")
    bot = planted(tmp_path / "bot", "sixty_six", ["a"], (0.7,))
    played = []
    for name in ("processes", f"{engine}:local"):
        data = tmp_path / name.replace(":", "-")
        done = CliRunner().invoke(main, [*command(bot, data, name), "--json"])
        assert done.exit_code in (0, 4), done.output
        played.append([path.read_bytes() for path in sorted((data / "tunings").iterdir())])
    by_processes, by_engine = played
    assert len(by_processes) == 2  # what was played, and the manifest
    assert by_engine == by_processes


@pytest.mark.slow
def test_the_command_writes_a_manifest_of_values(tmp_path):
    bot = planted(tmp_path / "bot", "sixty_six", ["a"], (0.7,))
    given = command(bot, tmp_path / "data")
    done = CliRunner().invoke(main, [*given, "--json"])
    assert done.exit_code in (0, 4), done.output
    values = json.loads(done.stdout)
    value = values["parameters"]["a"]
    assert value["low"] <= value["value"] <= value["high"]
    assert values["command"].endswith(f"bot.py --a={value['value']}")
    (manifest,) = (tmp_path / "data" / "tunings").glob("*.json")
    assert json.loads(manifest.read_text()) == values
    assert f"{value['value']}" in CliRunner().invoke(main, given).stdout
